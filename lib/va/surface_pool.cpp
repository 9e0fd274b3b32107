// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/surface_pool.hpp"

#include <va/va_drmcommon.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cinttypes>
#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/base/trace.hpp"

namespace dxva::va {

namespace {

// The decoder's caller holds its stream lock while we wait, so a sink that keeps its frames for
// ever must cost no more than this per picture.
constexpr std::chrono::milliseconds kPatience{40};
// Longer, because it is spent once and not on every picture: the thread that lets surfaces go
// may have to wait for its turn on a busy machine.
constexpr std::chrono::milliseconds kRoomPatience{100};

// Late surfaces, together. A stream that needs more has a leak somewhere, and memory for it
// would come from the whole machine.
constexpr uint32_t kMaxLateSurfaces = 64;

// After every picture: of a surface whose old readers nobody keeps account of any more.
constexpr uint64_t kNever = UINT64_MAX;

uint32_t rt_format_of(uint32_t fourcc) {
  switch (fourcc) {
    case format::kNV12:
      return VA_RT_FORMAT_YUV420;
    case format::kP010:
      return VA_RT_FORMAT_YUV420_10;
    default:
      return 0;
  }
}

}  // namespace

SurfacePool::SurfacePool(std::shared_ptr<Display> display, const Config& config)
    : display_(std::move(display)), config_(config) {}

SurfacePool::~SurfacePool() {
  const auto& pairs = session_.pairs();
  DXVA_DEBUG(Va, "%zu surfaces go: %" PRIu64 " pairs, %" PRIu64 " of them abandoned",
             surfaces_.size(), pairs.begun, pairs.abandoned);
}

Result<std::shared_ptr<SurfacePool>> SurfacePool::create(std::shared_ptr<Display> display,
                                                         const Config& config) {
  if (rt_format_of(config.fourcc) == 0)
    return refusal(Reason::FormatUnsupported,
                   "surfaces of format " + fourcc_text(config.fourcc) + " are not supported");
  // make_shared cannot reach the private constructor.
  std::shared_ptr<SurfacePool> pool(new SurfacePool(std::move(display), config));
  const std::lock_guard guard(pool->lock_);
  if (auto added = pool->add_surfaces(config.count); !added) return added.error();
  return pool;
}

Status SurfacePool::add_surfaces(uint32_t count) {
  std::array<VASurfaceAttrib, 3> attributes{};
  // The format must be named: a driver may else choose another one of the same rt-format.
  attributes[0].type = VASurfaceAttribPixelFormat;
  attributes[0].flags = VA_SURFACE_ATTRIB_SETTABLE;
  attributes[0].value.type = VAGenericValueTypeInteger;
  attributes[0].value.value.i = static_cast<int>(va_fourcc(config_.fourcc));
  // Not sent empty: Mesa and iHD refuse, or warn of, attributes that they do not know.
  std::vector<uint64_t> modifiers = config_.modifiers;  // the list's pointer is not const
  VADRMFormatModifierList list{.num_modifiers = static_cast<uint32_t>(modifiers.size()),
                               .modifiers = modifiers.data()};
  unsigned attribute_count = 1;
  if (!modifiers.empty()) {
    VASurfaceAttrib& attribute = attributes[attribute_count++];
    attribute.type = VASurfaceAttribDRMFormatModifiers;
    attribute.flags = VA_SURFACE_ATTRIB_SETTABLE;
    attribute.value.type = VAGenericValueTypePointer;
    attribute.value.value.p = &list;
  }
  if (config_.use == SurfaceUse::Copies) {
    VASurfaceAttrib& attribute = attributes[attribute_count++];
    attribute.type = VASurfaceAttribUsageHint;
    attribute.flags = VA_SURFACE_ATTRIB_SETTABLE;
    attribute.value.type = VAGenericValueTypeInteger;
    attribute.value.value.i =
        VA_SURFACE_ATTRIB_USAGE_HINT_VPP_WRITE | VA_SURFACE_ATTRIB_USAGE_HINT_EXPORT;
  }

  std::vector<VASurfaceID> ids(count, VA_INVALID_SURFACE);
  auto made = check(
      vaCreateSurfaces(display_->get(), rt_format_of(config_.fourcc), config_.width,
                       config_.height, ids.data(), count, attributes.data(), attribute_count),
      "vaCreateSurfaces");
  if (!made) return made;
  for (const VASurfaceID id : ids) {
    const accel::Index index = session_.add_surface();
    surfaces_.push_back(std::make_unique<Surface>(*this, index, display_, id, config_.fourcc,
                                                  config_.width, config_.height));
    resting_.push_back(index);
  }
  return Done{};
}

// --- BeginFrame

// The free surface that has rested longest, with its pair begun.
Surface* SurfacePool::begin_any() {
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

Result<SurfaceLease> SurfacePool::acquire() {
  std::unique_lock guard(lock_);
  if (session_.stopped())
    return Error{.code = ErrorCode::DeviceLost,
                 .call = "SurfacePool::acquire",
                 .text = "the device failed and these surfaces are not used again",
                 .reason = Reason::DecodeErrors};
  Surface* target = interrupted_ ? nullptr : begin_any();
  if (!target && !interrupted_) {
    const trace::Timed wait(trace::Stage::Wait);
    returned_.wait_for(guard, kPatience,
                       [&] { return interrupted_ || (target = begin_any()) != nullptr; });
  }
  if (target) return lend(target);
  if (interrupted_) return Error{.code = ErrorCode::Busy, .call = "SurfacePool::acquire"};
  if (surfaces_.size() >= config_.count + kMaxLateSurfaces)
    return Error{.code = ErrorCode::NoMemory,
                 .call = "SurfacePool::acquire",
                 .text = "every surface is held downstream",
                 .reason = Reason::SurfacePoolEmpty};
  if (auto added = add_surfaces(1); !added) return added.error();
  DXVA_DEBUG(Va, "all %zu surfaces are held: made one more", surfaces_.size() - 1);
  target = begin_any();
  if (!target) return Error{.code = ErrorCode::Failed, .call = "SurfacePool::acquire"};
  return lend(target);
}

SurfaceLease SurfacePool::lend(Surface* surface) {
  ++surface->lends_;
  surface->picture_ = session_.pairs().begun;
  return SurfaceLease(surface,
                      [pool = shared_from_this()](Surface* back) { pool->release(*back); });
}

void SurfacePool::release(Surface& surface) {
  const std::lock_guard guard(lock_);
  report(session_.release(surface.index_), "release", surface.index_);
  surface.begun_at_release_ =
      surface.picture_ > begun_in_others_ ? session_.pairs().begun : kNever;
  resting_.push_back(surface.index_);
  returned_.notify_one();
}

// --- Execute, EndFrame, status

void SurfacePool::end_pairs(accel::Severity severity) {
  const std::lock_guard guard(lock_);
  // After a severe answer the other pairs are only closed.
  for (const accel::Index index : session_.open()) {
    if (!session_.stopped()) report(session_.execute(index, severity), "execute", index);
    report(session_.end_frame(index), "end_frame", index);
  }
}

bool SurfacePool::second_field(accel::Severity severity) {
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

void SurfacePool::completed(const Surface& surface, accel::Severity severity) {
  const std::lock_guard guard(lock_);
  report(session_.completed(surface.index_, severity), "completed", surface.index_);
  // And with it all that had begun before in its queue.
  if (!accel::stops(severity)) finished_ = std::max(finished_, surface.picture_);
}

bool SurfacePool::fences_are_its_own(const Surface& surface) const {
  const std::lock_guard guard(lock_);
  return surface.picture_ > begun_in_others_ && surface.begun_at_release_ <= finished_;
}

void SurfacePool::new_queue() {
  const std::lock_guard guard(lock_);
  begun_in_others_ = session_.pairs().begun;
  for (const accel::Index index : resting_)
    if (surfaces_[index]->picture_ > 0) surfaces_[index]->begun_at_release_ = kNever;
}

bool SurfacePool::device_is_lost() const {
  const VASurfaceID any = ids().front();
  VASurfaceStatus status{};
  if (vaQuerySurfaceStatus(display_->get(), any, &status) == VA_STATUS_SUCCESS) return false;
  display_->set_lost();
  return true;
}

accel::Session::Render SurfacePool::query_status(const Surface& surface) const {
  const std::lock_guard guard(lock_);
  return session_.query_status(surface.index_);
}

accel::Session::Pairs SurfacePool::pairs() const {
  const std::lock_guard guard(lock_);
  return session_.pairs();
}

// A mistake of ours, and no reason to lose a picture: the session has refused and changed
// nothing.
void SurfacePool::report(accel::Misuse misuse, const char* call, accel::Index index) const {
  if (misuse == accel::Misuse::None) return;
  DXVA_WARNING(Va, "%s of surface %u: %s", call, index, accel::misuse_name(misuse));
}

// --- downstream

Result<SurfaceLease> SurfacePool::show(Surface& surface, accel::Pixels pixels) {
  const std::lock_guard guard(lock_);
  if (const auto misuse = session_.show(surface.index_, pixels); misuse != accel::Misuse::None)
    return Error{.code = ErrorCode::Busy,
                 .call = "SurfacePool::show",
                 .text = accel::misuse_name(misuse),
                 .reason = Reason::SurfaceInUse};
  return SurfaceLease(&surface,
                      [pool = shared_from_this()](Surface* back) { pool->hide(*back); });
}

void SurfacePool::hide(Surface& surface) {
  const std::lock_guard guard(lock_);
  report(session_.hide(surface.index_), "hide", surface.index_);
  kept_ = false;
  // It rests from now on, if the decoder has let go of it before.
  if (std::erase(resting_, surface.index_) > 0) resting_.push_back(surface.index_);
  returned_.notify_all();
}

bool SurfacePool::wait_for_room(uint32_t limit) {
  std::unique_lock guard(lock_);
  const auto room = [&] { return session_.shown() < limit; };
  if (!room() && !kept_ && !interrupted_) {
    const trace::Timed wait(trace::Stage::Wait);
    returned_.wait_for(guard, kRoomPatience, [&] { return room() || interrupted_; });
    kept_ = !room() && !interrupted_;
  }
  return room();
}

void SurfacePool::interrupt(bool on) {
  const std::lock_guard guard(lock_);
  interrupted_ = on;
  returned_.notify_all();
}

bool SurfacePool::is_interrupted() const {
  const std::lock_guard guard(lock_);
  return interrupted_;
}

std::vector<VASurfaceID> SurfacePool::ids() const {
  const std::lock_guard guard(lock_);
  std::vector<VASurfaceID> out;
  out.reserve(surfaces_.size());
  for (const auto& surface : surfaces_) out.push_back(surface->id());
  return out;
}

uint32_t SurfacePool::late_surfaces() const {
  const std::lock_guard guard(lock_);
  return static_cast<uint32_t>(surfaces_.size()) - config_.count;
}

}  // namespace dxva::va
