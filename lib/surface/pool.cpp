// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/surface/pool.hpp"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <utility>

#include "lib/base/log.hpp"
#include "lib/base/trace.hpp"

namespace dxva::surface {

namespace {

// The decoder's caller holds its stream lock while we wait, so a sink that keeps its frames for
// ever must cost no more than this per picture.
constexpr std::chrono::milliseconds kPatience{40};

// Late surfaces, together. A stream that needs more has a leak somewhere, and memory for it
// would come from the whole machine.
constexpr uint32_t kMaxLateSurfaces = 64;

// After every picture: of a surface whose old readers nobody keeps account of any more.
constexpr uint64_t kNever = UINT64_MAX;

}  // namespace

Pool::~Pool() {
  const auto& pairs = session_.pairs();
  DXVA_DEBUG(Session, "%zu surfaces go: %" PRIu64 " pairs, %" PRIu64 " of them abandoned",
             surfaces_.size(), pairs.begun, pairs.abandoned);
}

Status Pool::fill() {
  const std::lock_guard guard(lock_);
  return make_surfaces(count_);
}

void Pool::adopt(std::unique_ptr<Surface> surface) {
  resting_.push_back(surface->index_);
  surfaces_.push_back(std::move(surface));
}

// --- BeginFrame

// The first free one of those that rest, with its pair begun.
Surface* Pool::begin_any() {
  for (auto candidate = resting_.begin(); candidate != resting_.end(); ++candidate) {
    const accel::Index index = *candidate;
    const auto begun = session_.begin_frame(index);
    if (begun.target == accel::Session::Target::Pending) continue;
    if (begun.target == accel::Session::Target::Error) {
      report(begun.why, "begin_frame", index);
      continue;
    }
    resting_.erase(candidate);
    return surfaces_[index].get();
  }
  return nullptr;
}

Result<Lease> Pool::acquire() {
  std::unique_lock guard(lock_);
  if (session_.stopped())
    return Error{.code = ErrorCode::DeviceLost,
                 .call = "Pool::acquire",
                 .text = "the device failed and these surfaces are not used again",
                 .reason = Reason::DecodeErrors};
  Surface* target = interrupted_ ? nullptr : begin_any();
  if (!target && !interrupted_ && surfaces_.size() < count_) {
    if (auto made = make_surfaces(1); !made) return made.error();
    target = begin_any();
  }
  if (!target && !interrupted_) {
    const trace::Timed wait(trace::Stage::Wait);
    returned_.wait_for(guard, kPatience,
                       [&] { return interrupted_ || (target = begin_any()) != nullptr; });
  }
  if (target) return lend(target);
  if (interrupted_) return Error{.code = ErrorCode::Busy, .call = "Pool::acquire"};
  if (surfaces_.size() >= count_ + kMaxLateSurfaces)
    return Error{.code = ErrorCode::NoMemory,
                 .call = "Pool::acquire",
                 .text = "every surface is held downstream",
                 .reason = Reason::SurfacePoolEmpty};
  if (auto made = make_surfaces(1); !made) return made.error();
  DXVA_DEBUG(Session, "all %zu surfaces are held: made one more", surfaces_.size() - 1);
  target = begin_any();
  if (!target) return Error{.code = ErrorCode::Failed, .call = "Pool::acquire"};
  return lend(target);
}

Lease Pool::lend(Surface* surface) {
  ++surface->lends_;
  surface->rests_ = true;
  surface->picture_ = session_.pairs().begun;
  return Lease(surface, [pool = shared_from_this()](Surface* back) { pool->release(*back); });
}

void Pool::release(Surface& surface) {
  const std::lock_guard guard(lock_);
  report(session_.release(surface.index_), "release", surface.index_);
  surface.begun_at_release_ =
      surface.picture_ > begun_in_others_ ? session_.pairs().begun : kNever;
  put_back(surface);
  returned_.notify_one();
}

void Pool::put_back(const Surface& surface) {
  resting_.insert(surface.rests_ ? resting_.end() : resting_.begin(), surface.index_);
}

// --- Execute, EndFrame, status

void Pool::end_pairs(accel::Severity severity) {
  const std::lock_guard guard(lock_);
  // After a severe answer the other pairs are only closed.
  for (const accel::Index index : session_.open()) {
    if (!session_.stopped()) report(session_.execute(index, severity), "execute", index);
    report(session_.end_frame(index), "end_frame", index);
  }
}

bool Pool::second_field(accel::Severity severity) {
  const std::lock_guard guard(lock_);
  const auto index = session_.awaits_second_field();
  if (!index) return false;
  const auto begun = session_.begin_second_field(*index);
  if (begun.target != accel::Session::Target::Ready) {
    report(begun.why, "begin_second_field", *index);
    return false;
  }
  report(session_.execute(*index, severity), "execute", *index);
  report(session_.end_frame(*index), "end_frame", *index);
  return true;
}

void Pool::completed(const Surface& surface, accel::Severity severity) {
  const std::lock_guard guard(lock_);
  report(session_.completed(surface.index_, severity), "completed", surface.index_);
  // And with it all that had begun before in its queue.
  if (!accel::stops(severity)) finished_ = std::max(finished_, surface.picture_);
}

bool Pool::fences_are_its_own(const Surface& surface) const {
  const std::lock_guard guard(lock_);
  return surface.picture_ > begun_in_others_ && surface.begun_at_release_ <= finished_;
}

void Pool::new_queue() {
  const std::lock_guard guard(lock_);
  begun_in_others_ = session_.pairs().begun;
  for (const accel::Index index : resting_)
    if (surfaces_[index]->picture_ > 0) surfaces_[index]->begun_at_release_ = kNever;
}

accel::Session::Render Pool::query_status(const Surface& surface) const {
  const std::lock_guard guard(lock_);
  return session_.query_status(surface.index_);
}

accel::Session::Pairs Pool::pairs() const {
  const std::lock_guard guard(lock_);
  return session_.pairs();
}

// A mistake of ours, and no reason to lose a picture: the session has refused and changed
// nothing.
void Pool::report(accel::Misuse misuse, const char* call, accel::Index index) const {
  if (misuse == accel::Misuse::None) return;
  DXVA_WARNING(Session, "%s of surface %u: %s", call, index, accel::misuse_name(misuse));
}

// --- downstream

Result<Lease> Pool::show(Surface& surface, accel::Pixels pixels) {
  const std::lock_guard guard(lock_);
  if (const auto misuse = session_.show(surface.index_, pixels); misuse != accel::Misuse::None)
    return Error{.code = ErrorCode::Busy,
                 .call = "Pool::show",
                 .text = accel::misuse_name(misuse),
                 .reason = Reason::SurfaceInUse};
  surface.rests_ = true;
  return Lease(&surface, [pool = shared_from_this()](Surface* back) { pool->hide(*back); });
}

void Pool::hide(Surface& surface) {
  const std::lock_guard guard(lock_);
  report(session_.hide(surface.index_), "hide", surface.index_);
  patience_.returned();
  // It rests from now on, if the decoder has let go of it before.
  if (std::erase(resting_, surface.index_) > 0) put_back(surface);
  returned_.notify_all();
}

void Pool::read_by_cpu(Surface& surface) {
  const std::lock_guard guard(lock_);
  surface.rests_ = false;
}

bool Pool::has_room(uint32_t limit) const {
  const std::lock_guard guard(lock_);
  return session_.shown() < limit;
}

bool Pool::wait_for_room(uint32_t limit, WhileCopiesReturn copies) {
  std::unique_lock guard(lock_);
  const auto room = [&] { return session_.shown() < limit; };
  if (room()) return true;
  const auto began = Patience::Clock::now();
  if (interrupted_ || !patience_.is_worth_it(began)) return false;
  const trace::Timed wait(trace::Stage::Wait);
  const bool follows = copies == WhileCopiesReturn::Waits && patience_.may_follow_copies(began);
  bool followed = false;
  for (auto until = began + Patience::kLongest;;) {
    const uint64_t back = copies_back_;
    const auto news = [&] {
      return room() || interrupted_ || (follows && copies_back_ != back);
    };
    if (!returned_.wait_until(guard, until, news) || room() || interrupted_) break;
    followed = true;
    until = Patience::Clock::now() + Patience::kLongest;
  }
  const auto ended = Patience::Clock::now();
  if (room()) {
    patience_.in_time(ended - began);
    return true;
  }
  // A flush says nothing about the consumer.
  if (interrupted_) return false;
  patience_.in_vain();
  if (followed) patience_.followed_in_vain(ended);
  return false;
}

void Pool::copy_came_back() {
  const std::lock_guard guard(lock_);
  ++copies_back_;
  returned_.notify_all();
}

void Pool::interrupt(bool on) {
  const std::lock_guard guard(lock_);
  interrupted_ = on;
  returned_.notify_all();
}

bool Pool::is_interrupted() const {
  const std::lock_guard guard(lock_);
  return interrupted_;
}

std::vector<const Surface*> Pool::all() const {
  const std::lock_guard guard(lock_);
  std::vector<const Surface*> out;
  out.reserve(surfaces_.size());
  for (const auto& surface : surfaces_) out.push_back(surface.get());
  return out;
}

uint32_t Pool::late_surfaces() const {
  const std::lock_guard guard(lock_);
  const auto made = static_cast<uint32_t>(surfaces_.size());
  return made > count_ ? made - count_ : 0;
}

}  // namespace dxva::surface
