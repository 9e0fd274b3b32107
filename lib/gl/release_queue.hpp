// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "lib/gl/egl_api.hpp"
#include "lib/gl/gl_api.hpp"

namespace dxva::gl {

// Gives a buffer back only when the GPU has read the last of it. The last reference to a
// texture goes when the draw that samples it has been *submitted*; a decoder that writes into
// the buffer then is seen in the picture (28 to 47 of 96 pictures wrong, none with the fence).
//
// The fence is made on the GL thread, behind everything submitted so far, and waited for in a
// small thread of its own: not at the next frame, because the decoder may be waiting for this
// very surface before there is a next frame, and not on the GL thread, which has work to do.
// It orders draws of this context only; consumers in other contexts use GstGLSyncMeta's like.
// Thread-safe.
class ReleaseQueue {
 public:
  // Without EGL fences (GLX, an old driver) the GL thread itself waits.
  ReleaseQueue(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl,
               std::optional<EglFenceApi> fences)
      : thread_(std::move(thread)), gl_(std::move(gl)), fences_(fences) {}
  // Waits for everything handed in.
  ~ReleaseQueue();
  ReleaseQueue(const ReleaseQueue&) = delete;
  ReleaseQueue& operator=(const ReleaseQueue&) = delete;

  // `release` runs once, later, in another thread, or at once in this one.
  void after_gpu(std::function<void()> release);

 private:
  struct Pending {
    EGLSyncKHR fence = EGL_NO_SYNC_KHR;
    std::function<void()> release;
  };

  void wait_on_gl_thread() const;
  void reap();

  const std::shared_ptr<GlThread> thread_;
  const std::shared_ptr<const GlApi> gl_;
  const std::optional<EglFenceApi> fences_;

  std::mutex lock_;
  std::condition_variable wake_;
  std::deque<Pending> pending_;
  bool stopping_ = false;
  std::thread reaper_;
};

}  // namespace dxva::gl
