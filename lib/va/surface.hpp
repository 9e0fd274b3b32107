// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>
#include <memory>

#include "lib/accel/session.hpp"
#include "lib/base/result.hpp"
#include "lib/dmabuf/external_frame.hpp"
#include "lib/surface/surface.hpp"
#include "lib/va/display.hpp"

namespace dxva::va {

class SurfacePool;

// One VASurface.
// Thread rules: as of surface::Surface.
class Surface final : public surface::Surface {
 public:
  Surface(SurfacePool& pool, accel::Index index, std::shared_ptr<Display> display,
          VASurfaceID id, uint32_t fourcc, uint32_t width, uint32_t height);
  ~Surface() override;

  [[nodiscard]] VASurfaceID id() const override { return id_; }
  [[nodiscard]] const std::shared_ptr<Display>& display() const { return display_; }

  // The wait is surface_sync.hpp's.
  [[nodiscard]] Result<accel::Severity> sync() override;
  [[nodiscard]] bool still_written() const override;

  // A driver may move a surface to other memory (radeonsi does at the first export of some), so
  // it is asked once for each of the first pictures, until two in a row came in the same
  // buffers. From then on the answer stands: a call into the driver and a new descriptor per
  // picture would be the price for a move that no driver makes that late.
  // A surface that was refused is not tried again at once: the wait, counted in calls, doubles
  // with each failure.
  [[nodiscard]] Result<Export> exported() override;
  void doubt_export() override { agreeing_looks_ = 0; }

  // The way is map_for_read()'s (cpu_mapper.hpp).
  [[nodiscard]] Result<std::unique_ptr<surface::Mapping>> map(
      surface::Reads reads,
      std::shared_ptr<const dmabuf::ExternalFrame> exported) const override;
  [[nodiscard]] Result<InPlace> map_in_place(
      const std::shared_ptr<const dmabuf::ExternalFrame>& exported) const override;

 private:
  std::shared_ptr<Display> display_;
  VASurfaceID id_;

  // Shared with the memories that are made of it: a descriptor each would be the limit of a
  // process that keeps many pictures.
  std::shared_ptr<const dmabuf::ExternalFrame> exported_;
  uint32_t generation_ = 0;
  uint32_t looked_at_ = 0;       // `lends()` of the last look
  uint32_t agreeing_looks_ = 0;  // in a row, that named the same buffers
  Error refused_;
  uint32_t failures_ = 0;
  uint32_t calls_to_skip_ = 0;
};

// The VASurface under a picture; null: it is on another kind of device.
[[nodiscard]] inline const Surface* as_va(const surface::Surface* surface) {
  return dynamic_cast<const Surface*>(surface);
}

}  // namespace dxva::va
