// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

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
  using Release = std::function<void()>;

  // The way to the GL thread is most of what a frame without a copy costs. Who has buffers to
  // spare waits for so many, and one fence serves them all…
  static constexpr size_t kBatch = 4;
  // …but no longer than this. Shorter than a decoder's patience for a surface to come back
  // (surface::Pool::wait_for_room): being late costs it a moment, never a copy, even where its
  // recall does not arrive. Long enough for four pictures of a film.
  static constexpr std::chrono::milliseconds kLongestDelay{60};

  // Without EGL fences (GLX, an old driver) the GL thread itself waits.
  ReleaseQueue(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl,
               const std::optional<EglFenceApi>& fences)
      : thread_(std::move(thread)),
        gl_(std::move(gl)),
        state_(fences ? std::make_shared<State>(thread_, gl_, *fences) : nullptr) {}
  // Waits for everything handed in, where that is possible: a release may need the GL thread,
  // so that one never waits here.
  ~ReleaseQueue();
  ReleaseQueue(const ReleaseQueue&) = delete;
  ReleaseQueue& operator=(const ReleaseQueue&) = delete;

  // `release` runs once, later, in another thread, or at once in this one.
  void after_gpu(Release release);
  // The same, for buffers of which there are several more: their fence may come with that of
  // the next ones, kBatch of them and kLongestDelay later at the most.
  void after_gpu_with_others(Release release);
  // A fence for those that wait for others, now: their producer needs them. Not on the GL
  // thread.
  void recall();
  // Returns when everything handed in before has been released. Not on the GL thread.
  void drain();
  // Drains, and has whoever comes later wait himself, but on the GL thread: with the last
  // frame that an application gives back after the stream's end, everything is gone when the
  // call returns. What ended in a thread of ours then ended the EGL display that the next
  // pipeline had just begun to use.
  void finish();

 private:
  struct Pending {
    EGLSyncKHR fence = EGL_NO_SYNC_KHR;
    std::vector<Release> releases;
  };
  using Clock = std::chrono::steady_clock;
  // Shared with the reaper, which may outlive this object when a release drops its last owner.
  struct State {
    State(std::shared_ptr<GlThread> gl_thread, std::shared_ptr<const GlApi> gl_api,
          const EglFenceApi& api)
        : thread(std::move(gl_thread)), gl(std::move(gl_api)), fences(api) {}
    const std::shared_ptr<GlThread> thread;  // keeps the display that the fences live in
    const std::shared_ptr<const GlApi> gl;
    const EglFenceApi fences;

    std::mutex lock;
    std::condition_variable wake;
    std::condition_variable idle;
    std::deque<Pending> pending;
    std::vector<Release> late;  // without a fence so far
    Clock::time_point late_until;
    bool watching = false;  // the reaper looks after `late` when its time has come
    bool hurry = false;     // …or before
    bool releasing = false;
    bool stopping = false;
    bool finished = false;

    [[nodiscard]] bool is_idle() const { return pending.empty() && late.empty() && !releasing; }
  };

  enum class Waits { InReaper, Here };
  // A fence behind everything submitted, for all of them.
  void fence(std::vector<Release> releases, Waits waits);
  [[nodiscard]] bool has_reaper();
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
