// SPDX-License-Identifier: LGPL-2.1-or-later
// When a buffer goes back to its producer, and how seldom that needs the GL thread.

#include "lib/gl/release_queue.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tests/check/support/check.hpp"
#include "tests/check/support/fake_gl.hpp"

using namespace dxva;
using test::FakeGl;

namespace {

using Queue = gl::ReleaseQueue;

bool gl_has_fences = false;

void reset() {
  FakeGl::reset();
  FakeGl::get().has_gl_fences = gl_has_fences;
}

struct Rig {
  Rig() { reset(); }
  std::shared_ptr<test::FakeGlThread> thread = std::make_shared<test::FakeGlThread>();

  [[nodiscard]] std::shared_ptr<Queue> queue(
      const std::optional<gl::EglFenceApi>& fences = FakeGl::fence_api()) const {
    return std::make_shared<Queue>(thread, std::make_shared<const gl::GlApi>(FakeGl::api()),
                                   fences);
  }
};

// A thread of its own, to which others go and wait.
class GlThreadOfItsOwn final : public gl::GlThread {
 public:
  GlThreadOfItsOwn() : thread_([this] { serve(); }) {}
  ~GlThreadOfItsOwn() override {
    post({});
    thread_.join();
  }
  GlThreadOfItsOwn(const GlThreadOfItsOwn&) = delete;
  GlThreadOfItsOwn& operator=(const GlThreadOfItsOwn&) = delete;

  std::atomic<int> trips{0};

  void run(const std::function<void()>& job) override {
    if (is_current()) {
      job();
      return;
    }
    ++trips;
    const auto done = std::make_shared<std::promise<void>>();
    post([&job, done] {
      job();
      done->set_value();
    });
    done->get_future().wait();
  }
  [[nodiscard]] bool is_current() const override {
    return std::this_thread::get_id() == thread_.get_id();
  }

 private:
  void post(std::function<void()> job) {
    const std::lock_guard guard(lock_);
    jobs_.push_back(std::move(job));
    wake_.notify_one();
  }
  void serve() {
    for (;;) {
      std::unique_lock guard(lock_);
      wake_.wait(guard, [this] { return !jobs_.empty(); });
      const auto job = std::move(jobs_.front());
      jobs_.pop_front();
      guard.unlock();
      if (!job) return;
      job();
    }
  }

  std::mutex lock_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::thread thread_;
};

// On a busy machine the reaper may come first, and what it does is right as well. So what
// others are to do is tried until they have done it once.
template <typename Try>
bool sometimes(Try once) {
  for (int i = 0; i < 1000; ++i)
    if (once()) return true;
  return false;
}

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

// Others' threads may have a context, which would be let go of.
GST_START_TEST(only_the_small_thread_is_forgotten_by_egl_when_it_has_waited) {
  const Rig rig;
  std::mutex lock;
  std::vector<std::thread::id> waited;
  std::vector<std::thread::id> forgotten;
  const auto note = [&](std::vector<std::thread::id>& where) {
    const std::lock_guard guard(lock);
    where.push_back(std::this_thread::get_id());
  };
  FakeGl::get().on_fence_wait = [&] { note(waited); };
  FakeGl::get().on_release_thread = [&] { note(forgotten); };
  const auto queue = rig.queue();
  queue->after_gpu([&] { fail_unless(!forgotten.empty()); });
  queue->finish();
  fail_unless(waited.size() == 1 && waited == forgotten);
  fail_unless(forgotten[0] != std::this_thread::get_id());
  queue->after_gpu([] {});
  fail_unless(waited.size() == 2 && waited[1] == std::this_thread::get_id());
  fail_unless_equals_int(forgotten.size(), 1);
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

GST_START_TEST(without_fences_of_egl_the_gl_thread_waits_first) {
  const Rig rig;
  bool released = false, waited = false;
  FakeGl::get().on_fence_wait = [&] { waited = true; };
  rig.queue(std::nullopt)->after_gpu([&] {
    fail_unless(gl_has_fences ? waited : FakeGl::get().calls.back() == "finish");
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

// The consumer has them all: what he gives back first is waited for.
GST_START_TEST(a_producer_that_ran_short_has_the_next_one_at_once) {
  const auto here = std::this_thread::get_id();
  const Rig rig;
  const auto queue = rig.queue();
  queue->recall();
  std::promise<std::thread::id> where;
  queue->after_gpu_with_others([&] { where.set_value(std::this_thread::get_id()); });
  fail_unless(where.get_future().get() == here);
  // Those behind it share a fence again.
  fail_unless(sometimes([&] {
    const int jobs = rig.thread->jobs;
    std::atomic<size_t> released_here{0};
    const auto note = [&] {
      if (std::this_thread::get_id() == here) ++released_here;
    };
    for (size_t i = 0; i + 1 < Queue::kBatch; ++i) queue->after_gpu_with_others(note);
    queue->recall();
    queue->drain();
    return released_here == Queue::kBatch - 1 && rig.thread->jobs == jobs + 1;
  }));
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

GST_START_TEST(who_visits_the_gl_thread_saves_the_trip) {
  const auto here = std::this_thread::get_id();
  fail_unless(sometimes([&] {
    const Rig rig;
    const auto queue = rig.queue();
    std::atomic<size_t> released_here{0};
    const auto frame = [&] {
      queue->visit();
      queue->after_gpu_with_others([&] {
        if (std::this_thread::get_id() == here) ++released_here;
      });
    };
    for (size_t i = 0; i < Queue::kBatch; ++i) frame();
    const size_t before = released_here;
    frame();
    const bool saved = before == 0 && released_here == Queue::kBatch && rig.thread->jobs == 0;
    queue->drain();
    return saved;
  }));
  fail_unless_equals_int(FakeGl::get().fences_alive, 0);
}
GST_END_TEST;

GST_START_TEST(slow_frames_have_their_fence_at_a_visit_too) {
  fail_unless(sometimes([] {
    const Rig rig;
    const auto queue = rig.queue();
    std::atomic<bool> released{false};
    queue->after_gpu_with_others([&] { released = true; });
    queue->visit();
    std::this_thread::sleep_for(Queue::kVisitDelay);
    queue->visit();
    queue->after_gpu_with_others([] {});
    const bool saved = released && rig.thread->jobs == 0;
    queue->drain();
    return saved;
  }));
}
GST_END_TEST;

GST_START_TEST(visitors_that_come_no_more_are_not_waited_for) {
  const auto here = std::this_thread::get_id();
  fail_unless(sometimes([&] {
    const Rig rig;
    const auto queue = rig.queue();
    std::atomic<size_t> released_here{0};
    const auto give_back = [&] {
      queue->after_gpu_with_others([&] {
        if (std::this_thread::get_id() == here) ++released_here;
      });
    };
    give_back();
    queue->visit();
    constexpr size_t kMost = Queue::kBatch + Queue::kMoreWithVisits;
    for (size_t i = 1; i + 1 < kMost; ++i) give_back();
    const bool waited = released_here == 0;
    give_back();
    const bool went = released_here == kMost;
    queue->drain();
    return waited && went;
  }));
}
GST_END_TEST;

GST_START_TEST(a_visitors_fence_is_waited_for_like_any_other) {
  const Rig rig;
  std::promise<void> gpu_is_done;
  FakeGl::get().on_fence_wait = [done = gpu_is_done.get_future().share()] { done.wait(); };
  const auto queue = rig.queue();
  std::atomic<size_t> released{0};
  for (size_t i = 0; i < 5 * Queue::kBatch; ++i) {
    queue->visit();
    queue->after_gpu_with_others([&] { ++released; });
  }
  queue->visit();
  queue->recall();
  queue->visit();
  fail_unless_equals_uint64(released, 0);
  gpu_is_done.set_value();
  queue->drain();
  fail_unless_equals_uint64(released, 5 * Queue::kBatch);
  fail_unless_equals_int(FakeGl::get().fences_alive, 0);
}
GST_END_TEST;

// Neither a next frame nor a next visit, and the GPU was not done when the last one looked.
GST_START_TEST(nothing_depends_on_who_comes_next) {
  enum class Then { Nothing, Recall, Drain, Finish, End };
  for (const Then then : {Then::Nothing, Then::Recall, Then::Drain, Then::Finish, Then::End}) {
    const Rig rig;
    FakeGl::get().on_fence_poll = [] { return false; };
    auto queue = rig.queue();
    std::atomic<size_t> released{0};
    for (size_t i = 0; i < Queue::kBatch; ++i)
      queue->after_gpu_with_others([&] {
        ++released;
        released.notify_all();
      });
    queue->visit();
    if (then == Then::Recall) queue->recall();
    if (then == Then::Drain) queue->drain();
    if (then == Then::Finish) queue->finish();
    if (then == Then::End) queue.reset();
    const bool must_be_back = then != Then::Nothing && then != Then::Recall;
    while (!must_be_back) {
      const size_t now = released;
      if (now == Queue::kBatch) break;
      released.wait(now);
    }
    fail_unless_equals_uint64(released, Queue::kBatch);
    queue.reset();
    fail_unless_equals_int(FakeGl::get().fences_alive, 0);
  }
}
GST_END_TEST;

GST_START_TEST(a_producer_that_runs_short_has_what_the_gpu_is_done_with) {
  const auto here = std::this_thread::get_id();
  fail_unless(sometimes([&] {
    const Rig rig;
    const auto queue = rig.queue();
    std::atomic<size_t> released_here{0};
    for (size_t i = 0; i < Queue::kBatch; ++i) {
      queue->visit();
      queue->after_gpu_with_others([&] {
        if (std::this_thread::get_id() == here) ++released_here;
      });
    }
    queue->visit();
    queue->recall();
    const bool had_them = released_here == Queue::kBatch && rig.thread->jobs == 0;
    queue->drain();
    return had_them;
  }));
}
GST_END_TEST;

GST_START_TEST(a_visitor_without_fences_changes_nothing) {
  {
    const Rig rig;
    FakeGl::get().on_fence_poll = [] { return false; };
    const auto queue = rig.queue();
    // So that the reaper does not come first.
    std::promise<void> reaper_is_there, reaper_may_go;
    queue->after_gpu([&] {
      reaper_is_there.set_value();
      reaper_may_go.get_future().wait();
    });
    reaper_is_there.get_future().wait();
    FakeGl::get().fences_work = false;
    std::atomic<bool> early{false};
    std::atomic<size_t> released{0};
    const auto give_back = [&] {
      queue->after_gpu_with_others([&] {
        if (FakeGl::get().calls.back() != "finish") early = true;
        ++released;
      });
    };
    for (size_t i = 0; i + 1 < Queue::kBatch; ++i) give_back();
    std::this_thread::sleep_for(Queue::kVisitDelay);
    queue->visit();
    give_back();
    reaper_may_go.set_value();
    queue->drain();
    fail_unless_equals_uint64(released, Queue::kBatch);
    fail_unless(!early);
  }
  const Rig rig;
  const auto queue = rig.queue(std::nullopt);
  queue->visit();
  queue->visitor()();
  bool released = false;
  queue->after_gpu_with_others([&] { released = true; });
  fail_unless(released);
}
GST_END_TEST;

GST_START_TEST(a_visitor_may_outlive_the_queue) {
  const Rig rig;
  auto queue = rig.queue();
  const std::function<void()> visit = queue->visitor();
  for (size_t i = 0; i + 1 < Queue::kBatch; ++i) queue->after_gpu_with_others([] {});
  visit();
  queue.reset();
  visit();
  fail_unless_equals_int(FakeGl::get().fences_alive, 0);
}
GST_END_TEST;

GST_START_TEST(a_frame_that_cannot_wait_saves_the_reaper_the_way_to_the_gl_thread) {
  fail_unless(sometimes([] {
    reset();
    FakeGl::get().on_fence_poll = [] { return false; };
    const auto thread = std::make_shared<GlThreadOfItsOwn>();
    const auto queue = std::make_shared<Queue>(
        thread, std::make_shared<const gl::GlApi>(FakeGl::api()), FakeGl::fence_api());
    std::promise<int> trips_at_release;
    thread->run([&] {
      queue->after_gpu_with_others([&] { trips_at_release.set_value(thread->trips); });
      std::this_thread::sleep_for(Queue::kVisitDelay);
      queue->visit();
    });
    queue->after_gpu([] {});
    const bool saved = trips_at_release.get_future().get() == 2;  // those two
    queue->drain();
    return saved;
  }));
  fail_unless_equals_int(FakeGl::get().fences_alive, 0);
}
GST_END_TEST;

GST_START_TEST(where_gls_own_fence_fails_egls_serves) {
  fail_unless(sometimes([] {
    const Rig rig;
    FakeGl::get().gl_fences_work = false;
    const auto queue = rig.queue();
    std::atomic<size_t> released{0};
    for (size_t i = 0; i < 5 * Queue::kBatch; ++i) {
      queue->visit();
      queue->after_gpu_with_others([&] { ++released; });
    }
    queue->visit();
    queue->drain();
    fail_unless_equals_uint64(released, 5 * Queue::kBatch);
    fail_unless_equals_int(FakeGl::get().fences_alive, 0);
    return rig.thread->jobs == 0;  // a visitor made each, and nobody finished
  }));
}
GST_END_TEST;

// Whatever a release ends may wait for that thread.
GST_START_TEST(nothing_is_released_on_the_gl_thread) {
  reset();
  const auto thread = std::make_shared<GlThreadOfItsOwn>();
  const auto queue = std::make_shared<Queue>(
      thread, std::make_shared<const gl::GlApi>(FakeGl::api()), FakeGl::fence_api());
  std::atomic<size_t> released{0}, there{0};
  constexpr size_t kFrames = 5 * Queue::kBatch;
  for (size_t i = 0; i < kFrames; ++i) {
    const auto release = [&] {
      if (thread->is_current()) ++there;
      ++released;
    };
    const auto frame = [&] {
      queue->visit();
      if (i % 7 == 6)
        queue->after_gpu(release);
      else
        queue->after_gpu_with_others(release);
    };
    // Some consumers give back there, some elsewhere.
    if (i % 3 == 0)
      frame();
    else
      thread->run(frame);
  }
  queue->drain();
  fail_unless_equals_uint64(released, kFrames);
  fail_unless_equals_uint64(there, 0);
  fail_unless_equals_int(FakeGl::get().fences_alive, 0);
}
GST_END_TEST;

// A release that the reaper is in waits for the GL thread, which must not wait for the reaper.
GST_START_TEST(a_queue_may_end_on_the_gl_thread) {
  for (const bool is_visited : {false, true}) {
    reset();
    FakeGl::get().on_fence_poll = [] { return false; };
    const auto thread = std::make_shared<GlThreadOfItsOwn>();
    auto queue = std::make_shared<Queue>(
        thread, std::make_shared<const gl::GlApi>(FakeGl::api()), FakeGl::fence_api());
    std::atomic<size_t> released{0};
    std::promise<void> reaper_is_there;
    uint32_t fences_left = 99;
    queue->after_gpu([&] {
      reaper_is_there.set_value();
      thread->run([] {});
      ++released;
      released.notify_all();
    });
    thread->run([&] {
      reaper_is_there.get_future().wait();
      for (size_t i = 0; i + 1 < Queue::kBatch; ++i)
        queue->after_gpu_with_others([&] {
          thread->run([] {});
          ++released;
          released.notify_all();
        });
      if (is_visited) {
        std::this_thread::sleep_for(Queue::kVisitDelay);
        queue->visit();
      }
      queue.reset();
      fences_left = FakeGl::get().fences_alive;
    });
    // The display may go.
    fail_unless_equals_int(fences_left, 0);
    for (size_t now = released; now < Queue::kBatch; now = released) released.wait(now);
  }
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

// Only a context's own thread can ask for them, and the reaper is another.
GST_START_TEST(gls_own_fences_stay_on_the_gl_thread) {
  enum class Gpu { Done, DoneWhenWaitedFor };
  for (const Gpu gpu : {Gpu::Done, Gpu::DoneWhenWaitedFor}) {
    reset();
    const auto thread = std::make_shared<GlThreadOfItsOwn>();
    std::atomic<size_t> asked{0}, elsewhere{0};
    FakeGl::get().on_gl_fence = [&] {
      ++asked;
      if (!thread->is_current()) ++elsewhere;
    };
    if (gpu == Gpu::DoneWhenWaitedFor) FakeGl::get().on_fence_wait = [] {};
    auto queue = std::make_shared<Queue>(
        thread, std::make_shared<const gl::GlApi>(FakeGl::api()), FakeGl::fence_api());
    std::atomic<size_t> released{0};
    constexpr size_t kFrames = 5 * Queue::kBatch;
    for (size_t i = 0; i < kFrames; ++i) {
      thread->run([&] { queue->visit(); });
      queue->after_gpu_with_others([&] { ++released; });
      if (i % 7 == 6) queue->recall();
    }
    thread->run([&] { queue->visit(); });
    queue.reset();
    fail_unless_equals_uint64(released, kFrames);
    fail_unless(gl_has_fences == (asked > 0));
    fail_unless_equals_uint64(elsewhere, 0);
    fail_unless_equals_int(FakeGl::get().fences_alive, 0);
  }
}
GST_END_TEST;

int main(int argc, char** argv) {
  gst_check_init(&argc, &argv);
  Suite* suite = suite_create("gl_release_queue");
  for (const bool has : {false, true}) {
    TCase* tests = tcase_create(has ? "gl_has_fences" : "egl_has_fences");
    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(
        tests, has ? +[] { gl_has_fences = true; } : +[] {}, nullptr);
    tcase_add_test(tests, a_release_waits_behind_a_flushed_fence);
    tcase_add_test(tests, only_the_small_thread_is_forgotten_by_egl_when_it_has_waited);
    tcase_add_test(tests, a_gpu_that_has_nothing_to_do_is_not_waited_for);
    tcase_add_test(tests, without_fences_of_egl_the_gl_thread_waits_first);
    tcase_add_test(tests, a_fence_that_cannot_be_made_is_replaced_by_waiting);
    tcase_add_test(tests, a_release_may_end_the_queue_that_runs_it);
    tcase_add_test(tests, buffers_that_can_be_spared_share_one_fence);
    tcase_add_test(tests, a_buffer_that_can_be_spared_needs_no_other_to_come_back);
    tcase_add_test(tests, a_buffer_that_cannot_be_spared_takes_the_others_along);
    tcase_add_test(tests, a_producer_that_runs_short_has_them_at_once);
    tcase_add_test(tests, a_producer_that_ran_short_has_the_next_one_at_once);
    tcase_add_test(tests, nothing_is_left_behind_when_a_queue_ends);
    tcase_add_test(tests, who_visits_the_gl_thread_saves_the_trip);
    tcase_add_test(tests, slow_frames_have_their_fence_at_a_visit_too);
    tcase_add_test(tests, visitors_that_come_no_more_are_not_waited_for);
    tcase_add_test(tests, a_visitors_fence_is_waited_for_like_any_other);
    tcase_add_test(tests, nothing_depends_on_who_comes_next);
    tcase_add_test(tests, a_producer_that_runs_short_has_what_the_gpu_is_done_with);
    tcase_add_test(tests, a_visitor_without_fences_changes_nothing);
    tcase_add_test(tests, a_visitor_may_outlive_the_queue);
    tcase_add_test(tests, gls_own_fences_stay_on_the_gl_thread);
    tcase_add_test(tests, a_frame_that_cannot_wait_saves_the_reaper_the_way_to_the_gl_thread);
    tcase_add_test(tests, where_gls_own_fence_fails_egls_serves);
    tcase_add_test(tests, nothing_is_released_on_the_gl_thread);
    tcase_add_test(tests, a_queue_may_end_on_the_gl_thread);
    tcase_add_test(tests, behind_the_end_whoever_gives_back_waits_himself);
  }
  return gst_check_run_suite(suite, "gl_release_queue", __FILE__);
}
