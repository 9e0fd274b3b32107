// SPDX-License-Identifier: LGPL-2.1-or-later
// When a buffer goes back to its producer, and how seldom that needs the GL thread.

#include "lib/gl/release_queue.hpp"

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "tests/check/support/check.hpp"
#include "tests/check/support/fake_gl.hpp"

using namespace dxva;
using test::FakeGl;

namespace {

using Queue = gl::ReleaseQueue;

struct Rig {
  Rig() { FakeGl::reset(); }
  std::shared_ptr<test::FakeGlThread> thread = std::make_shared<test::FakeGlThread>();

  [[nodiscard]] std::shared_ptr<Queue> queue(
      const std::optional<gl::EglFenceApi>& fences = FakeGl::fence_api()) const {
    return std::make_shared<Queue>(thread, std::make_shared<const gl::GlApi>(FakeGl::api()),
                                   fences);
  }
};

}  // namespace

GST_START_TEST(a_release_waits_behind_a_flushed_fence) {
  const Rig rig;
  FakeGl::get().on_fence_wait = [] {};
  std::atomic<int> released{0};
  {
    const auto queue = rig.queue();
    for (int i = 0; i < 3; ++i) queue->after_gpu([&] { ++released; });
    queue->drain();
    fail_unless_equals_int(released, 3);
    fail_unless(FakeGl::get().calls[0] == "fence" && FakeGl::get().calls[1] == "flush");
    queue->after_gpu([&] { ++released; });
  }
  fail_unless_equals_int(released, 4);  // the queue's end waits too
  fail_unless_equals_int(FakeGl::get().fences_alive, 0);
}
GST_END_TEST;

GST_START_TEST(a_gpu_that_has_nothing_to_do_is_not_waited_for) {
  const Rig rig;
  bool released = false;
  const auto queue = rig.queue();
  queue->after_gpu([&] { released = true; });
  fail_unless(released);
  fail_unless(FakeGl::get().calls[0] == "fence" && FakeGl::get().calls[1] == "flush");
  fail_unless_equals_int(FakeGl::get().fences_alive, 0);
  // One that is not done is waited for by somebody else.
  std::promise<void> gpu_is_done;
  FakeGl::get().on_fence_wait = [done = gpu_is_done.get_future().share()] { done.wait(); };
  std::atomic<bool> later{false};
  queue->after_gpu([&] { later = true; });
  fail_unless(!later);
  gpu_is_done.set_value();
  queue->drain();
  fail_unless(later);
}
GST_END_TEST;

GST_START_TEST(without_fences_the_gl_thread_finishes_first) {
  const Rig rig;
  bool released = false;
  rig.queue(std::nullopt)->after_gpu([&] {
    fail_unless(FakeGl::get().calls.back() == "finish");
    released = true;
  });
  fail_unless(released);
}
GST_END_TEST;

GST_START_TEST(a_fence_that_cannot_be_made_is_replaced_by_waiting) {
  const Rig rig;
  FakeGl::get().fences_work = false;
  bool released = false;
  rig.queue()->after_gpu([&] {
    fail_unless(FakeGl::get().calls.back() == "finish");
    released = true;
  });
  fail_unless(released);
}
GST_END_TEST;

GST_START_TEST(a_release_may_end_the_queue_that_runs_it) {
  for (const bool at_once : {true, false}) {
    const Rig rig;
    if (!at_once) FakeGl::get().on_fence_wait = [] {};
    std::atomic<bool> done{false};
    auto queue = rig.queue();
    auto* raw = queue.get();
    raw->after_gpu([held = std::move(queue), &done]() mutable {
      held.reset();
      done = true;
      done.notify_all();
    });
    done.wait(false);
  }
}
GST_END_TEST;

GST_START_TEST(buffers_that_can_be_spared_share_one_fence) {
  const Rig rig;
  const auto queue = rig.queue();
  // In one thread, faster than the longest delay, or the reaper has fenced some before.
  std::atomic<size_t> released{0};
  for (size_t i = 0; i < 3 * Queue::kBatch; ++i)
    queue->after_gpu_with_others([&] { ++released; });
  queue->drain();
  fail_unless_equals_uint64(released, 3 * Queue::kBatch);
  fail_unless(rig.thread->jobs >= 3 && rig.thread->jobs < static_cast<int>(3 * Queue::kBatch),
              "%d", rig.thread->jobs.load());
  fail_unless_equals_int(FakeGl::get().fences_alive, 0);
}
GST_END_TEST;

GST_START_TEST(a_buffer_that_can_be_spared_needs_no_other_to_come_back) {
  const Rig rig;
  const auto queue = rig.queue();
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> released{false};
    queue->after_gpu_with_others([&] {
      released = true;
      released.notify_all();
    });
    released.wait(false);
  }
  queue->drain();
  fail_unless(FakeGl::get().calls[0] == "fence" && FakeGl::get().calls[1] == "flush");
  fail_unless_equals_int(FakeGl::get().fences_alive, 0);
}
GST_END_TEST;

GST_START_TEST(a_buffer_that_cannot_be_spared_takes_the_others_along) {
  const Rig rig;
  const auto queue = rig.queue();
  std::atomic<int> released{0};
  queue->after_gpu_with_others([&] { ++released; });
  queue->after_gpu_with_others([&] { ++released; });
  queue->after_gpu([&] { ++released; });
  queue->drain();
  fail_unless_equals_int(released, 3);
  fail_unless(rig.thread->jobs <= 2, "%d", rig.thread->jobs.load());
}
GST_END_TEST;

GST_START_TEST(a_producer_that_runs_short_has_them_at_once) {
  const Rig rig;
  const auto queue = rig.queue();
  std::promise<std::thread::id> where;
  queue->after_gpu_with_others([&] { where.set_value(std::this_thread::get_id()); });
  queue->recall();
  // Here, and not by the reaper, when its time has come.
  fail_unless(where.get_future().get() == std::this_thread::get_id());
  queue->recall();
  fail_unless_equals_int(rig.thread->jobs, 1);
}
GST_END_TEST;

GST_START_TEST(nothing_is_left_behind_when_a_queue_ends) {
  const Rig rig;
  std::atomic<int> released{0};
  auto queue = rig.queue();
  queue->after_gpu_with_others([&] { ++released; });
  queue->after_gpu_with_others([&] { ++released; });
  queue.reset();
  fail_unless_equals_int(released, 2);
  fail_unless_equals_int(FakeGl::get().fences_alive, 0);
}
GST_END_TEST;

// The reaper would ask the GL thread for the fence, which waits for the reaper.
GST_START_TEST(a_queue_may_end_on_the_gl_thread) {
  struct Current final : gl::GlThread {
    explicit Current(std::thread::id gl) : id(gl) {}
    void run(const std::function<void()>& job) override {
      fail_unless(is_current(), "another thread waits for this one");
      job();
    }
    [[nodiscard]] bool is_current() const override { return std::this_thread::get_id() == id; }
    const std::thread::id id;
  };
  FakeGl::reset();
  std::atomic<int> released{0};
  auto queue = std::make_shared<Queue>(std::make_shared<Current>(std::this_thread::get_id()),
                                       std::make_shared<const gl::GlApi>(FakeGl::api()),
                                       FakeGl::fence_api());
  queue->after_gpu_with_others([&] { ++released; });
  queue.reset();
  fail_unless_equals_int(released, 1);
}
GST_END_TEST;

GST_START_TEST(behind_the_end_whoever_gives_back_waits_himself) {
  const Rig rig;
  FakeGl::get().on_fence_wait = [] {};  // the GPU is never done at once
  const auto queue = rig.queue();
  const auto releaser = [&](auto give_back) {
    std::promise<std::thread::id> where;
    give_back([&] { where.set_value(std::this_thread::get_id()); });
    return where.get_future().get();
  };
  const auto prompt = [&](Queue::Release release) { queue->after_gpu(std::move(release)); };
  const auto late = [&](Queue::Release release) {
    queue->after_gpu_with_others(std::move(release));
  };
  fail_unless(releaser(prompt) != std::this_thread::get_id());
  std::atomic<bool> drained{false};
  late([&] { drained = true; });
  queue->finish();
  fail_unless(drained);
  fail_unless(releaser(prompt) == std::this_thread::get_id());
  fail_unless(releaser(late) == std::this_thread::get_id());
}
GST_END_TEST;

int main(int argc, char** argv) {
  gst_check_init(&argc, &argv);
  Suite* suite = suite_create("gl_release_queue");
  TCase* tests = tcase_create("general");
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, a_release_waits_behind_a_flushed_fence);
  tcase_add_test(tests, a_gpu_that_has_nothing_to_do_is_not_waited_for);
  tcase_add_test(tests, without_fences_the_gl_thread_finishes_first);
  tcase_add_test(tests, a_fence_that_cannot_be_made_is_replaced_by_waiting);
  tcase_add_test(tests, a_release_may_end_the_queue_that_runs_it);
  tcase_add_test(tests, buffers_that_can_be_spared_share_one_fence);
  tcase_add_test(tests, a_buffer_that_can_be_spared_needs_no_other_to_come_back);
  tcase_add_test(tests, a_buffer_that_cannot_be_spared_takes_the_others_along);
  tcase_add_test(tests, a_producer_that_runs_short_has_them_at_once);
  tcase_add_test(tests, nothing_is_left_behind_when_a_queue_ends);
  tcase_add_test(tests, a_queue_may_end_on_the_gl_thread);
  tcase_add_test(tests, behind_the_end_whoever_gives_back_waits_himself);
  return gst_check_run_suite(suite, "gl_release_queue", __FILE__);
}
