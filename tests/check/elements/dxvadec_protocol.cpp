// SPDX-License-Identifier: LGPL-2.1-or-later
// What libavcodec does with surfaces, as the protocol's books saw it: a pair for each frame,
// two for a picture of two fields, and none that was given up.
#include <atomic>
#include <cstring>

#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;

namespace {

struct Books {
  unsigned long surfaces = 0;
  unsigned long pairs = 0;
  unsigned long abandoned = 0;
};
Books books;
std::atomic<int> misuses{0};

// The pool says it in its last line, and a misuse is a warning.
void read_log(GstDebugCategory* category, GstDebugLevel level, const gchar*, const gchar*, gint,
              GObject*, GstDebugMessage* message, gpointer) {
  if (std::strcmp(gst_debug_category_get_name(category), "dxva-session") != 0) return;
  const gchar* text = gst_debug_message_get(message);
  if (level == GST_LEVEL_WARNING) {
    std::printf("# %s\n", text);
    ++misuses;
  }
  Books read;
  if (std::sscanf(text, "%lu surfaces go: %lu pairs, %lu of them abandoned", &read.surfaces,
                  &read.pairs, &read.abandoned) == 3)
    books = read;
}

Books books_of(const std::string& from, size_t pictures) {
  gst_debug_set_threshold_for_name("dxva-session", GST_LEVEL_DEBUG);
  gst_debug_remove_log_function(gst_debug_log_default);
  gst_debug_add_log_function(read_log, nullptr, nullptr);
  books = {};
  {
    const Decoded out = decode(from, "dxvadec", {.sink_caps = kDmabufNv12, .video_meta = true});
    fail_unless(out.error.empty(), "%s", out.error.c_str());
    fail_unless_equals_int(out.pictures.size(), pictures);
    fail_unless_equals_uint64(out.step("exported"), pictures);
  }
  gst_debug_remove_log_function(read_log);
  fail_unless_equals_int(misuses.load(), 0);
  fail_unless(books.surfaces > 0, "the pool has not gone");
  return books;
}

}  // namespace

GST_START_TEST(a_frame_is_one_pair) {
  const Books seen = books_of(source(h264_mp4()), 60);
  fail_unless_equals_uint64(seen.pairs, 60);
  fail_unless_equals_uint64(seen.abandoned, 0);
}
GST_END_TEST

// No encoder of Debian's makes field pictures: a conformance stream of 100 pictures, all of
// them in two fields.
GST_START_TEST(a_picture_of_two_fields_is_two_pairs) {
  const char* media = g_getenv("DXVA_MEDIA");
  const std::string file = std::string(media ? media : "") + "/h264/jvt-frext-freh11.264";
  if (!media || !g_file_test(file.c_str(), G_FILE_TEST_EXISTS))
    DXVA_SKIP("needs jvt-frext-freh11.264 in DXVA_MEDIA");
  const Books seen = books_of(source(file), 100);
  fail_unless_equals_uint64(seen.pairs, 200);
  fail_unless_equals_uint64(seen.abandoned, 0);
}
GST_END_TEST

static Suite* dxvadec_protocol_suite() {
  Suite* suite = suite_create("dxvadec_protocol");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, a_frame_is_one_pair);
  tcase_add_test(tcase, a_picture_of_two_fields_is_two_pairs);
  suite_add_tcase(suite, tcase);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_protocol_suite(), "dxvadec_protocol", __FILE__);
}
