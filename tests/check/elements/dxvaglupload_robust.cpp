// SPDX-License-Identifier: LGPL-2.1-or-later
// The collection's broken streams, from the decoder into textures and back: they end by
// themselves, whichever way their pictures take. The suite sanitize runs this too.
#include "tests/check/support/broken_streams.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;

namespace {

void play_into_textures(int number, const char* import) {
  play_broken_stream(broken_streams()[static_cast<size_t>(number)],
                     std::string("dxvadec ! dxvaglupload import=") + import);
}

}  // namespace

GST_START_TEST(a_broken_stream_ends) {
  play_into_textures(__i__, "auto");
}
GST_END_TEST

GST_START_TEST(a_broken_stream_ends_when_copied) {
  play_into_textures(__i__, "copy");
}
GST_END_TEST

static Suite* dxvaglupload_robust_suite() {
  Suite* suite = suite_create("dxvaglupload_robust");
  TCase* cases = tcase_create("the collection's");
  const auto count = static_cast<int>(broken_streams().size());
  tcase_set_timeout(cases, 30);  // of each
  tcase_add_loop_test(cases, a_broken_stream_ends, 0, count);
  tcase_add_loop_test(cases, a_broken_stream_ends_when_copied, 0, count);
  suite_add_tcase(suite, cases);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv) || !set_up_decode_rig(&argc, &argv)) return 77;
  if (broken_streams().empty()) {
    std::printf("# SKIP DXVA_MEDIA names no collection of streams\n");
    return 77;
  }
  return gst_check_run_suite(dxvaglupload_robust_suite(), "dxvaglupload_robust", __FILE__);
}
