// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
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
// The fence is made on the GL thread, behind everything submitted so far: when somebody is
// there anyway (visit()), or by a trip of ours. Visitors see that it is reached, and whoever
// hands in the next buffer gives these back; a small thread, the reaper, does so for what
// nobody comes for, because the decoder may be waiting for this very surface before there is a
// next frame. Nothing is given back on the GL thread: what ends with a buffer may wait for that
// thread. It orders draws of this context only; consumers in other contexts use GstGLSyncMeta's
// like. Thread-safe.
class ReleaseQueue {
 public:
  using Release = std::function<void()>;

  // The way to the GL thread is most of what a frame without a copy costs. Who has buffers to
  // spare waits for so many, and one fence serves them all…
  static constexpr size_t kBatch = 4;
  // …or for so many more, where visitors make the fence…
  static constexpr size_t kMoreWithVisits = 2;
  // …and for so long, where frames come slowly: a film has one each 42 ms.
  static constexpr std::chrono::milliseconds kVisitDelay{30};
  // What nobody has come for until then is the reaper's: one or two pictures of a film. Shorter
  // than a decoder's patience for a surface to come back (surface::Pool::wait_for_room).
  static constexpr std::chrono::milliseconds kLongestDelay{60};
  // How often the reaper looks, as long as it finds that others do the work: to be woken costs
  // as much as the fence. A decoder that runs short meanwhile recalls; only one whose recall
  // does not arrive may copy a picture.
  static constexpr std::chrono::milliseconds kRarestLook{240};

  // Without EGL fences (GLX, an old driver) the GL thread itself waits.
  ReleaseQueue(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl,
               const std::optional<EglFenceApi>& fences)
      : thread_(std::move(thread)),
        gl_(std::move(gl)),
        state_(fences ? std::make_shared<State>(thread_, gl_, *fences) : nullptr) {}
  // Waits for everything handed in. On the GL thread for the GPU only: a release may need that
  // thread, so the reaper runs them alone.
  ~ReleaseQueue();
  ReleaseQueue(const ReleaseQueue&) = delete;
  ReleaseQueue& operator=(const ReleaseQueue&) = delete;

  // `release` runs once, later, in another thread, or at once in this one.
  void after_gpu(Release release);
  // The same, for buffers of which there are several more: their fence may come with that of
  // the next ones, kBatch of them and kLongestDelay later at the most where nobody visits.
  [[gnu::hot]] void after_gpu_with_others(Release release);
  // Somebody is on the GL thread, with this context current, for a reason of his own: enough
  // that wait for a fence get one, without a trip. May be asked for each map of a texture.
  // GL-thread only.
  void visit();
  // The same, for those who may outlive the queue.
  [[nodiscard]] std::function<void()> visitor() const;
  // A fence for those that wait for others, now: their producer needs them. Where there are
  // none, the next one waits for no others. Not on the GL thread.
  void recall();
  // Returns when everything handed in before has been released. Not on the GL thread.
  void drain();
  // Drains, and has whoever comes later wait himself, but on the GL thread: with the last
  // frame that an application gives back after the stream's end, everything is gone when the
  // call returns. What ended in a thread of ours then ended the EGL display that the next
  // pipeline had just begun to use.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  struct Pending {
    EGLSyncKHR fence = EGL_NO_SYNC_KHR;
    // Or GL's own, of a visitor's: without EGL's two libraries on the way it costs less, but
    // only the GL thread can ask for it.
    GLsync gl_fence = nullptr;
    std::vector<Release> releases;
    Clock::time_point due;  // the reaper's from then on
    bool reached = false;   // and the fence is gone
  };
  // Shared with the reaper, which may outlive this object when a release drops its last owner,
  // and with visitors.
  struct State {
    State(std::shared_ptr<GlThread> gl_thread, std::shared_ptr<const GlApi> gl_api,
          const EglFenceApi& api)
        : gl(std::move(gl_api)), fences(api), thread(std::move(gl_thread)) {}
    const std::shared_ptr<const GlApi> gl;
    const EglFenceApi fences;

    // What each frame needs is in two cache lines: behind a decoder's pixels nothing else of
    // this is in the caches.
    alignas(64) std::mutex lock;
    std::vector<Release> late;     // without a fence so far
    std::vector<Pending> pending;  // with a fence, in the order of the GPU; two or three
    Clock::time_point late_since;
    bool visited = false;    // somebody did, since some of them came
    bool wanted = false;     // recall() found none
    bool came = false;       // some of them did, since the reaper last looked
    bool watching = false;   // it looks after all this when its time has come
    bool hurry = false;      // …or before
    uint32_t releasing = 0;  // threads that run some
    bool stopping = false;
    bool finished = false;
    // Keeps the display that the fences live in. Null: the queue has ended on the GL thread,
    // and has waited for them.
    std::shared_ptr<GlThread> thread;
    std::condition_variable wake;
    std::condition_variable idle;

    [[nodiscard]] bool is_empty() const { return pending.empty() && late.empty(); }
    [[nodiscard]] bool is_idle() const { return is_empty() && releasing == 0; }
    // The next ones with the lock. When the oldest is the reaper's, if there is one.
    [[nodiscard]] Clock::time_point due() const;
    void make_all_due();
    // GL-thread only: which fences are reached. In a thread of the application's, EGL would
    // leave something behind, and free it twice when the process ends meanwhile (libglvnd 1.6).
    [[gnu::hot]] void poll();
    // GL-thread only. One that is reached is deleted.
    [[nodiscard, gnu::hot]] bool is_reached(Pending& each) const;
    // GL-thread only: reached, or with a fence that another thread can wait for; neither, where
    // none can be made.
    void hand_over(Pending& each) const;
    // The same for all that are to be the reaper's next: it need not come here then.
    void hand_over_all();
    // Those that the GPU is done with, for run(); nothing is counted where there are none.
    [[nodiscard, gnu::hot]] std::vector<Release> take_reached();
    [[nodiscard, gnu::hot]] std::vector<Release> take_late();
    // Without the lock. They may end the queue.
    [[gnu::hot]] void run(std::vector<Release> reached);
  };

  enum class Waits { InReaper, Here };
  // A fence behind everything submitted, for all of them.
  void fence(std::vector<Release> releases, Waits waits);
  [[nodiscard]] bool has_reaper();
  [[nodiscard]] bool start();
  // GL-thread only, with the lock.
  [[gnu::hot]] static void fence_late(State& state);
  [[gnu::hot]] static void visit(State& state);
  static void end_on_gl_thread(State& state);
  static void reap(State& state);

  const std::shared_ptr<GlThread> thread_;
  const std::shared_ptr<const GlApi> gl_;
  const std::shared_ptr<State> state_;  // null: no fences
  std::once_flag started_;
  bool running_ = false;  // written once, in started_
  pthread_t reaper_{};
};

}  // namespace dxva::gl
