// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/gpu_copies.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/base/trace.hpp"

namespace dxva::gst {

bool is_about_layout(Reason reason) {
  switch (reason) {
    case Reason::ModifierNotLinear:
    case Reason::ModifierNotImportable:
    case Reason::ModifierMismatch:
    case Reason::AuxPlane:
    case Reason::TiledPlaneOffset:
      return true;
    default:
      return false;
  }
}

bool GpuCopies::open(const decode::DecodedFrame& picture, const Wanted& wanted) {
  const va::Surface* surface = va::as_va(picture.surface.get());
  if (!surface) return false;
  va::SurfaceCopier::Config asked{.fourcc = surface->fourcc(),
                                  .width = surface->width(),
                                  .height = surface->height(),
                                  .count = wanted.surfaces + 1};  // one is being written
  // Linear before any tiling: it can be mapped, and goes to another GPU.
  if (wanted.taken.take(kModifierLinear)) {
    asked.modifiers = {kModifierLinear};
  } else {
    asked.modifiers = wanted.taken.list;
    std::erase(asked.modifiers, kModifierInvalid);
  }
  if (copier_ && asked_ == asked) return true;
  if (refused_ == asked) return false;
  reset();
  asked_ = asked;
  auto made = va::SurfaceCopier::create(surface->display(), asked);
  if (!made && !asked.modifiers.empty()) {
    // Older drivers know no list, and some of those make everything linear but decode targets.
    va::SurfaceCopier::Config unlisted = asked;
    unlisted.modifiers.clear();
    made = va::SurfaceCopier::create(surface->display(), unlisted);
  }
  if (!made) {
    DXVA_INFO(Va, "pictures are not copied by the device: %s", made.error().describe().c_str());
    turn_off(va::DroppedWay{.name = "surfaces", .why = made.error().describe()});
    return false;
  }
  const std::lock_guard guard(lock_);
  copier_ = std::move(*made);
  copier_->pool().interrupt(interrupted_);
  return true;
}

std::optional<GpuCopies::Copied> GpuCopies::make(const decode::DecodedFrame& picture,
                                                 const Wanted& wanted) {
  const trace::Timed copying(trace::Stage::Copy);
  if (!open(picture, wanted)) return std::nullopt;
  const va::Surface& original = *va::as_va(picture.surface.get());
  for (;;) {
    auto surface = copier_->copy(original);
    if (!surface) {
      const ErrorCode code = surface.error().code;
      if (code != ErrorCode::Busy && code != ErrorCode::NoMemory) turn_off();
      return std::nullopt;
    }
    Copied out{.picture = picture};
    out.picture.surface = *surface;
    out.look = look_at(out.picture, wanted.rule);
    if (out.look.refused == Reason::None && !wanted.taken.take(out.look.modifier))
      out.look.refused = reason_not_taken(wanted.taken);
    if (out.look.refused != Reason::None) {
      // What was asked for is not what came out: drivers that do not know the list.
      DXVA_INFO(Va, "the device's copy is no better: %s, %s", reason_name(out.look.refused),
                modifier_text(out.look.modifier).c_str());
      if (is_about_layout(out.look.refused))
        turn_off(va::DroppedWay{
            .name = "layout",
            .why = "copies are " + modifier_text(out.look.modifier) + " as well"});
      return std::nullopt;
    }
    if (copier_->prove(original, **surface)) return out;
  }
}

void GpuCopies::turn_off(std::optional<va::DroppedWay> why) {
  const auto asked = asked_;
  auto dropped = this->dropped();
  if (why) dropped.push_back(std::move(*why));
  reset();
  refused_ = asked;
  dropped_ = std::move(dropped);
}

void GpuCopies::interrupt(bool on) {
  const std::lock_guard guard(lock_);
  interrupted_ = on;
  if (copier_) copier_->pool().interrupt(on);
}

void GpuCopies::reset() {
  std::unique_ptr<va::SurfaceCopier> old;
  {
    const std::lock_guard guard(lock_);
    old = std::exchange(copier_, nullptr);
  }
  asked_.reset();
  refused_.reset();
  dropped_.clear();
}

}  // namespace dxva::gst
