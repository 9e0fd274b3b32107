// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>
#include <memory>

#include "lib/accel/session.hpp"
#include "lib/base/result.hpp"
#include "lib/dmabuf/external_frame.hpp"
#include "lib/va/display.hpp"

namespace dxva::va {

class SurfacePool;

// One VASurface. It belongs to its pool for life; a SurfaceLease is what one may hold.
// Thread rules: reentrant; id() and size() never change.
class Surface {
 public:
  // `index` is its number in the pool's session.
  Surface(SurfacePool& pool, accel::Index index, std::shared_ptr<Display> display,
          VASurfaceID id, uint32_t fourcc, uint32_t width, uint32_t height);
  ~Surface();
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;

  [[nodiscard]] VASurfaceID id() const { return id_; }
  [[nodiscard]] uint32_t fourcc() const { return fourcc_; }  // DRM
  [[nodiscard]] uint32_t width() const { return width_; }    // pixels, coded size
  [[nodiscard]] uint32_t height() const { return height_; }
  [[nodiscard]] const std::shared_ptr<Display>& display() const { return display_; }
  // The pool it came from, which need not be the decoder's newest: after a resolution change
  // delayed pictures of the old size still come out.
  [[nodiscard]] SurfacePool& pool() const { return pool_; }

  // Waits until the driver has written the picture, and tells the session how that went: what
  // the picture is like. Refusals: SyncFailed, also for a driver that does not come back
  // (surface_sync.hpp); DeviceLost. Busy: the pool was interrupted.
  [[nodiscard]] Result<accel::Severity> sync();
  // Whether the driver says that it is still writing. False also when it does not say.
  [[nodiscard]] bool still_written() const;

  struct Export {
    std::shared_ptr<const dmabuf::ExternalFrame> frame;
    uint32_t generation = 0;  // another number: other buffers
  };
  // The surface's memory as descriptors of the same buffers each time, so that caches keyed by
  // them stay right. A driver may move a surface to other memory (radeonsi does at the first
  // export of some), so it is asked once for each of the first pictures, until two in a row
  // came in the same buffers. From then on the answer stands: a call into the driver and a new
  // descriptor per picture would be the price for a move that no driver makes that late.
  // A surface that was refused is not tried again at once: the wait, counted in calls, doubles
  // with each failure.
  [[nodiscard]] Result<Export> exported();
  // Somebody could not use the buffers: the driver is asked anew for the next pictures.
  void doubt_export() { agreeing_looks_ = 0; }

  // What a layer above ties to this surface's life; goes before the VASurface does.
  std::shared_ptr<void> attachment;

 private:
  SurfacePool& pool_;
  const accel::Index index_;
  std::shared_ptr<Display> display_;
  VASurfaceID id_;
  uint32_t fourcc_;
  uint32_t width_;
  uint32_t height_;

  friend class SurfacePool;
  uint32_t lends_ = 0;  // a lease is one picture

  // Behind the pool's lock; numbers are of the session's pairs as they begin.
  uint64_t picture_ = 0;           // that the surface was lent for
  uint64_t begun_at_release_ = 0;  // the last that had begun when it was released before that

  // Shared with the memories that are made of it: a descriptor each would be the limit of a
  // process that keeps many pictures.
  std::shared_ptr<const dmabuf::ExternalFrame> exported_;
  uint32_t generation_ = 0;
  uint32_t looked_at_ = 0;       // `lends_` of the last look
  uint32_t agreeing_looks_ = 0;  // in a row, that named the same buffers
  Error refused_;
  uint32_t failures_ = 0;
  uint32_t calls_to_skip_ = 0;
};

}  // namespace dxva::va
