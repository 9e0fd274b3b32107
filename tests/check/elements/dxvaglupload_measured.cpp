// SPDX-License-Identifier: LGPL-2.1-or-later
// Without a switch the element times each way of uploading on the first pictures and stays with
// the winner, whichever that is here; every picture is right all along.

#include <algorithm>

#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"
#include "tests/check/support/system_pictures.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

constexpr guint kMostPictures = 2000;  // until one way stays; 50 where nobody else has the CPU
constexpr guint kLast = 10;
constexpr const char* kWays[] = {"direct", "ring", "ring-in-place"};

using Numbers = std::vector<uint64_t>;  // one for each way

Numbers numbers(const UploadHarness& harness, const char* part) {
  Numbers out;
  for (const char* way : kWays) out.push_back(harness.nested(part, way));
  return out;
}

std::string caps_text(guint width, GstVideoInfo& info) {
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, width, 480);
  return caps_of(info);
}

// Null: none is proposed.
GstPtr<GstBufferPool> proposed_pool(const UploadHarness& harness, const GstVideoInfo& info) {
  const auto caps = GstPtr<GstCaps>::adopt(gst_caps_from_string(caps_of(info).c_str()));
  const auto query = GstPtr<GstQuery>::adopt(gst_query_new_allocation(caps.get(), TRUE));
  fail_unless(gst_pad_peer_query(harness.get()->srcpad, query.get()));
  if (gst_query_get_n_allocation_pools(query.get()) == 0) return nullptr;
  GstBufferPool* raw = nullptr;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &raw, nullptr, nullptr, nullptr);
  fail_unless(gst_buffer_pool_set_active(raw, TRUE));
  return GstPtr<GstBufferPool>::adopt(raw);
}

// From the pool where there is one.
void push_picture(UploadHarness& harness, const GstVideoInfo& info,
                  const GstPtr<GstBufferPool>& pool, guint seed) {
  GstPtr<GstBuffer> in;
  if (pool) {
    GstBuffer* buffer = nullptr;
    fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr),
                           GST_FLOW_OK);
    in = GstPtr<GstBuffer>::adopt(buffer);
    fill(in.get(), seed);
  } else {
    in = system_buffer(info, seed, false);
  }
  const GstPtr<GstBuffer> out = harness.push(in);
  check_same(out.get(), info, in.get(), info);
}

GST_START_TEST(each_way_is_tried_and_one_stays) {
  GstVideoInfo info;
  const std::string caps = caps_text(640, info);
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps);
  const auto pool = proposed_pool(harness, info);
  fail_unless(bool(pool));

  // A turn is nobody's when the buffers that it needs are still being read.
  Numbers before = numbers(harness, "uploads"), after;
  guint in_use = 0;
  for (guint pushed = 0; pushed < kMostPictures; pushed += kLast) {
    for (guint i = 0; i < kLast; ++i) push_picture(harness, info, pool, pushed + i);
    after = numbers(harness, "uploads");
    in_use = 0;
    for (size_t i = 0; i < after.size(); ++i) in_use += after[i] != before[i];
    if (in_use == 1 && std::ranges::all_of(before, [](uint64_t tried) { return tried >= 7; }))
      break;
    before = after;
  }
  fail_unless_equals_int(in_use, 1);
  for (const uint64_t tried : before) fail_unless(tried >= 7);
  // What each took is told.
  const Numbers times = numbers(harness, "upload-times");
  for (const uint64_t time : times) fail_unless(time > 0);

  // What lost is not proposed again.
  const bool in_place = after[2] != before[2];
  fail_unless(bool(proposed_pool(harness, info)) == in_place);

  // Nor is it measured again: not by another element, in another context, with other caps of
  // about that size.
  GstVideoInfo other_info;
  const std::string other_caps = caps_text(632, other_info);
  UploadHarness other("video/x-raw(memory:GLMemory)", other_caps);
  fail_unless(numbers(other, "upload-times") == times);
  const auto other_pool = proposed_pool(other, other_info);
  fail_unless(bool(other_pool) == in_place);
  for (guint i = 0; i < kLast; ++i) push_picture(other, other_info, other_pool, i);
  Numbers winner(3);
  for (size_t i = 0; i < winner.size(); ++i) winner[i] = after[i] - before[i];
  fail_unless(numbers(other, "uploads") == winner);
  fail_unless(numbers(other, "upload-times") == times);
  if (other_pool) gst_buffer_pool_set_active(other_pool.get(), FALSE);
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
