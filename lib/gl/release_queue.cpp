// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/release_queue.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/base/log.hpp"

namespace dxva::gl {
namespace {

// GL-thread only.
void wait_here(const GlApi& gl) {
  if (!gl.sync) {
    gl.Finish();
    return;
  }
  const GLsync fence = gl.sync->FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  (void)gl.sync->ClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, GL_TIMEOUT_IGNORED);
  gl.sync->DeleteSync(fence);
}

void wait_on_gl_thread(GlThread& thread, const GlApi& gl) {
  thread.run([&] { wait_here(gl); });
}

// Nothing: no fence can be made.
EGLSyncKHR make_fence(const EglFenceApi& egl, const GlApi& gl) {
  const EGLSyncKHR fence = egl.CreateSync(egl.display, EGL_SYNC_FENCE_KHR, nullptr);
  // A waiter in another thread cannot flush this context: unflushed, the fence is never
  // reached.
  gl.Flush();
  return fence;
}

bool is_reached(const EglFenceApi& egl, EGLSyncKHR fence) {
  return egl.ClientWaitSync(egl.display, fence, 0, 0) == EGL_CONDITION_SATISFIED_KHR;
}

// For ever: a time-out would hand out a buffer that is being read. A lost context answers with
// an error at once.
void wait_for(const EglFenceApi& egl, EGLSyncKHR fence) {
  if (egl.ClientWaitSync(egl.display, fence, 0, EGL_FOREVER_KHR) == EGL_FALSE)
    DXVA_WARNING(Gl, "waiting for the GPU failed; the buffer goes back all the same");
  egl.DestroySync(egl.display, fence);
}

void run_all(std::vector<ReleaseQueue::Release> releases) {
  // What each holds is dropped before the next one runs.
  for (ReleaseQueue::Release& release : releases) std::exchange(release, nullptr)();
}

}  // namespace

ReleaseQueue::~ReleaseQueue() {
  if (!running_) return;
  std::vector<Release> late;
  {
    const std::lock_guard guard(state_->lock);
    // The reaper would come here for their fence, and be waited for.
    if (thread_->is_current()) late.swap(state_->late);
  }
  if (!late.empty()) fence(std::move(late), Waits::InReaper);
  {
    const std::lock_guard guard(state_->lock);
    state_->stopping = true;
  }
  state_->wake.notify_one();
  // A release may have dropped the last owner: the reaper ends when it comes back from there.
  if (pthread_equal(reaper_, pthread_self()))
    pthread_detach(reaper_);
  else
    pthread_join(reaper_, nullptr);
}

// Not std::thread: where no thread can be had (a container's limit), that throws, and nothing
// here can catch.
bool ReleaseQueue::start() {
  struct Mine {
    std::shared_ptr<GlThread> thread;  // keeps the display that the fences live in
    std::shared_ptr<State> state;
  };
  auto* mine = new Mine{.thread = thread_, .state = state_};
  const int failed = pthread_create(
      &reaper_, nullptr,
      [](void* data) -> void* {
        const std::unique_ptr<Mine> own(static_cast<Mine*>(data));
        reap(*own->state, *own->thread);
        return nullptr;
      },
      mine);
  if (failed == 0) {
    // Else it has the name of the streaming thread that came here first.
    pthread_setname_np(reaper_, "dxva-release");
    return true;
  }
  delete mine;
  DXVA_WARNING(Gl, "no thread for releases (%s): the GL thread waits instead",
               std::strerror(failed));
  return false;
}

bool ReleaseQueue::has_reaper() {
  std::call_once(started_, [this] { running_ = start(); });
  return running_;
}

void ReleaseQueue::fence(std::vector<Release> releases, Waits waits) {
  EGLSyncKHR fence = EGL_NO_SYNC_KHR;
  bool is_done = false;
  if (state_) {
    const bool may_release_here = !thread_->is_current();
    thread_->run([&] {
      const EglFenceApi& egl = state_->fences;
      fence = make_fence(egl, *gl_);
      if (fence == EGL_NO_SYNC_KHR || !may_release_here) return;
      is_done = is_reached(egl, fence);
      if (is_done) egl.DestroySync(egl.display, fence);
    });
    if (may_release_here && waits == Waits::Here && fence != EGL_NO_SYNC_KHR && !is_done) {
      wait_for(state_->fences, fence);
      is_done = true;
    }
  }
  // A GPU that has nothing to do any more: no reason to wake another thread.
  if (is_done) {
    run_all(std::move(releases));
    return;
  }
  if (fence != EGL_NO_SYNC_KHR && !has_reaper()) {
    state_->fences.DestroySync(state_->fences.display, fence);
    fence = EGL_NO_SYNC_KHR;
  }
  if (fence == EGL_NO_SYNC_KHR) {
    wait_on_gl_thread(*thread_, *gl_);
    run_all(std::move(releases));
    return;
  }
  // Once it is pushed the releases may run, and end this queue: only the copy is touched then.
  const std::shared_ptr<State> state = state_;
  {
    const std::lock_guard guard(state->lock);
    state->pending.push_back({.fence = fence, .releases = std::move(releases)});
  }
  state->wake.notify_one();
}

void ReleaseQueue::after_gpu(Release release) {
  Waits waits = Waits::InReaper;
  std::vector<Release> releases;
  if (state_) {
    const std::lock_guard guard(state_->lock);
    if (state_->finished) waits = Waits::Here;
    releases.swap(state_->late);
  }
  releases.push_back(std::move(release));
  fence(std::move(releases), waits);
}

std::vector<ReleaseQueue::Release> ReleaseQueue::State::take_reached() {
  if (!batch) return {};
  if (batch->fence != EGL_NO_SYNC_KHR) {
    if (!is_reached(fences, batch->fence)) return {};
    fences.DestroySync(fences.display, batch->fence);
  }
  std::vector<Release> reached = std::move(batch->releases);
  batch.reset();
  ++releasing;
  return reached;
}

void ReleaseQueue::State::run(std::vector<Release> reached) {
  if (reached.empty()) return;
  run_all(std::move(reached));
  const std::lock_guard guard(lock);
  --releasing;
  if (is_idle()) idle.notify_all();
}

void ReleaseQueue::State::count_batch() {
  if (++batches < batches_to_grow || batch_size >= kLargestBatch) return;
  ++batch_size;
  batches = 0;
}

// So many of ours were out when a producer ran short: one less, and it would not have. Each
// time it takes longer before more are tried again.
void ReleaseQueue::State::shrink(size_t wanted_back) {
  const size_t fits = std::max(wanted_back, kLeastBatch + 1) - 1;
  if (fits >= batch_size) return;
  batch_size = fits;
  batches = 0;
  batches_to_grow = std::min(batches_to_grow * 2, kMostBatchesToGrow);
}

void ReleaseQueue::after_gpu_with_others(Release release) {
  if (!state_ || !has_reaper()) {
    after_gpu(std::move(release));
    return;
  }
  const std::shared_ptr<State> state = state_;
  std::vector<Release> reached;
  bool post = false;
  bool wake = false;
  {
    const std::lock_guard guard(state->lock);
    if (!state->finished) {
      if (state->batch) {
        // What a release ends may wait for the GL thread: none runs there.
        if (thread_->is_current())
          state->hurry = wake = true;
        else
          reached = state->take_reached();
      }
      if (state->late.empty()) {
        state->late.reserve(kLargestBatch);
        state->late_until = Clock::now() + kLongestDelay;
      }
      state->late.push_back(std::move(release));
      post = state->late.size() >= state->batch_size && !state->batch &&
             !std::exchange(state->posted, true);
      // It watches on its own from one batch to the next: waking it costs more than the fence.
      if (!std::exchange(state->watching, true)) wake = true;
    }
  }
  if (release)
    after_gpu(std::move(release));
  else if (post)
    thread_->post([state] { fence_late(*state); });
  if (wake) state->wake.notify_one();
  state->run(std::move(reached));
}

// GL-thread only.
void ReleaseQueue::fence_late(State& state) {
  Pending fenced;
  {
    const std::lock_guard guard(state.lock);
    // Else they have had a fence meanwhile.
    state.fencing = !state.late.empty();
    state.posted = state.fencing;
    if (!state.fencing) return;
    fenced.releases.swap(state.late);
    state.count_batch();
  }
  fenced.fence = make_fence(state.fences, *state.gl);
  if (fenced.fence == EGL_NO_SYNC_KHR) {
    wait_here(*state.gl);
  } else if (is_reached(state.fences, fenced.fence)) {
    state.fences.DestroySync(state.fences.display, fenced.fence);
    fenced.fence = EGL_NO_SYNC_KHR;
  }
  const std::lock_guard guard(state.lock);
  state.posted = false;
  state.fencing = false;
  state.batch = std::move(fenced);
  state.batch_until = Clock::now() + kLongestDelay;
  if (std::exchange(state.wanted, false) || state.hurry || state.stopping) {
    state.hurry = true;
    state.wake.notify_one();
  }
}

void ReleaseQueue::recall() {
  if (!state_) return;
  const std::shared_ptr<State> state = state_;
  std::vector<Release> late;
  std::vector<Release> reached;
  {
    const std::lock_guard guard(state->lock);
    const size_t fenced = state->batch ? state->batch->releases.size() : 0;
    if (fenced + state->late.size() > 0) state->shrink(fenced + state->late.size());
    late.swap(state->late);
    reached = state->take_reached();
    if (state->batch) {
      state->hurry = true;
      state->wake.notify_one();
    }
    state->wanted = state->fencing;
  }
  if (!late.empty()) fence(std::move(late), Waits::InReaper);
  state->run(std::move(reached));
}

void ReleaseQueue::drain() {
  if (!state_) return;
  std::unique_lock guard(state_->lock);
  if (!state_->late.empty() || state_->batch || state_->fencing) {
    state_->hurry = true;
    state_->wake.notify_one();
  }
  state_->idle.wait(guard, [this] { return state_->is_idle(); });
}

void ReleaseQueue::finish() {
  if (!state_) return;
  {
    const std::lock_guard guard(state_->lock);
    state_->finished = true;
  }
  drain();
}

void ReleaseQueue::reap(State& state, GlThread& thread) {
  std::unique_lock guard(state.lock);
  for (;;) {
    const auto has_work = [&] {
      return (state.stopping && !state.fencing) || !state.pending.empty() ||
             (state.hurry && (state.batch || !state.late.empty()));
    };
    // When what is left to others is to be looked after here.
    const auto until = [&]() -> std::optional<Clock::time_point> {
      std::optional<Clock::time_point> first;
      if (!state.late.empty()) first = state.late_until;
      if (state.batch) first = first ? std::min(*first, state.batch_until) : state.batch_until;
      return first;
    };
    const auto due = until();
    if (!due) {
      state.hurry = state.hurry && state.fencing;
      if (state.watching) {
        // Whoever comes meanwhile need not wake it: it looks again in time for them.
        state.wake.wait_for(guard, kLongestDelay, has_work);
        state.watching = until().has_value() || state.fencing;
      } else {
        state.wake.wait(guard, [&] { return has_work() || state.watching; });
      }
      if (!has_work()) continue;
    } else if (!has_work() && !state.wake.wait_until(guard, *due, has_work)) {
      // Others have seen to them meanwhile, and these are newer ones.
      const auto now_due = until();
      if (!now_due || *now_due > *due) continue;
    }
    Pending next;
    if (!state.pending.empty()) {
      next = std::move(state.pending.front());
      state.pending.pop_front();
    } else if (state.batch) {
      std::vector<Release> reached = state.take_reached();
      if (!reached.empty()) {
        guard.unlock();
        state.run(std::move(reached));
        guard.lock();
        continue;
      }
      next = std::move(*state.batch);
      state.batch.reset();
    } else if (!state.late.empty()) {
      next.releases.swap(state.late);
    } else if (state.stopping && !state.fencing) {
      return;
    } else {
      continue;
    }
    ++state.releasing;
    guard.unlock();
    if (next.fence == EGL_NO_SYNC_KHR)
      thread.run([&] { next.fence = make_fence(state.fences, *state.gl); });
    if (next.fence != EGL_NO_SYNC_KHR)
      wait_for(state.fences, next.fence);
    else
      wait_on_gl_thread(thread, *state.gl);
    run_all(std::move(next.releases));
    guard.lock();
    --state.releasing;
    if (state.is_idle()) state.idle.notify_all();
  }
}

}  // namespace dxva::gl
