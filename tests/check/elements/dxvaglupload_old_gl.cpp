// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures that are copied by an OpenGL that has less: no buffers that stay mapped
// (before 4.4), no buffers at all, or buffers without memory behind them. Each picture is right
// by what is left. GST_DXVA_TEST=upload-ring, because a software renderer gains nothing by
// buffers.

#include <cstdlib>
#include <utility>

#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_counters.hpp"
#include "tests/check/support/gl_rig.hpp"
#include "tests/check/support/system_pictures.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

constexpr const char* kTextures = "video/x-raw(memory:GLMemory)";

// As whole frames, with rows of two fields: chroma of an even number of rows.
GstVideoInfo picture(GstVideoFormat format, guint width, guint height, bool interlaced) {
  GstVideoInfo info;
  fail_unless(gst_video_info_set_interlaced_format(
      &info, format,
      interlaced ? GST_VIDEO_INTERLACE_MODE_MIXED : GST_VIDEO_INTERLACE_MODE_PROGRESSIVE, width,
      height));
  return info;
}

guint proposed_pools(const UploadHarness& harness, const GstVideoInfo& info) {
  const auto caps = GstPtr<GstCaps>::adopt(gst_caps_from_string(caps_of(info).c_str()));
  const auto query = GstPtr<GstQuery>::adopt(gst_query_new_allocation(caps.get(), TRUE));
  fail_unless(gst_pad_peer_query(harness.get()->srcpad, query.get()));
  return gst_query_get_n_allocation_pools(query.get());
}

std::string refused(const UploadHarness& harness, const char* way) {
  GstStructure* raw = nullptr;
  g_object_get(harness.element(), "stats", &raw, nullptr);
  const dxva::gst::StructurePtr stats(raw);
  const GValue* ways = gst_structure_get_value(stats.get(), "upload-refused");
  fail_unless(ways != nullptr);
  const char* text = gst_structure_get_string(gst_value_get_structure(ways), way);
  return text ? text : "";
}

// Three pictures with the caps' layout and three with another. They go up as `way` says; a ring
// whose slots are all out, because the fences' thread is late, leaves a picture to `direct`.
void check_format(const GstVideoInfo& info, const char* way) {
  UploadHarness harness(kTextures, caps_of(info));
  // Nobody can write where the GPU reads.
  fail_unless_equals_int(proposed_pools(harness, info), 0);
  for (guint seed = 0; seed < 6; ++seed) {
    const GstVideoInfo layout = seed < 3 ? info : padded(info);
    GstPtr<GstBuffer> in = system_buffer(layout, seed, seed >= 3);
    const GstPtr<GstBuffer> out = harness.push(in);
    fail_unless(out, "%s %dx%d: no picture", GST_VIDEO_INFO_NAME(&info), info.width,
                info.height);
    check_same(out.get(), info, in.get(), layout);
  }
  fail_unless(harness.nested("uploads", way) > 0 && refused(harness, way).empty());
  const uint64_t direct = harness.nested("uploads", "direct");
  const bool ring = std::string(way) != "direct";
  fail_unless_equals_uint64(direct + (ring ? harness.nested("uploads", way) : 0), 6);
}

void check_all_formats(const char* way) {
  for (const GstVideoFormat format : gl_formats()) {
    check_format(picture(format, 64, 48, false), way);
    if (!takes_odd_sizes(gst_video_format_get_info(format))) continue;
    check_format(picture(format, 61, 47, false), way);
    check_format(picture(format, 64, 50, true), way);
  }
}

GST_START_TEST(without_persistent_buffers_pictures_go_through_plain_ones) {
  hide_function("glBufferStorage");
  check_all_formats("ring");
}
GST_END_TEST;

GST_START_TEST(without_buffers_pictures_go_up_from_their_memory) {
  hide_function("glMapBufferRange");
  check_all_formats("direct");
  const GstVideoInfo info = picture(GST_VIDEO_FORMAT_NV12, 64, 48, false);
  UploadHarness harness(kTextures, caps_of(info));
  for (const char* way : {"ring", "ring-in-place"}) fail_if(refused(harness, way).empty());
  fail_unless(refused(harness, "direct").empty());
}
GST_END_TEST;

GST_START_TEST(a_ring_that_cannot_be_had_is_asked_for_once) {
  const GstVideoInfo info = picture(GST_VIDEO_FORMAT_P010_10LE, 64, 48, false);
  UploadHarness harness(kTextures, caps_of(info));
  fail_unless(refused(harness, "ring").empty());
  hide_memory_of_buffers(true);
  uint64_t buffers = 0;
  for (guint seed = 0; seed < 20; ++seed) {
    GstPtr<GstBuffer> in = system_buffer(info, seed, false);
    const GstPtr<GstBuffer> out = harness.push(in);
    check_same(out.get(), info, in.get(), info);
    if (seed == 0) buffers = gl_counters().buffers;
  }
  fail_unless(buffers > 0);
  fail_unless_equals_uint64(gl_counters().buffers, buffers);
  fail_unless_equals_uint64(harness.nested("uploads", "direct"), 20);
  fail_if(refused(harness, "ring").empty());
}
GST_END_TEST;

// The pool's buffers are memory like any other then.
GST_START_TEST(a_pool_without_slots_gives_memory) {
  const GstVideoInfo info = picture(GST_VIDEO_FORMAT_NV12, 61, 47, false);
  UploadHarness harness(kTextures, caps_of(info));
  const auto caps = GstPtr<GstCaps>::adopt(gst_caps_from_string(caps_of(info).c_str()));
  const auto query = GstPtr<GstQuery>::adopt(gst_query_new_allocation(caps.get(), TRUE));
  fail_unless(gst_pad_peer_query(harness.get()->srcpad, query.get()));
  if (gst_query_get_n_allocation_pools(query.get()) == 0)
    DXVA_SKIP("this OpenGL has no buffers that stay mapped");
  GstBufferPool* raw = nullptr;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &raw, nullptr, nullptr, nullptr);
  const auto pool = GstPtr<GstBufferPool>::adopt(raw);
  fail_unless(gst_buffer_pool_set_active(pool.get(), TRUE));
  hide_memory_of_buffers(true);
  for (guint seed = 0; seed < 10; ++seed) {
    GstBuffer* buffer = nullptr;
    fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr),
                           GST_FLOW_OK);
    GstPtr<GstBuffer> in = GstPtr<GstBuffer>::adopt(buffer);
    fill(in.get(), seed);
    const GstPtr<GstBuffer> out = harness.push(in);
    check_same(out.get(), info, in.get(), info);
  }
  fail_unless_equals_uint64(harness.nested("uploads", "ring-in-place"), 0);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}
GST_END_TEST;

}  // namespace

int main(int argc, char** argv) {
  setenv("GST_DXVA_TEST", "memfd,software-import,upload-ring", 1);
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_old_gl");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 200);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, without_persistent_buffers_pictures_go_through_plain_ones);
  tcase_add_test(tests, without_buffers_pictures_go_up_from_their_memory);
  tcase_add_test(tests, a_ring_that_cannot_be_had_is_asked_for_once);
  tcase_add_test(tests, a_pool_without_slots_gives_memory);
  return gst_check_run_suite(suite, "dxvaglupload_old_gl", __FILE__);
}
