// SPDX-License-Identifier: LGPL-2.1-or-later
// An import's GstGL memories are made once and go out with each frame: what consumers see of that
// must be what they would see of new ones.

#include <atomic>
#include <cstdio>
#include <vector>

#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

const FrameLayout kSmall = make_layout("64x48", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);

std::vector<GstMemory*> memories_of(const GstPtr<GstBuffer>& buffer) {
  std::vector<GstMemory*> out;
  for (guint i = 0; i < gst_buffer_n_memory(buffer.get()); ++i)
    out.push_back(gst_buffer_peek_memory(buffer.get(), i));
  return out;
}

void expect_picture(const GstPtr<GstBuffer>& buffer, uint32_t seed) {
  const Comparison found = compare(buffer.get(), kSmall, seed);
  fail_unless(found.wrong_bytes == 0, "%s", found.first.c_str());
}

// A first picture, after which it is known.
bool imports(UploadHarness& harness) {
  MemfdFrame frame(kSmall);
  (void)harness.push(frame.buffer());
  if (!harness.imports()) std::printf("# SKIP not the rig that imports\n");
  return harness.imports();
}

// Set when the element lets go of the producer's buffer.
struct Input {
  explicit Input(MemfdFrame& frame) : buffer(frame.buffer()) {
    gst_mini_object_weak_ref(
        GST_MINI_OBJECT_CAST(buffer.get()),
        [](gpointer flag, GstMiniObject*) {
          static_cast<std::atomic<bool>*>(flag)->store(true);
          static_cast<std::atomic<bool>*>(flag)->notify_all();
        },
        &back);
  }
  GstPtr<GstBuffer> buffer;
  std::atomic<bool> back{false};
};

GST_START_TEST(a_surface_that_comes_again_has_the_memories_that_it_had) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  MemfdFrame frame(kSmall);
  frame.fill(0);
  const auto first = memories_of(harness.push(frame.buffer()));
  for (uint32_t i = 1; i < 20; ++i) {
    frame.fill(i);
    const GstPtr<GstBuffer> out = harness.push(frame.buffer());
    fail_unless(memories_of(out) == first);
    fail_unless(gst_buffer_get_video_meta(out.get()) != nullptr);
    fail_unless(GST_MEMORY_IS_READONLY(gst_buffer_peek_memory(out.get(), 0)));
    if (i == 19) expect_picture(out, i);
  }
}
GST_END_TEST;

GST_START_TEST(what_the_cpu_has_read_is_neither_kept_nor_shown_again) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  MemfdFrame frame(kSmall);
  for (uint32_t i = 0; i < 5; ++i) {
    frame.fill(i);
    std::atomic<int> freed{0};
    {
      const GstPtr<GstBuffer> out = harness.push(frame.buffer());
      expect_picture(out, i);
      for (GstMemory* memory : memories_of(out))
        gst_mini_object_weak_ref(
            GST_MINI_OBJECT_CAST(memory),
            [](gpointer count, GstMiniObject*) { ++*static_cast<std::atomic<int>*>(count); },
            &freed);
    }
    fail_unless_equals_int(freed.load(), 2);
  }
  // Reading is over: the next ones are kept.
  const auto kept = memories_of(harness.push(frame.buffer()));
  fail_unless(memories_of(harness.push(frame.buffer())) == kept);
}
GST_END_TEST;

GST_START_TEST(a_buffer_that_is_sent_twice_is_shown_twice) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  MemfdFrame frame(kSmall);
  frame.fill(7);
  GstPtr<GstBuffer> first = harness.push(frame.buffer());
  GstPtr<GstBuffer> second = harness.push(frame.buffer());
  fail_unless(memories_of(first) != memories_of(second));
  expect_picture(second, 7);
  second.reset();
  expect_picture(first, 7);
}
GST_END_TEST;

GST_START_TEST(who_keeps_one_memory_keeps_the_surface) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  MemfdFrame frame(kSmall), other(kSmall);
  (void)harness.push(frame.buffer());  // now the memories are there to be lent
  Input input(frame);
  GstPtr<GstBuffer> out = harness.push(std::move(input.buffer));
  auto kept = GstPtr<GstMemory>::adopt(gst_buffer_get_memory(out.get(), 1));
  out.reset();
  // What is given back after it comes back, and it does not.
  Input later(other);
  (void)harness.push(std::move(later.buffer));
  later.back.wait(false);
  fail_unless(!input.back);
  kept.reset();
  input.back.wait(false);
}
GST_END_TEST;

GST_START_TEST(a_picture_without_commands_carries_no_fence_but_takes_one) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  MemfdFrame frame(kSmall);
  for (int i = 0; i < 3; ++i) {
    const GstPtr<GstBuffer> out = harness.push(frame.buffer());
    GstGLSyncMeta* sync = gst_buffer_get_gl_sync_meta(out.get());
    fail_unless(sync && !sync->data);
    const auto context = get_gl_context(harness);
    gst_gl_sync_meta_wait(sync, context.get());
    // A consumer's own, which goes with the buffer.
    gst_gl_sync_meta_set_sync_point(sync, context.get());
    fail_unless(sync->data != nullptr);
    const auto copy = GstPtr<GstBuffer>::adopt(gst_buffer_copy(out.get()));
    fail_unless(gst_buffer_get_gl_sync_meta(copy.get()) != nullptr);
  }
}
GST_END_TEST;

}  // namespace

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_lent");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 120);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, a_surface_that_comes_again_has_the_memories_that_it_had);
  tcase_add_test(tests, what_the_cpu_has_read_is_neither_kept_nor_shown_again);
  tcase_add_test(tests, a_buffer_that_is_sent_twice_is_shown_twice);
  tcase_add_test(tests, who_keeps_one_memory_keeps_the_surface);
  tcase_add_test(tests, a_picture_without_commands_carries_no_fence_but_takes_one);
  return gst_check_run_suite(suite, "dxvaglupload_lent", __FILE__);
}
