// SPDX-License-Identifier: LGPL-2.1-or-later
// An import's GstGL memories are made once and go out with each frame: what consumers see of
// that must be what they would see of new ones.

#include <atomic>
#include <cstdio>
#include <memory>
#include <vector>

#include "gst/common/spare_memory.hpp"
#include "gst/dxvagl/gst_gl_thread.hpp"
#include "lib/gl/release_queue.hpp"
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

// A decoder that has surfaces to spare, and how many of them are back.
class SpareFrames {
 public:
  explicit SpareFrames(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      frames_.push_back(std::make_unique<MemfdFrame>(kSmall));
      frames_.back()->fill(static_cast<uint32_t>(i));
    }
  }
  [[nodiscard]] GstPtr<GstBuffer> send(size_t index) {
    auto buffer = frames_[index]->buffer();
    dxva::gst::mark_spare(gst_buffer_peek_memory(buffer.get(), 0));
    gst_mini_object_weak_ref(
        GST_MINI_OBJECT_CAST(buffer.get()),
        [](gpointer self, GstMiniObject*) {
          ++static_cast<SpareFrames*>(self)->back;
          static_cast<SpareFrames*>(self)->back.notify_all();
        },
        this);
    return buffer;
  }
  void wait_for(size_t count) {
    for (size_t now = back; now < count; now = back) back.wait(now);
  }
  [[nodiscard]] size_t count() const { return frames_.size(); }

  std::atomic<size_t> back{0};

 private:
  std::vector<std::unique_ptr<MemfdFrame>> frames_;
};

void map_in_gl(GstBuffer* buffer) {
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    GstMapInfo map;
    fail_unless(
        gst_memory_map(memory, &map, static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_GL)));
    gst_memory_unmap(memory, &map);
  }
}

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

GST_START_TEST(memories_are_gstgls_own_for_all_that_can_be_seen) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  MemfdFrame frame(kSmall);
  frame.fill(3);
  GstPtr<GstBuffer> out = harness.push(frame.buffer());
  for (GstMemory* memory : memories_of(out)) {
    fail_unless(gst_is_gl_memory(memory) && !gst_is_gl_memory_pbo(memory));
    fail_unless(gst_memory_is_type(memory, GST_GL_MEMORY_ALLOCATOR_NAME));
  }
  // A copy is one of another texture.
  const auto copy = GstPtr<GstBuffer>::adopt(gst_buffer_copy_deep(out.get()));
  map_in_gl(copy.get());
  out.reset();
  frame.fill(4);
  fail_unless(gst_is_gl_memory(gst_buffer_peek_memory(copy.get(), 0)));
  expect_picture(copy, 3);
}
GST_END_TEST;

// One batch waits for the consumer, who comes to the GL thread with the next frame. On a busy
// machine something else may have seen to some of them: so it is tried again.
GST_START_TEST(a_consumer_that_maps_saves_the_trip_for_the_fence) {
  constexpr size_t kBatch = dxva::gl::ReleaseQueue::kBatch;
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  SpareFrames frames(kBatch + 1);
  const auto show = [&](size_t index, bool maps) {
    const GstPtr<GstBuffer> out = harness.push(frames.send(index));
    if (maps) map_in_gl(out.get());
  };
  const auto have_all_back = [&] {
    gst_pad_push_event(harness.get()->srcpad, dxva::gst::make_spares_wanted_event());
    frames.wait_for(frames.count());
    frames.back = 0;
  };
  // A buffer that is not known yet is a trip of our own.
  for (size_t k = 0; k < frames.count(); ++k) show(k, false);
  have_all_back();
  bool saved = false;
  for (int i = 0; i < 200 && !saved; ++i) {
    for (size_t k = 0; k < kBatch; ++k) show(k, k > 0);
    const size_t before = frames.back;
    show(kBatch, true);
    saved = before == 0 && frames.back == kBatch;
    have_all_back();
  }
  fail_unless(saved);
}
GST_END_TEST;

// It maps in a context of its own, or only waits for the fence, or does nothing.
GST_START_TEST(whatever_a_consumer_does_frames_come_back) {
  UploadHarness harness(kSmall);
  if (!imports(harness)) return;
  const auto context = get_gl_context(harness);
  const auto display = GstPtr<GstGLDisplay>::adopt(gst_gl_context_get_display(context.get()));
  const auto other = GstPtr<GstGLContext>::adopt(gst_gl_context_new(display.get()));
  fail_unless(gst_gl_context_create(other.get(), context.get(), nullptr));
  dxva::gst::GstGlThread elsewhere(other.get()), there(context.get());
  const auto wait = [](GstBuffer* out, GstGLContext* in) {
    gst_gl_sync_meta_wait(gst_buffer_get_gl_sync_meta(out), in);
  };
  for (int consumer = 0; consumer < 6; ++consumer) {
    SpareFrames frames(10);
    GstPtr<GstBuffer> kept;
    for (size_t i = 0; i < frames.count(); ++i) {
      GstPtr<GstBuffer> out = harness.push(frames.send(i));
      if (consumer == 0) elsewhere.run([&] { map_in_gl(out.get()); });
      if (consumer == 1) elsewhere.run([&] { wait(out.get(), other.get()); });
      if (consumer == 2) there.run([&] { wait(out.get(), context.get()); });
      if (consumer == 3) expect_picture(out, static_cast<uint32_t>(i));  // by the CPU
      if (consumer == 4) kept = std::move(out);  // until the next one is there
      if (consumer == 5)
        there.run([&] {
          map_in_gl(out.get());
          out.reset();
        });
    }
    kept.reset();
    frames.wait_for(frames.count());
  }
}
GST_END_TEST;

GST_START_TEST(frames_that_outlive_the_element_can_be_mapped_and_given_back) {
  for (const bool on_gl_thread : {false, true}) {
    SpareFrames frames(6);
    std::vector<GstPtr<GstBuffer>> kept;
    GstPtr<GstGLContext> context;
    {
      UploadHarness harness(kSmall);
      if (!imports(harness)) return;
      context = get_gl_context(harness);
      for (size_t i = 0; i < frames.count(); ++i) kept.push_back(harness.push(frames.send(i)));
      for (size_t i = 0; i < 2; ++i) map_in_gl(kept[i].get());
      kept.erase(kept.begin());
    }
    frames.wait_for(1);
    for (const auto& buffer : kept) map_in_gl(buffer.get());
    expect_picture(kept.back(), static_cast<uint32_t>(frames.count() - 1));
    // The last of them ends all that the element had.
    dxva::gst::GstGlThread thread(context.get());
    if (on_gl_thread)
      thread.run([&] { kept.clear(); });
    else
      kept.clear();
    frames.wait_for(frames.count());
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
  tcase_add_test(tests, memories_are_gstgls_own_for_all_that_can_be_seen);
  tcase_add_test(tests, a_consumer_that_maps_saves_the_trip_for_the_fence);
  tcase_add_test(tests, whatever_a_consumer_does_frames_come_back);
  tcase_add_test(tests, frames_that_outlive_the_element_can_be_mapped_and_given_back);
  return gst_check_run_suite(suite, "dxvaglupload_lent", __FILE__);
}
