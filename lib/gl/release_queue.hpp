// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

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
               const std::optional<EglFenceApi>& fences)
      : thread_(std::move(thread)),
        gl_(std::move(gl)),
        state_(fences ? std::make_shared<State>(thread_, *fences) : nullptr) {}
  // Waits for everything handed in, where that is possible: a release may need the GL thread,
  // so that one never waits here.
  ~ReleaseQueue();
  ReleaseQueue(const ReleaseQueue&) = delete;
  ReleaseQueue& operator=(const ReleaseQueue&) = delete;

  // `release` runs once, later, in another thread, or at once in this one.
  void after_gpu(std::function<void()> release);
  // Returns when everything handed in before has been released. Not on the GL thread.
  void drain();

 private:
  struct Pending {
    EGLSyncKHR fence = EGL_NO_SYNC_KHR;
    std::function<void()> release;
  };
  // Shared with the reaper, which may outlive this object when a release drops its last owner.
  struct State {
    State(std::shared_ptr<GlThread> gl_thread, const EglFenceApi& api)
        : thread(std::move(gl_thread)), fences(api) {}
    const std::shared_ptr<GlThread> thread;  // keeps the display that the fences live in
    const EglFenceApi fences;

    std::mutex lock;
    std::condition_variable wake;
    std::condition_variable idle;
    std::deque<Pending> pending;
    bool releasing = false;
    bool stopping = false;
  };

  void wait_on_gl_thread() const;
  [[nodiscard]] bool start();
  static void reap(State& state);

  const std::shared_ptr<GlThread> thread_;
  const std::shared_ptr<const GlApi> gl_;
  const std::shared_ptr<State> state_;  // null: no fences
  std::once_flag started_;
  bool running_ = false;  // written once, in started_
  pthread_t reaper_{};
};

}  // namespace dxva::gl
