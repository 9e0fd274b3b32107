// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/surface.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/base/log.hpp"
#include "lib/base/trace.hpp"
#include "lib/va/cpu_mapper.hpp"
#include "lib/va/exporter.hpp"
#include "lib/va/surface_pool.hpp"
#include "lib/va/surface_sync.hpp"

namespace dxva::va {

namespace {

constexpr uint32_t kLooksToTrust = 2;

constexpr uint32_t kFirstBackOff = 8;  // calls
constexpr uint32_t kMaxBackOff = 1024;

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

// A mapping of cpu_mapper's in the words of all surfaces.
class MappedSurface final : public surface::Mapping {
 public:
  explicit MappedSurface(SurfaceMapping mapping) : mapping_(std::move(mapping)) {}
  const video::FrameView& view() const override { return mapping_.view(); }
  void copy_plane(const video::PlaneView& from, uint8_t* to, uint32_t to_pitch_bytes) override {
    mapping_.plane_copy()(from, to, to_pitch_bytes);
  }
  Result<bool> whole_picture_copied() override { return mapping_.whole_picture_copied(); }
  const char* way_name() const override { return mapping_.way_name(); }
  std::vector<NamedStanding> standings() const override { return mapping_.standings(); }

 private:
  SurfaceMapping mapping_;
};

}  // namespace

Surface::Surface(SurfacePool& pool, accel::Index index, std::shared_ptr<Display> display,
                 VASurfaceID id, uint32_t fourcc, uint32_t width, uint32_t height)
    : surface::Surface(pool, index, fourcc, width, height),
      display_(std::move(display)),
      id_(id) {}

Surface::~Surface() {
  attachment.reset();
  vaDestroySurfaces(display_->get(), &id_, 1);
}

Result<accel::Severity> Surface::sync() {
  const trace::Timed wait(trace::Stage::Wait);
  auto rendered =
      wait_until_decoded(*display_, id_, [this] { return pool().is_interrupted(); });
  if (rendered) {
    pool().completed(*this, *rendered);
  } else if (rendered.error().reason != Reason::None) {
    const bool lost = pool().device_is_lost();
    if (lost) rendered.error().reason = Reason::DeviceLost;
    pool().completed(*this, lost ? accel::Severity::Fatal : accel::Severity::Severe);
  }
  return rendered;
}

bool Surface::still_written() const {
  VASurfaceStatus status{};
  return vaQuerySurfaceStatus(display_->get(), id_, &status) == VA_STATUS_SUCCESS &&
         status == VASurfaceRendering;
}

Result<Surface::Export> Surface::exported() {
  const bool known = exported_ && failures_ == 0;
  // The second: one picture may be asked about twice, and that proves nothing about the next.
  if (known && (agreeing_looks_ >= kLooksToTrust || looked_at_ == lends()))
    return Export{.frame = exported_, .generation = generation_};
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
  looked_at_ = lends();
  if (exported_ && same_buffers(*exported_, *now)) {
    ++agreeing_looks_;
  } else {
    exported_ = std::make_shared<const dmabuf::ExternalFrame>(std::move(*now));
    ++generation_;
    agreeing_looks_ = 1;
  }
  return Export{.frame = exported_, .generation = generation_};
}

namespace {

// A picture that left unfinished may be mapped later by whoever has it.
Written written(const Surface& surface) {
  return surface.pool().query_status(surface) == accel::Session::Render::Ready
             ? Written::Yes
             : Written::NotAsked;
}

}  // namespace

Result<std::unique_ptr<surface::Mapping>> Surface::map(
    surface::Reads, std::shared_ptr<const dmabuf::ExternalFrame> exported) const {
  auto mapped = map_for_read(display_, id_, fourcc(), width(), height(), std::move(exported),
                             written(*this));
  if (!mapped) return mapped.error();
  return std::unique_ptr<surface::Mapping>(std::make_unique<MappedSurface>(std::move(*mapped)));
}

Result<Surface::InPlace> Surface::map_in_place(
    const std::shared_ptr<const dmabuf::ExternalFrame>& exported) const {
  auto mapped = map_for_read_in_place(display_, id_, fourcc(), width(), height(),
                                      exported.get(), written(*this));
  if (!mapped) return mapped.error();
  const auto memory = mapped->image();
  return InPlace{.mapping = std::make_unique<MappedSurface>(std::move(*mapped)),
                 .memory = memory};
}

}  // namespace dxva::va
