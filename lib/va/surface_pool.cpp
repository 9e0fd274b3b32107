// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/surface_pool.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/va/exporter.hpp"

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

constexpr uint32_t kLooksToTrust = 2;

constexpr uint32_t kFirstBackOff = 8;  // calls
constexpr uint32_t kMaxBackOff = 1024;

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

bool same_buffers(const dmabuf::ExternalFrame& a, const dmabuf::ExternalFrame& b) {
  if (a.object_count != b.object_count || a.plane_count != b.plane_count) return false;
  for (uint32_t i = 0; i < a.object_count; ++i)
    if (a.objects[i].identity != b.objects[i].identity ||
        a.objects[i].modifier != b.objects[i].modifier)
      return false;
  for (uint32_t i = 0; i < a.plane_count; ++i)
    if (a.planes[i].object != b.planes[i].object || a.planes[i].offset != b.planes[i].offset ||
        a.planes[i].pitch_bytes != b.planes[i].pitch_bytes)
      return false;
  return true;
}

}  // namespace

Surface::Surface(SurfacePool& pool, std::shared_ptr<Display> display, VASurfaceID id,
                 uint32_t fourcc, uint32_t width, uint32_t height)
    : pool_(pool),
      display_(std::move(display)),
      id_(id),
      fourcc_(fourcc),
      width_(width),
      height_(height) {}

Surface::~Surface() {
  attachment.reset();
  vaDestroySurfaces(display_->get(), &id_, 1);
}

Status Surface::sync() const {
  auto done = check(vaSyncSurface(display_->get(), id_), "vaSyncSurface");
  if (!done) done.error().reason = Reason::SyncFailed;
  return done;
}

Result<Surface::Export> Surface::exported() {
  const bool known = exported_.object_count > 0 && failures_ == 0;
  // The second: one picture may be asked about twice, and that proves nothing about the next.
  if (known && (agreeing_looks_ >= kLooksToTrust || looked_at_ == lends_))
    return Export{.frame = &exported_, .generation = generation_};
  if (calls_to_skip_ > 0) {
    --calls_to_skip_;
    return refused_;
  }
  auto now = export_surface(*display_, id_);
  if (!now) {
    refused_ = now.error();
    calls_to_skip_ = std::min(kFirstBackOff << std::min(failures_, 16u), kMaxBackOff);
    ++failures_;
    agreeing_looks_ = 0;
    DXVA_DEBUG(Va, "surface %u is not exported (next try after %u pictures): %s", id_,
               calls_to_skip_, refused_.describe().c_str());
    return refused_;
  }
  failures_ = 0;
  looked_at_ = lends_;
  if (exported_.object_count > 0 && same_buffers(exported_, *now)) {
    ++agreeing_looks_;
  } else {
    exported_ = std::move(*now);
    ++generation_;
    agreeing_looks_ = 1;
  }
  return Export{.frame = &exported_, .generation = generation_};
}

SurfacePool::SurfacePool(std::shared_ptr<Display> display, const Config& config)
    : display_(std::move(display)), config_(config) {}

SurfacePool::~SurfacePool() = default;

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
  // The format must be named: a driver may else choose another one of the same rt-format.
  VASurfaceAttrib attribute{};
  attribute.type = VASurfaceAttribPixelFormat;
  attribute.flags = VA_SURFACE_ATTRIB_SETTABLE;
  attribute.value.type = VAGenericValueTypeInteger;
  attribute.value.value.i = static_cast<int>(va_fourcc(config_.fourcc));

  std::vector<VASurfaceID> ids(count, VA_INVALID_SURFACE);
  auto made =
      check(vaCreateSurfaces(display_->get(), rt_format_of(config_.fourcc), config_.width,
                             config_.height, ids.data(), count, &attribute, 1),
            "vaCreateSurfaces");
  if (!made) return made;
  for (const VASurfaceID id : ids) {
    surfaces_.push_back(std::make_unique<Surface>(*this, display_, id, config_.fourcc,
                                                  config_.width, config_.height));
    free_.push_back(surfaces_.back().get());
  }
  return Done{};
}

Result<SurfaceLease> SurfacePool::acquire() {
  std::unique_lock guard(lock_);
  if (free_.empty())
    returned_.wait_for(guard, kPatience, [this] { return !free_.empty() || interrupted_; });
  if (interrupted_) return Error{.code = ErrorCode::Busy, .call = "SurfacePool::acquire"};
  if (free_.empty()) {
    if (surfaces_.size() >= config_.count + kMaxLateSurfaces)
      return Error{.code = ErrorCode::NoMemory,
                   .call = "SurfacePool::acquire",
                   .text = "every surface is held downstream",
                   .reason = Reason::SurfacePoolEmpty};
    if (auto added = add_surfaces(1); !added) return added.error();
    DXVA_DEBUG(Va, "all %zu surfaces are held: made one more", surfaces_.size() - 1);
  }
  Surface* surface = free_.front();
  free_.erase(free_.begin());
  return lend(surface);
}

SurfaceLease SurfacePool::lend(Surface* surface) {
  ++surface->lends_;
  return SurfaceLease(surface,
                      [pool = shared_from_this()](Surface* back) { pool->give_back(back); });
}

void SurfacePool::give_back(Surface* surface) {
  const std::lock_guard guard(lock_);
  free_.push_back(surface);
  returned_.notify_one();
}

void SurfacePool::went_downstream() {
  const std::lock_guard guard(lock_);
  ++downstream_;
}

void SurfacePool::came_back() {
  const std::lock_guard guard(lock_);
  --downstream_;
  kept_ = false;
  returned_.notify_all();
}

bool SurfacePool::wait_for_room(uint32_t limit) {
  std::unique_lock guard(lock_);
  const auto room = [&] { return downstream_ < limit; };
  if (!room() && !kept_ && !interrupted_) {
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
