// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/release_queue.hpp"

#include <cstring>
#include <utility>

#include "lib/base/log.hpp"

namespace dxva::gl {
namespace {

void wait_on_gl_thread(GlThread& thread, const GlApi& gl) {
  thread.run([&] {
    if (!gl.sync) {
      gl.Finish();
      return;
    }
    const GLsync fence = gl.sync->FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    (void)gl.sync->ClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, GL_TIMEOUT_IGNORED);
    gl.sync->DeleteSync(fence);
  });
}

// Nothing: no fence can be made.
EGLSyncKHR make_fence(const EglFenceApi& egl, const GlApi& gl) {
  const EGLSyncKHR fence = egl.CreateSync(egl.display, EGL_SYNC_FENCE_KHR, nullptr);
  // A waiter in another thread cannot flush this context: unflushed, the fence is never
  // reached.
  gl.Flush();
  return fence;
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
  auto* state = new std::shared_ptr<State>(state_);
  const int failed = pthread_create(
      &reaper_, nullptr,
      [](void* data) -> void* {
        const std::unique_ptr<std::shared_ptr<State>> mine(
            static_cast<std::shared_ptr<State>*>(data));
        reap(**mine);
        return nullptr;
      },
      state);
  if (failed == 0) {
    // Else it has the name of the streaming thread that came here first.
    pthread_setname_np(reaper_, "dxva-release");
    return true;
  }
  delete state;
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
      is_done = egl.ClientWaitSync(egl.display, fence, 0, 0) == EGL_CONDITION_SATISFIED_KHR;
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

void ReleaseQueue::after_gpu_with_others(Release release) {
  if (!state_ || !has_reaper()) {
    after_gpu(std::move(release));
    return;
  }
  const std::shared_ptr<State> state = state_;
  bool wake = false;
  {
    const std::lock_guard guard(state->lock);
    if (!state->finished && state->late.size() + 1 < kBatch) {
      if (state->late.empty()) state->late_until = Clock::now() + kLongestDelay;
      state->late.push_back(std::move(release));
      // It watches on its own from one batch to the next: waking it costs more than the fence.
      wake = !std::exchange(state->watching, true);
    }
  }
  if (release)
    after_gpu(std::move(release));
  else if (wake)
    state->wake.notify_one();
}

void ReleaseQueue::recall() {
  if (!state_) return;
  std::vector<Release> late;
  {
    const std::lock_guard guard(state_->lock);
    late.swap(state_->late);
  }
  if (!late.empty()) fence(std::move(late), Waits::InReaper);
}

void ReleaseQueue::drain() {
  if (!state_) return;
  std::unique_lock guard(state_->lock);
  if (!state_->late.empty()) {
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

void ReleaseQueue::reap(State& state) {
  std::unique_lock guard(state.lock);
  for (;;) {
    const auto has_work = [&] {
      return state.stopping || !state.pending.empty() || (state.hurry && !state.late.empty());
    };
    if (state.late.empty()) {
      state.hurry = false;
      if (state.watching) {
        // Whoever comes meanwhile need not wake it: it looks again in time for them.
        state.wake.wait_for(guard, kLongestDelay, has_work);
        state.watching = !state.late.empty();
      } else {
        state.wake.wait(guard, [&] { return has_work() || state.watching; });
      }
    }
    if (!state.late.empty() && !has_work()) {
      const Clock::time_point until = state.late_until;
      state.wake.wait_until(guard, until, has_work);
      // Fenced by others meanwhile, and these are newer ones.
      if (!has_work() && (state.late.empty() || state.late_until != until)) continue;
    }
    Pending next;
    if (!state.pending.empty()) {
      next = std::move(state.pending.front());
      state.pending.pop_front();
    } else if (!state.late.empty()) {
      next.releases.swap(state.late);
    } else if (state.stopping) {
      return;
    } else {
      continue;
    }
    state.releasing = true;
    guard.unlock();
    if (next.fence == EGL_NO_SYNC_KHR)
      state.thread->run([&] { next.fence = make_fence(state.fences, *state.gl); });
    if (next.fence != EGL_NO_SYNC_KHR)
      wait_for(state.fences, next.fence);
    else
      wait_on_gl_thread(*state.thread, *state.gl);
    run_all(std::move(next.releases));
    guard.lock();
    state.releasing = false;
    if (state.is_idle()) state.idle.notify_all();
  }
}

}  // namespace dxva::gl
