// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/release_queue.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "lib/base/log.hpp"

namespace dxva::gl {
namespace {

// GL-thread only. Deletes it.
void wait_here(const GlApi& gl, GLsync fence) {
  (void)gl.sync->ClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, GL_TIMEOUT_IGNORED);
  gl.sync->DeleteSync(fence);
}

// GL-thread only.
void wait_here(const GlApi& gl) {
  const GLsync fence = gl.sync ? gl.sync->FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0) : nullptr;
  if (fence)
    wait_here(gl, fence);
  else
    gl.Finish();
}

void wait_on_gl_thread(GlThread& thread, const GlApi& gl) {
  thread.run([&] { wait_here(gl); });
}

// Nothing: no fence can be made.
[[gnu::hot]] EGLSyncKHR make_fence(const EglFenceApi& egl, const GlApi& gl) {
  const EGLSyncKHR fence = egl.CreateSync(egl.display, EGL_SYNC_FENCE_KHR, nullptr);
  // A waiter in another thread cannot flush this context: unflushed, the fence is never
  // reached.
  gl.Flush();
  return fence;
}

[[gnu::hot]] bool is_reached(const EglFenceApi& egl, EGLSyncKHR fence) {
  return egl.ClientWaitSync(egl.display, fence, 0, 0) == EGL_CONDITION_SATISFIED_KHR;
}

// Nothing: no fence can be made.
[[gnu::hot]] GLsync make_gl_fence(const GlApi& gl) {
  if (!gl.sync) return nullptr;
  const GLsync fence = gl.sync->FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  gl.Flush();
  return fence;
}

[[gnu::hot]] bool is_reached(const GlApi& gl, GLsync fence) {
  const GLenum answer = gl.sync->ClientWaitSync(fence, 0, 0);
  return answer == GL_ALREADY_SIGNALED || answer == GL_CONDITION_SATISFIED;
}

// For ever: a time-out would hand out a buffer that is being read. A lost context answers with
// an error at once.
void wait_for(const EglFenceApi& egl, EGLSyncKHR fence) {
  if (egl.ClientWaitSync(egl.display, fence, 0, EGL_FOREVER_KHR) == EGL_FALSE)
    DXVA_WARNING(Gl, "waiting for the GPU failed; the buffer goes back all the same");
  egl.DestroySync(egl.display, fence);
}

// libglvnd keeps a record of each thread that has called EGL, until the thread ends, and frees
// it twice when the process ends at that moment. The reaper is not always joined. Not for
// threads of others, which may have a context.
void forget_this_thread(const EglFenceApi& egl) {
  if (egl.ReleaseThread) (void)egl.ReleaseThread();
}

[[gnu::hot]] void run_all(std::vector<ReleaseQueue::Release> releases) {
  // What each holds is dropped before the next one runs.
  for (ReleaseQueue::Release& release : releases) std::exchange(release, nullptr)();
}

}  // namespace

ReleaseQueue::~ReleaseQueue() {
  if (!running_) return;
  if (thread_->is_current()) {
    end_on_gl_thread(*state_);
    pthread_detach(reaper_);
    return;
  }
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

// The reaper may be in a release that waits for this thread: it is not waited for, and needs
// OpenGL no more. It must not be left with the context either: whoever has the last of it ends
// the display that the next pipeline may have begun to use.
void ReleaseQueue::end_on_gl_thread(State& state) {
  std::vector<Pending> fenced;
  {
    const std::lock_guard guard(state.lock);
    if (!state.late.empty()) fence_late(state);
    fenced.swap(state.pending);
  }
  for (Pending& each : fenced) {
    if (each.reached) continue;
    if (each.gl_fence)
      wait_here(*state.gl, std::exchange(each.gl_fence, nullptr));
    else if (each.fence == EGL_NO_SYNC_KHR)
      wait_here(*state.gl);
    else
      wait_for(state.fences, std::exchange(each.fence, EGL_NO_SYNC_KHR));
  }
  {
    const std::lock_guard guard(state.lock);
    state.pending = std::move(fenced);
    state.thread = nullptr;
    state.stopping = true;
  }
  state.wake.notify_one();
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
  const std::shared_ptr<State> state = state_;
  EGLSyncKHR fence = EGL_NO_SYNC_KHR;
  bool is_done = false;
  if (state_) {
    const bool may_release_here = !thread_->is_current();
    thread_->run([&] {
      const EglFenceApi& egl = state_->fences;
      fence = make_fence(egl, *gl_);
      if (fence == EGL_NO_SYNC_KHR) return;
      is_done = may_release_here && is_reached(egl, fence);
      if (is_done) egl.DestroySync(egl.display, fence);
      const std::lock_guard guard(state->lock);
      if (is_done)
        state->poll();
      else
        state->hand_over_all();
    });
    if (may_release_here && waits == Waits::Here && fence != EGL_NO_SYNC_KHR && !is_done) {
      wait_for(state_->fences, fence);
      is_done = true;
    }
  }
  // A GPU that has nothing to do any more: no reason to wake another thread.
  if (is_done) {
    // And what was there before is done, too.
    std::vector<Release> before;
    {
      const std::lock_guard guard(state->lock);
      before = state->take_reached();
    }
    state->run(std::move(before));
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
  {
    const std::lock_guard guard(state->lock);
    state->pending.push_back({.fence = fence, .releases = std::move(releases), .due = {}});
    state->make_all_due();
  }
  state->wake.notify_one();
}

void ReleaseQueue::after_gpu(Release release) {
  Waits waits = Waits::InReaper;
  std::vector<Release> releases;
  if (state_) {
    const std::lock_guard guard(state_->lock);
    if (state_->finished) waits = Waits::Here;
    releases = state_->take_late();
  }
  releases.push_back(std::move(release));
  fence(std::move(releases), waits);
}

ReleaseQueue::Clock::time_point ReleaseQueue::State::due() const {
  // Those with a fence came before those without.
  return pending.empty() ? late_since + kLongestDelay : pending.front().due;
}

void ReleaseQueue::State::make_all_due() {
  const Clock::time_point now = Clock::now();
  for (Pending& each : pending) each.due = now;
}

void ReleaseQueue::State::poll() {
  for (Pending& each : pending) {
    if (!each.reached) each.reached = is_reached(each);
    if (!each.reached) return;
  }
}

bool ReleaseQueue::State::is_reached(Pending& each) const {
  if (each.gl_fence) {
    if (!gl::is_reached(*gl, each.gl_fence)) return false;
    gl->sync->DeleteSync(std::exchange(each.gl_fence, nullptr));
    return true;
  }
  if (each.fence == EGL_NO_SYNC_KHR || !gl::is_reached(fences, each.fence)) return false;
  fences.DestroySync(fences.display, std::exchange(each.fence, EGL_NO_SYNC_KHR));
  return true;
}

void ReleaseQueue::State::hand_over_all() {
  for (Pending& each : pending)
    if (each.gl_fence) hand_over(each);
}

void ReleaseQueue::State::hand_over(Pending& each) const {
  if (each.gl_fence) {
    each.reached = is_reached(each);
    if (each.reached) return;
    gl->sync->DeleteSync(std::exchange(each.gl_fence, nullptr));
  }
  each.fence = make_fence(fences, *gl);
}

std::vector<ReleaseQueue::Release> ReleaseQueue::State::take_reached() {
  std::vector<Release> reached;
  while (!pending.empty() && pending.front().reached) {
    std::ranges::move(pending.front().releases, std::back_inserter(reached));
    pending.erase(pending.begin());
  }
  if (!reached.empty()) ++releasing;
  return reached;
}

std::vector<ReleaseQueue::Release> ReleaseQueue::State::take_late() {
  visited = false;
  return std::exchange(late, {});
}

void ReleaseQueue::State::run(std::vector<Release> reached) {
  if (reached.empty()) return;
  run_all(std::move(reached));
  const std::lock_guard guard(lock);
  --releasing;
  if (is_idle()) idle.notify_all();
}

void ReleaseQueue::after_gpu_with_others(Release release) {
  if (!state_ || !has_reaper()) {
    after_gpu(std::move(release));
    return;
  }
  const std::shared_ptr<State> state = state_;
  std::vector<Release> reached;
  bool wake = false;
  {
    const std::lock_guard guard(state->lock);
    // Asked only where it matters.
    const bool is_gl_thread =
        (!state->pending.empty() || state->late.size() + 1 >= kBatch) && thread_->is_current();
    const size_t most = kBatch + (state->visited && !is_gl_thread ? kMoreWithVisits : 0);
    const bool is_wanted = std::exchange(state->wanted, false);
    if (!state->finished && !is_wanted && state->late.size() + 1 < most) {
      if (state->late.empty()) {
        state->late.reserve(kBatch + kMoreWithVisits);
        state->late_since = Clock::now();
      }
      state->late.push_back(std::move(release));
      state->came = true;
      // It watches on its own from one batch to the next: waking it costs more than the fence.
      wake = !std::exchange(state->watching, true);
      if (!is_gl_thread) {
        reached = state->take_reached();
      } else if (!state->pending.empty()) {
        state->make_all_due();
        wake = true;
      }
    }
  }
  if (release) after_gpu(std::move(release));
  if (wake) state->wake.notify_one();
  state->run(std::move(reached));
}

void ReleaseQueue::fence_late(State& state) {
  const Clock::time_point now = Clock::now();
  const GLsync gl_fence = make_gl_fence(*state.gl);
  const EGLSyncKHR fence = gl_fence ? EGL_NO_SYNC_KHR : make_fence(state.fences, *state.gl);
  // Without one the reaper waits in another way.
  const bool is_fenced = gl_fence || fence != EGL_NO_SYNC_KHR;
  state.pending.push_back({.fence = fence,
                           .gl_fence = gl_fence,
                           .releases = state.take_late(),
                           .due = is_fenced ? now + kLongestDelay : now});
  if (!is_fenced) state.wake.notify_one();
}

void ReleaseQueue::visit(State& state) {
  const std::lock_guard guard(state.lock);
  if (state.is_empty()) return;
  state.visited = true;
  if (state.late.size() >= kBatch ||
      (!state.late.empty() && Clock::now() - state.late_since >= kVisitDelay))
    fence_late(state);
  state.poll();
}

void ReleaseQueue::visit() {
  if (state_) visit(*state_);
}

std::function<void()> ReleaseQueue::visitor() const {
  return [state = state_] {
    if (state) visit(*state);
  };
}

void ReleaseQueue::recall() {
  if (!state_) return;
  const std::shared_ptr<State> state = state_;
  std::vector<Release> late;
  std::vector<Release> reached;
  bool wake = false;
  {
    const std::lock_guard guard(state->lock);
    state->wanted = state->is_idle();
    late = state->take_late();
    reached = state->take_reached();
    state->make_all_due();
    wake = !state->pending.empty();
  }
  if (wake) state->wake.notify_one();
  if (!late.empty()) fence(std::move(late), Waits::InReaper);
  state->run(std::move(reached));
}

void ReleaseQueue::drain() {
  if (!state_) return;
  std::unique_lock guard(state_->lock);
  if (!state_->is_empty()) {
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
  std::chrono::milliseconds look = kLongestDelay;  // the interval between two
  Clock::time_point next_look;
  for (;;) {
    const auto has_work = [&] {
      return state.stopping || (state.hurry && !state.is_empty()) ||
             (!state.pending.empty() && state.pending.front().due <= Clock::now());
    };
    if (state.is_empty()) state.hurry = false;
    if (!state.watching) {
      state.wake.wait(guard, [&] { return has_work() || state.watching; });
      look = kLongestDelay;
      next_look = Clock::now() + look;
    }
    if (!has_work()) {
      // Others may see to what is there, and whoever comes meanwhile need not wake it.
      const auto until = state.is_empty() ? next_look : std::max(next_look, state.due());
      if (!state.wake.wait_until(guard, until, has_work)) {
        const Clock::time_point now = Clock::now();
        if (state.is_empty() || state.due() > now) {
          state.watching = std::exchange(state.came, false) || !state.is_empty();
          look = std::min(look * 2, kRarestLook);
          next_look = now + look;
          continue;
        }
        look = kLongestDelay;
      }
    }
    Pending next;
    if (!state.pending.empty()) {
      next = std::move(state.pending.front());
      state.pending.erase(state.pending.begin());
    } else if (!state.late.empty()) {
      next.releases = state.take_late();
    } else if (state.stopping) {
      return;
    } else {
      continue;
    }
    std::shared_ptr<GlThread> thread = state.thread;
    ++state.releasing;
    guard.unlock();
    if (thread && !next.reached) {
      if (next.fence == EGL_NO_SYNC_KHR) thread->run([&] { state.hand_over(next); });
      if (next.fence != EGL_NO_SYNC_KHR) {
        wait_for(state.fences, next.fence);
        forget_this_thread(state.fences);
      } else if (!next.reached) {
        wait_on_gl_thread(*thread, *state.gl);
      }
    }
    thread.reset();  // perhaps the last owner
    run_all(std::move(next.releases));
    guard.lock();
    --state.releasing;
    if (state.is_idle()) state.idle.notify_all();
  }
}

}  // namespace dxva::gl
