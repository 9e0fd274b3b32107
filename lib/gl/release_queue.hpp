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
  // spare waits for so many, and one fence serves them all. How many depends on how many their
  // producer can do without, and that on what the screen keeps: the number grows as long as no
  // producer runs short…
  static constexpr size_t kFirstBatch = 4;
  static constexpr size_t kLeastBatch = 2;
  static constexpr size_t kLargestBatch = 8;
  static constexpr uint32_t kBatchesToGrow = 8;
  static constexpr uint32_t kMostBatchesToGrow = 1024;
  // …but no longer than this. Shorter than a decoder's patience for a surface to come back
  // (surface::Pool::wait_for_room): being late costs it a moment, never a copy, even where its
  // recall does not arrive. Long enough for four pictures of a film.
  static constexpr std::chrono::milliseconds kLongestDelay{60};

  // Without EGL fences (GLX, an old driver) the GL thread itself waits.
  ReleaseQueue(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl,
               const std::optional<EglFenceApi>& fences)
      : thread_(std::move(thread)),
        gl_(std::move(gl)),
        state_(fences ? std::make_shared<State>(gl_, *fences) : nullptr) {}
  // Waits for everything handed in, where that is possible: a release may need the GL thread,
  // so that one never waits here.
  ~ReleaseQueue();
  ReleaseQueue(const ReleaseQueue&) = delete;
  ReleaseQueue& operator=(const ReleaseQueue&) = delete;

  // `release` runs once, later, in another thread, or at once in this one.
  void after_gpu(Release release);
  // The same, for buffers of which there are several more: their fence may come with that of
  // the next ones, a batch of them and kLongestDelay later at the most. Nobody waits for the GL
  // thread meanwhile: whoever comes next runs the releases of a batch that the GPU is done
  // with.
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
  // Shared with the reaper, which may outlive this object when a release drops its last owner,
  // and with what was posted to the GL thread. That must not own the thread: the last owner
  // joins it.
  struct State {
    State(std::shared_ptr<const GlApi> gl_api, const EglFenceApi& api)
        : gl(std::move(gl_api)), fences(api) {}
    const std::shared_ptr<const GlApi> gl;
    const EglFenceApi fences;

    std::mutex lock;
    std::condition_variable wake;
    std::condition_variable idle;
    std::deque<Pending> pending;  // the reaper's
    std::vector<Release> late;    // without a fence so far
    Clock::time_point late_until;
    std::optional<Pending> batch;  // no fence: reached. For whoever comes next, or the reaper
    Clock::time_point batch_until;
    bool posted = false;     // a fence for `late` is on its way to the GL thread
    bool fencing = false;    // …which has them now
    bool wanted = false;     // …and their producer waits for them
    bool watching = false;   // the reaper looks after the two when their time has come
    bool hurry = false;      // …or before
    uint32_t releasing = 0;  // threads that run some
    bool stopping = false;
    bool finished = false;
    size_t batch_size = kFirstBatch;
    uint32_t batches = 0;  // since it last changed
    uint32_t batches_to_grow = kBatchesToGrow;

    [[nodiscard]] bool is_idle() const {
      return pending.empty() && late.empty() && !batch && !fencing && !releasing;
    }
    // The next three with the lock. The batch, when the GPU is done with it, for run().
    [[nodiscard]] std::vector<Release> take_reached();
    void count_batch();
    void shrink(size_t wanted_back);
    // They may end the queue.
    void run(std::vector<Release> reached);
  };

  enum class Waits { InReaper, Here };
  // A fence behind everything submitted, for all of them.
  void fence(std::vector<Release> releases, Waits waits);
  [[nodiscard]] bool has_reaper();
  [[nodiscard]] bool start();
  static void fence_late(State& state);
  static void reap(State& state, GlThread& thread);

  const std::shared_ptr<GlThread> thread_;
  const std::shared_ptr<const GlApi> gl_;
  const std::shared_ptr<State> state_;  // null: no fences
  std::once_flag started_;
  bool running_ = false;  // written once, in started_
  pthread_t reaper_{};
};

}  // namespace dxva::gl
