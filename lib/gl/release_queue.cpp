// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/release_queue.hpp"

#include <cstring>

#include "lib/base/log.hpp"

namespace dxva::gl {

ReleaseQueue::~ReleaseQueue() {
  if (!running_) return;
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

void ReleaseQueue::wait_on_gl_thread() const {
  thread_->run([this] {
    if (!gl_->sync) {
      gl_->Finish();
      return;
    }
    const GLsync fence = gl_->sync->FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    (void)gl_->sync->ClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, GL_TIMEOUT_IGNORED);
    gl_->sync->DeleteSync(fence);
  });
}

void ReleaseQueue::after_gpu(std::function<void()> release) {
  EGLSyncKHR fence = EGL_NO_SYNC_KHR;
  bool is_done = false;
  if (state_) {
    const bool may_release_here = !thread_->is_current();
    thread_->run([&] {
      const EglFenceApi& egl = state_->fences;
      fence = egl.CreateSync(egl.display, EGL_SYNC_FENCE_KHR, nullptr);
      // A waiter in another thread cannot flush this context: unflushed, the fence is never
      // reached.
      gl_->Flush();
      if (fence == EGL_NO_SYNC_KHR || !may_release_here) return;
      is_done = egl.ClientWaitSync(egl.display, fence, 0, 0) == EGL_CONDITION_SATISFIED_KHR;
      if (is_done) egl.DestroySync(egl.display, fence);
    });
  }
  // A GPU that has nothing to do any more: no reason to wake another thread.
  if (is_done) {
    release();
    return;
  }
  if (fence != EGL_NO_SYNC_KHR) {
    std::call_once(started_, [this] { running_ = start(); });
    if (!running_) {
      state_->fences.DestroySync(state_->fences.display, fence);
      fence = EGL_NO_SYNC_KHR;
    }
  }
  if (fence == EGL_NO_SYNC_KHR) {
    wait_on_gl_thread();
    release();
    return;
  }
  // Once it is pushed the release may run, and end this queue: only the copy is touched then.
  const std::shared_ptr<State> state = state_;
  {
    const std::lock_guard guard(state->lock);
    state->pending.push_back({.fence = fence, .release = std::move(release)});
  }
  state->wake.notify_one();
}

void ReleaseQueue::drain() {
  if (!state_) return;
  std::unique_lock guard(state_->lock);
  state_->idle.wait(guard, [this] { return state_->pending.empty() && !state_->releasing; });
}

void ReleaseQueue::reap(State& state) {
  const EglFenceApi& egl = state.fences;
  std::unique_lock guard(state.lock);
  for (;;) {
    state.wake.wait(guard, [&] { return state.stopping || !state.pending.empty(); });
    if (state.pending.empty()) return;
    Pending next = std::move(state.pending.front());
    state.pending.pop_front();
    state.releasing = true;
    guard.unlock();
    // For ever: a time-out would hand out a buffer that is being read. A lost context answers
    // with an error at once.
    if (egl.ClientWaitSync(egl.display, next.fence, 0, EGL_FOREVER_KHR) == EGL_FALSE)
      DXVA_WARNING(Gl, "waiting for the GPU failed; the buffer goes back all the same");
    egl.DestroySync(egl.display, next.fence);
    next.release();
    next.release = nullptr;  // what it holds is dropped outside the lock
    guard.lock();
    state.releasing = false;
    if (state.pending.empty()) state.idle.notify_all();
  }
}

}  // namespace dxva::gl
