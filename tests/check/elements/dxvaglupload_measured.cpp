// SPDX-License-Identifier: LGPL-2.1-or-later
// Without a switch the element times each way of uploading on the first pictures and stays with
// the winner, whichever that is here; every picture is right all along.

#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"
#include "tests/check/support/system_pictures.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

constexpr guint kPictures = 60;

std::vector<uint64_t> uploads(const UploadHarness& harness) {
  return {harness.nested("uploads", "direct"), harness.nested("uploads", "ring"),
          harness.nested("uploads", "ring-in-place")};
}

GST_START_TEST(each_way_is_tried_and_one_stays) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, 640, 480);
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps_of(info));
  const auto caps = GstPtr<GstCaps>::adopt(gst_caps_from_string(caps_of(info).c_str()));
  const auto query = GstPtr<GstQuery>::adopt(gst_query_new_allocation(caps.get(), TRUE));
  fail_unless(gst_pad_peer_query(harness.get()->srcpad, query.get()));
  fail_unless_equals_int(gst_query_get_n_allocation_pools(query.get()), 1);
  GstBufferPool* raw = nullptr;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &raw, nullptr, nullptr, nullptr);
  const auto pool = GstPtr<GstBufferPool>::adopt(raw);
  fail_unless(gst_buffer_pool_set_active(pool.get(), TRUE));

  std::vector<uint64_t> before;
  for (guint i = 0; i < kPictures; ++i) {
    if (i == kPictures - 10) before = uploads(harness);
    GstBuffer* buffer = nullptr;
    fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr),
                           GST_FLOW_OK);
    GstPtr<GstBuffer> in = GstPtr<GstBuffer>::adopt(buffer);
    fill(in.get(), i);
    const GstPtr<GstBuffer> out = harness.push(in);
    check_same(out.get(), info, in.get(), info);
  }
  for (const uint64_t tried : before) fail_unless(tried >= 7);
  const std::vector<uint64_t> after = uploads(harness);
  guint in_use = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    fail_unless(after[i] == before[i] || after[i] == before[i] + 10);
    in_use += after[i] != before[i];
  }
  fail_unless_equals_int(in_use, 1);

  // What lost is not proposed again.
  const bool in_place = after[2] != before[2];
  const auto again = GstPtr<GstQuery>::adopt(gst_query_new_allocation(caps.get(), TRUE));
  fail_unless(gst_pad_peer_query(harness.get()->srcpad, again.get()));
  fail_unless_equals_int(gst_query_get_n_allocation_pools(again.get()), in_place ? 1 : 0);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}
GST_END_TEST;

}  // namespace

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_measured");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 200);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, each_way_is_tried_and_one_stays);
  return gst_check_run_suite(suite, "dxvaglupload_measured", __FILE__);
}
