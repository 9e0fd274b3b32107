// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures that are copied leave in textures and memories that others had before them, with one
// trip to the GL thread each; consumers must see of that what they would see of new ones.

#include <GL/gl.h>
#include <GL/glext.h>
#include <gst/gl/gl.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"
#include "tests/check/support/system_pictures.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

const FrameLayout kSmall = make_layout("64x48", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);
// By then it is settled which way uploads go (lib/gl/upload_choice).
constexpr int kWarmUp = 30;

struct Copies : UploadHarness {
  explicit Copies(const char* output = "video/x-raw(memory:GLMemory)")
      : UploadHarness(output, kSmall.caps(nullptr)) {}

  GstPtr<GstBuffer> send(guint seed) { return push(system_buffer(kSmall.info(), seed, false)); }
  void warm_up() {
    for (guint i = 0; i < kWarmUp; ++i) fail_unless(send(i));
  }
};

std::vector<GstMemory*> memories_of(const GstPtr<GstBuffer>& buffer) {
  std::vector<GstMemory*> out;
  for (guint i = 0; i < gst_buffer_n_memory(buffer.get()); ++i)
    out.push_back(gst_buffer_peek_memory(buffer.get(), i));
  return out;
}

void expect_picture(const GstPtr<GstBuffer>& buffer, guint seed) {
  const GstPtr<GstBuffer> wanted = system_buffer(kSmall.info(), seed, false);
  check_same(buffer.get(), kSmall.info(), wanted.get(), kSmall.info());
}

void run_in(GstGLContext* context, std::function<void()> job) {
  gst_gl_context_thread_add(
      context,
      [](GstGLContext*, gpointer data) { (*static_cast<std::function<void()>*>(data))(); },
      &job);
}

// Jobs that other threads give to the GL thread and wait for, from here on.
class Trips {
 public:
  explicit Trips(GstGLContext* context)
      : window_(GstPtr<GstGLWindow>::adopt(gst_gl_context_get_window(context))) {
    GstGLWindowClass* klass = GST_GL_WINDOW_GET_CLASS(window_.get());
    real_ = klass->send_message;
    count_ = 0;
    klass->send_message = [](GstGLWindow* window, GstGLWindowCB job, gpointer data) {
      ++count_;
      real_(window, job, data);
    };
  }
  ~Trips() { GST_GL_WINDOW_GET_CLASS(window_.get())->send_message = real_; }

  [[nodiscard]] static int count() { return count_; }

 private:
  GstPtr<GstGLWindow> window_;
  static inline decltype(GstGLWindowClass::send_message) real_ = nullptr;
  static inline std::atomic<int> count_{0};
};

GLsync fence_of(const GstPtr<GstBuffer>& buffer) {
  const GstGLSyncMeta* meta = gst_buffer_get_gl_sync_meta(buffer.get());
  fail_unless(meta != nullptr);
  return static_cast<GLsync>(meta->data);
}

// Nobody else makes fences meanwhile, whose names could be those again.
bool is_alive(GstGLContext* context, GLsync fence) {
  const auto is_sync =
      reinterpret_cast<PFNGLISSYNCPROC>(gst_gl_context_get_proc_address(context, "glIsSync"));
  bool alive = false;
  run_in(context, [&] { alive = is_sync(fence) == GL_TRUE; });
  return alive;
}

void expect_one_trip_each(Copies& harness) {
  harness.warm_up();
  const auto context = get_gl_context(harness);
  const Trips trips(context.get());
  for (guint i = 0; i < 20; ++i) fail_unless(harness.send(i));
  fail_unless_equals_int(Trips::count(), 20);
}

}  // namespace

GST_START_TEST(a_picture_is_one_trip_to_the_gl_thread_from_coming_to_going) {
  Copies harness;
  expect_one_trip_each(harness);
}
GST_END_TEST;

GST_START_TEST(so_is_one_that_is_drawn) {
  Copies harness("video/x-raw(memory:GLMemory),format=RGBA");
  expect_one_trip_each(harness);
}
GST_END_TEST;

GST_START_TEST(memories_come_again_with_other_pictures) {
  Copies harness;
  const auto first = memories_of(harness.send(0));
  for (guint i = 1; i < 20; ++i) {
    const GstPtr<GstBuffer> out = harness.send(i);
    fail_unless(memories_of(out) == first);
    fail_unless(gst_buffer_get_video_meta(out.get()) != nullptr);
    fail_unless(!GST_MEMORY_IS_READONLY(gst_buffer_peek_memory(out.get(), 0)));
    if (i == 19) expect_picture(out, i);
  }
}
GST_END_TEST;

GST_START_TEST(what_consumers_have_changed_is_not_lent_again) {
  Copies harness;
  // Read by the CPU: GstGL keeps those pixels.
  for (guint i = 0; i < 3; ++i) expect_picture(harness.send(i), i);
  // Written by the CPU: GstGL would upload that over the next picture.
  {
    const GstPtr<GstBuffer> out = harness.send(3);
    gst_buffer_memset(out.get(), 0, 0xab, gst_buffer_get_size(out.get()));
  }
  expect_picture(harness.send(4), 4);
  // Cut off.
  const gsize size = gst_buffer_get_size(harness.send(5).get());
  {
    const GstPtr<GstBuffer> out = harness.send(6);
    gst_buffer_resize(out.get(), 16, 16);
    fail_unless_equals_uint64(gst_buffer_get_size(out.get()), 16);
  }
  const GstPtr<GstBuffer> out = harness.send(7);
  fail_unless_equals_uint64(gst_buffer_get_size(out.get()), size);
  expect_picture(out, 7);
}
GST_END_TEST;

GST_START_TEST(another_kind_of_picture_has_memories_of_its_own) {
  // The same textures, with U and V swapped.
  const FrameLayout swapped = make_layout("swapped", GST_VIDEO_FORMAT_NV21, 64, 48, 64, 48);
  Copies harness;
  GstPtr<GstBuffer> kept = harness.send(0);
  gst_harness_set_src_caps_str(harness.get(), swapped.caps(nullptr).c_str());
  kept.reset();  // into a pool that was emptied before
  for (guint i = 1; i < 4; ++i) {
    const GstPtr<GstBuffer> in = system_buffer(swapped.info(), i, false);
    const GstPtr<GstBuffer> out = harness.push(in);
    fail_unless(out);
    const GstVideoMeta* meta = gst_buffer_get_video_meta(out.get());
    fail_unless_equals_int(meta->format, GST_VIDEO_FORMAT_NV21);
    check_same(out.get(), swapped.info(), in.get(), swapped.info());
  }
}
GST_END_TEST;

GST_START_TEST(pictures_that_are_kept_stay_as_they_are) {
  Copies harness;
  std::vector<GstPtr<GstBuffer>> kept;
  for (guint i = 0; i < 5; ++i) kept.push_back(harness.send(i));
  // One plane of a picture is enough.
  auto plane = GstPtr<GstMemory>::adopt(gst_buffer_get_memory(kept[2].get(), 1));
  kept[2].reset();
  for (guint i = 5; i < 10; ++i) {
    const GstPtr<GstBuffer> out = harness.send(i);
    for (GstMemory* memory : memories_of(out)) fail_unless(memory != plane.get());
  }
  for (guint i = 0; i < 5; ++i)
    if (kept[i]) expect_picture(kept[i], i);
}
GST_END_TEST;

GST_START_TEST(a_fence_lives_as_long_as_its_picture_and_goes_with_the_next_one) {
  Copies harness;
  harness.warm_up();
  const auto context = get_gl_context(harness);
  std::vector<GstPtr<GstBuffer>> kept;
  std::vector<GLsync> fences;
  for (guint i = 0; i < 8; ++i) {
    kept.push_back(harness.send(i));
    fences.push_back(fence_of(kept.back()));
  }
  for (const GLsync fence : fences) fail_unless(fence && is_alive(context.get(), fence));
  kept.resize(4);
  const GstPtr<GstBuffer> next = harness.send(8);
  int alive = 0;
  // Its own may have the name of one that was deleted.
  for (size_t i = 0; i < fences.size(); ++i)
    if (fences[i] != fence_of(next)) alive += is_alive(context.get(), fences[i]);
  fail_unless_equals_int(alive, 4);
  // A consumer's own takes its place.
  GstGLSyncMeta* meta = gst_buffer_get_gl_sync_meta(next.get());
  gst_gl_sync_meta_set_sync_point(meta, context.get());
  gst_gl_sync_meta_wait(meta, context.get());
  gst_gl_sync_meta_wait_cpu(meta, context.get());
  fail_unless(is_alive(context.get(), fence_of(next)));
}
GST_END_TEST;

GST_START_TEST(no_fence_outlives_its_element_and_its_picture) {
  Copies harness;
  harness.warm_up();
  const auto context = get_gl_context(harness);
  GstPtr<GstBuffer> kept = harness.send(0);
  const GLsync kept_fence = fence_of(kept);
  const GLsync fence = fence_of(harness.send(1));
  fail_unless(is_alive(context.get(), fence));
  gst_element_set_state(harness.element(), GST_STATE_NULL);
  fail_unless(!is_alive(context.get(), fence));
  fail_unless(is_alive(context.get(), kept_fence));
  kept.reset();
  fail_unless(!is_alive(context.get(), kept_fence));
}
GST_END_TEST;

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_pooled");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 120);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, a_picture_is_one_trip_to_the_gl_thread_from_coming_to_going);
  tcase_add_test(tests, so_is_one_that_is_drawn);
  tcase_add_test(tests, memories_come_again_with_other_pictures);
  tcase_add_test(tests, what_consumers_have_changed_is_not_lent_again);
  tcase_add_test(tests, another_kind_of_picture_has_memories_of_its_own);
  tcase_add_test(tests, pictures_that_are_kept_stay_as_they_are);
  tcase_add_test(tests, a_fence_lives_as_long_as_its_picture_and_goes_with_the_next_one);
  tcase_add_test(tests, no_fence_outlives_its_element_and_its_picture);
  return gst_check_run_suite(suite, "dxvaglupload_pooled", __FILE__);
}
