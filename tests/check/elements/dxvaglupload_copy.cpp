// SPDX-License-Identifier: LGPL-2.1-or-later
// The copy path: every format that GstGL holds arrives bit by bit, whatever the strides;
// textures pass through; lies about the memory lose one frame and nothing else.

#include <gst/gl/gl.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"
#include "tests/check/support/system_pictures.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

void check_format(GstVideoFormat format, guint width, guint height) {
  GstVideoInfo info;
  fail_unless(gst_video_info_set_format(&info, format, width, height));
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps_of(info));
  for (const bool with_meta : {false, true}) {
    const GstVideoInfo layout = with_meta ? padded(info) : info;
    GstPtr<GstBuffer> in = system_buffer(layout, with_meta, with_meta);
    const GstPtr<GstBuffer> out = harness.push(in);
    fail_unless(out, "%s %ux%u: no picture", GST_VIDEO_INFO_NAME(&info), width, height);
    fail_unless_equals_int(gst_buffer_n_memory(out.get()), GST_VIDEO_INFO_N_PLANES(&info));
    fail_unless(gst_is_gl_memory(gst_buffer_peek_memory(out.get(), 0)));
    check_same(out.get(), info, in.get(), layout);
  }
  fail_unless_equals_uint64(harness.step("cpu-copy"), 2);
}

}  // namespace

GST_START_TEST(every_format_of_gstgl_arrives_exactly) {
  const std::vector<GstVideoFormat> all = gl_formats();
  fail_unless(all.size() > 40);
  for (const GstVideoFormat format : all) {
    check_format(format, 64, 48);
    if (takes_odd_sizes(gst_video_format_get_info(format))) check_format(format, 61, 47);
  }
}
GST_END_TEST;

GST_START_TEST(a_change_of_size_never_meets_an_old_texture) {
  const FrameLayout small = make_layout("small", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);
  const FrameLayout large = make_layout("large", GST_VIDEO_FORMAT_NV12, 128, 96, 128, 96);
  UploadHarness harness("video/x-raw(memory:GLMemory)", small.caps(nullptr));
  std::vector<GstPtr<GstBuffer>> kept;
  for (guint round = 0; round < 4; ++round) {
    const FrameLayout& layout = round % 2 == 0 ? small : large;
    gst_harness_set_src_caps_str(harness.get(), layout.caps(nullptr).c_str());
    for (guint i = 0; i < 3; ++i) {
      GstPtr<GstBuffer> in = system_buffer(layout.info(), round * 3 + i, false);
      const GstPtr<GstBuffer> out = harness.push(in);
      fail_unless(out);
      check_same(out.get(), layout.info(), in.get(), layout.info());
      if (i == 0) kept.push_back(out);
    }
  }
}
GST_END_TEST;

GST_START_TEST(textures_pass_through_as_they_are) {
  const char* caps =
      "video/x-raw(memory:GLMemory),format=RGBA,width=64,height=48,framerate=25/1,"
      "texture-target=2D";
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps);
  const auto in = GstPtr<GstBuffer>::adopt(gst_buffer_new_allocate(nullptr, 64, nullptr));
  GstMemory* memory = gst_buffer_peek_memory(in.get(), 0);
  const GstPtr<GstBuffer> out = harness.push(in);
  fail_unless(out);
  fail_unless(gst_buffer_peek_memory(out.get(), 0) == memory);
  const auto current = GstPtr<GstCaps>::adopt(gst_pad_get_current_caps(harness.get()->sinkpad));
  const auto wanted = GstPtr<GstCaps>::adopt(gst_caps_from_string(caps));
  fail_unless(gst_caps_is_equal(current.get(), wanted.get()));
}
GST_END_TEST;

GST_START_TEST(metas_and_times_go_along) {
  const FrameLayout layout = make_layout("", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);
  UploadHarness harness("video/x-raw(memory:GLMemory)", layout.caps(nullptr));
  GstPtr<GstBuffer> in = system_buffer(layout.info(), 1, false);
  GST_BUFFER_PTS(in.get()) = 40 * GST_MSECOND;
  GST_BUFFER_DURATION(in.get()) = 20 * GST_MSECOND;
  gst_buffer_add_video_region_of_interest_meta(in.get(), "face", 1, 2, 3, 4);
  const GstPtr<GstBuffer> out = harness.push(in);
  fail_unless_equals_uint64(GST_BUFFER_PTS(out.get()), 40 * GST_MSECOND);
  fail_unless_equals_uint64(GST_BUFFER_DURATION(out.get()), 20 * GST_MSECOND);
  fail_unless(gst_buffer_get_video_region_of_interest_meta_id(out.get(), 0) != nullptr ||
              gst_buffer_get_meta(out.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) !=
                  nullptr);
}
GST_END_TEST;

namespace {
GstPtr<GstBuffer> cropped(const FrameLayout& layout, guint x, guint y, guint seed) {
  // The buffer holds 80x60; the caps are those of a 64x48 window in it.
  GstVideoInfo whole;
  gst_video_info_set_format(&whole, layout.format, 80, 60);
  GstPtr<GstBuffer> buffer = system_buffer(whole, seed, true);
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer.get());
  crop->x = x;
  crop->y = y;
  crop->width = layout.width;
  crop->height = layout.height;
  return buffer;
}
}  // namespace

GST_START_TEST(the_crop_is_carried_out) {
  const FrameLayout window = make_layout("", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);
  UploadHarness harness("video/x-raw(memory:GLMemory)", window.caps(nullptr));
  GstPtr<GstBuffer> in = cropped(window, 6, 4, 1);
  const GstPtr<GstBuffer> out = harness.push(in);
  fail_unless(out);
  fail_unless(gst_buffer_get_video_crop_meta(out.get()) == nullptr);
  GstVideoInfo layout;
  gst_video_info_set_format(&layout, window.format, 80, 60);
  layout.offset[0] += 4 * static_cast<gsize>(layout.stride[0]) + 6;
  layout.offset[1] += 2 * static_cast<gsize>(layout.stride[1]) + 6;
  check_same(out.get(), window.info(), in.get(), layout);
}
GST_END_TEST;

GST_START_TEST(a_crop_of_another_size_is_left_to_the_consumer) {
  const FrameLayout window = make_layout("", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);
  UploadHarness harness("video/x-raw(memory:GLMemory)", window.caps(nullptr));
  GstPtr<GstBuffer> in = cropped(window, 6, 4, 1);
  gst_buffer_get_video_crop_meta(in.get())->width = 32;
  const GstPtr<GstBuffer> out = harness.push(in);
  fail_unless(out);
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(out.get());
  fail_unless(crop && crop->x == 6 && crop->y == 4 && crop->width == 32);
}
GST_END_TEST;

GST_START_TEST(a_crop_outside_the_buffer_loses_the_frame) {
  const FrameLayout window = make_layout("", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);
  UploadHarness harness("video/x-raw(memory:GLMemory)", window.caps(nullptr));
  for (const guint far : {40u, 4000u, 0x7fffffffu})
    fail_unless(!harness.push(cropped(window, 6, far, 1)));
  fail_unless(harness.push(cropped(window, 0, 0, 1)));
  fail_unless_equals_uint64(harness.stat("dropped"), 3);
}
GST_END_TEST;

GST_START_TEST(a_meta_that_lies_loses_the_frame_and_says_so) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_I420, 64, 48);
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps_of(info));
  const auto bus = GstPtr<GstBus>::adopt(gst_bus_new());
  gst_element_set_bus(harness.element(), bus.get());
  struct Lie {
    const char* reason;
    void (*tell)(GstVideoMeta*);
  };
  const Lie lies[] = {
      {"offset-out-of-range", [](GstVideoMeta* m) { m->offset[2] = G_MAXSIZE; }},
      {"offset-out-of-range", [](GstVideoMeta* m) { m->offset[0] = 1 << 30; }},
      {"object-too-small",
       [](GstVideoMeta* m) {
         m->offset[1] += 500;
         m->stride[1] = 64;
       }},
      {"object-too-small", [](GstVideoMeta* m) { m->stride[0] = 1 << 20; }},
      {"object-too-small", [](GstVideoMeta* m) { m->stride[0] = G_MAXINT; }},
      {"pitch-too-small", [](GstVideoMeta* m) { m->stride[0] = 63; }},
      {"pitch-out-of-range", [](GstVideoMeta* m) { m->stride[1] = 0; }},
      {"pitch-out-of-range", [](GstVideoMeta* m) { m->stride[1] = -32; }},
      {"plane-count", [](GstVideoMeta* m) { m->n_planes = 2; }},
      {"format-unsupported", [](GstVideoMeta* m) { m->format = GST_VIDEO_FORMAT_NV12; }},
  };
  for (const Lie& lie : lies) {
    GstPtr<GstBuffer> in = system_buffer(info, 1, true);
    lie.tell(gst_buffer_get_video_meta(in.get()));
    const uint64_t before = harness.reason(lie.reason);
    fail_unless(!harness.push(in), "%s", lie.reason);
    fail_unless_equals_uint64(harness.reason(lie.reason), before + 1);
  }
  // One warning for each reason, not for each frame, and no error.
  guint warnings = 0;
  while (const auto message = GstPtr<GstMessage>::adopt(gst_bus_pop(bus.get()))) {
    fail_unless(GST_MESSAGE_TYPE(message.get()) != GST_MESSAGE_ERROR);
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_WARNING) ++warnings;
  }
  fail_unless_equals_int(warnings, 6);
  GstPtr<GstBuffer> good = system_buffer(info, 9, true);
  const GstPtr<GstBuffer> out = harness.push(good);
  fail_unless(out);
  check_same(out.get(), info, good.get(), info);
  gst_element_set_bus(harness.element(), nullptr);
}
GST_END_TEST;

GST_START_TEST(planes_in_memories_of_their_own_are_read) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_I420, 64, 48);
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps_of(info));
  GstPtr<GstBuffer> whole = system_buffer(info, 5, false);
  auto split = GstPtr<GstBuffer>::adopt(gst_buffer_new());
  // The second border lies in the middle of a plane.
  for (const auto& [start, size] : {std::pair<gsize, gsize>{0, 64 * 48},
                                    {64 * 48, 1000},
                                    {64 * 48 + 1000, info.size - 64 * 48 - 1000}})
    gst_buffer_append_memory(
        split.get(), gst_memory_copy(gst_buffer_peek_memory(whole.get(), 0),
                                     static_cast<gssize>(start), static_cast<gssize>(size)));
  const GstPtr<GstBuffer> out = harness.push(split);
  fail_unless(out);
  check_same(out.get(), info, whole.get(), info);
}
GST_END_TEST;

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_copy");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 200);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, every_format_of_gstgl_arrives_exactly);
  tcase_add_test(tests, a_change_of_size_never_meets_an_old_texture);
  tcase_add_test(tests, textures_pass_through_as_they_are);
  tcase_add_test(tests, metas_and_times_go_along);
  tcase_add_test(tests, the_crop_is_carried_out);
  tcase_add_test(tests, a_crop_of_another_size_is_left_to_the_consumer);
  tcase_add_test(tests, a_crop_outside_the_buffer_loses_the_frame);
  tcase_add_test(tests, a_meta_that_lies_loses_the_frame_and_says_so);
  tcase_add_test(tests, planes_in_memories_of_their_own_are_read);
  return gst_check_run_suite(suite, "dxvaglupload_copy", __FILE__);
}
