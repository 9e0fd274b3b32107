// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/release_queue.hpp"

#include "lib/base/log.hpp"

namespace dxva::gl {

ReleaseQueue::~ReleaseQueue() {
  {
    const std::lock_guard guard(lock_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (reaper_.joinable()) reaper_.join();
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
  if (fences_) {
    thread_->run([&] {
      fence = fences_->CreateSync(fences_->display, EGL_SYNC_FENCE_KHR, nullptr);
      // A waiter in another thread cannot flush this context: unflushed, the fence is never
      // reached.
      gl_->Flush();
    });
  }
  if (fence == EGL_NO_SYNC_KHR) {
    wait_on_gl_thread();
    release();
    return;
  }
  {
    const std::lock_guard guard(lock_);
    pending_.push_back({.fence = fence, .release = std::move(release)});
    if (!reaper_.joinable()) reaper_ = std::thread([this] { reap(); });
  }
  wake_.notify_one();
}

void ReleaseQueue::reap() {
  std::unique_lock guard(lock_);
  for (;;) {
    wake_.wait(guard, [this] { return stopping_ || !pending_.empty(); });
    if (pending_.empty()) return;
    Pending next = std::move(pending_.front());
    pending_.pop_front();
    guard.unlock();
    // For ever: a time-out would hand out a buffer that is being read. A lost context answers
    // with an error at once.
    if (fences_->ClientWaitSync(fences_->display, next.fence, 0, EGL_FOREVER_KHR) == EGL_FALSE)
      DXVA_WARNING(Gl, "waiting for the GPU failed; the buffer goes back all the same");
    fences_->DestroySync(fences_->display, next.fence);
    next.release();
    next.release = nullptr;  // what it holds is dropped outside the lock
    guard.lock();
  }
}

}  // namespace dxva::gl
