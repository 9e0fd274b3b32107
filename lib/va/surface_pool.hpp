// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Decode targets, made up front and lent one picture at a time. vaCreateContext wants the whole
// list before the first picture, and a decoder that finds no free target loses the picture: so
// the pool is sized by us, never grows in normal use, and knows how many of its surfaces are on
// the screen's side.

#include <va/va.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/dmabuf/external_frame.hpp"
#include "lib/va/display.hpp"

namespace dxva::va {

class SurfacePool;

// One VASurface. It belongs to its pool for life; a SurfaceLease is what one may hold.
// Thread rules: reentrant; id() and size() never change.
class Surface {
 public:
  Surface(SurfacePool& pool, std::shared_ptr<Display> display, VASurfaceID id, uint32_t fourcc,
          uint32_t width, uint32_t height);
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

  // Waits until the driver has written the picture. Refusals: SyncFailed.
  [[nodiscard]] Status sync() const;

  struct Export {
    const dmabuf::ExternalFrame* frame = nullptr;  // lent until the next call
    uint32_t generation = 0;                       // another number: other buffers
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
  std::shared_ptr<Display> display_;
  VASurfaceID id_;
  uint32_t fourcc_;
  uint32_t width_;
  uint32_t height_;

  friend class SurfacePool;
  uint32_t lends_ = 0;  // a lease is one picture

  dmabuf::ExternalFrame exported_;
  uint32_t generation_ = 0;
  uint32_t looked_at_ = 0;       // `lends_` of the last look
  uint32_t agreeing_looks_ = 0;  // in a row, that named the same buffers
  Error refused_;
  uint32_t failures_ = 0;
  uint32_t calls_to_skip_ = 0;
};

// While one exists, its surface is no target for a new picture. Shared by everyone who needs
// the pixels: libavcodec as a reference picture, a GstMemory downstream. The last one gives the
// surface back; the pool lives at least as long.
using SurfaceLease = std::shared_ptr<Surface>;

// Thread-safe.
class SurfacePool : public std::enable_shared_from_this<SurfacePool> {
 public:
  struct Config {
    uint32_t fourcc = 0;  // DRM: NV12, P010
    uint32_t width = 0;   // pixels, coded size
    uint32_t height = 0;
    uint32_t count = 0;
    friend bool operator==(const Config&, const Config&) = default;
  };
  // Refusals: FormatUnsupported.
  [[nodiscard]] static Result<std::shared_ptr<SurfacePool>> create(
      std::shared_ptr<Display> display, const Config& config);
  ~SurfacePool();

  // A free surface. Without one it waits a moment for a lease to end, then makes one more
  // surface, up to a limit: a late surface is not in the context's list, which every driver
  // seen accepts, and it is better than a lost picture. Busy after interrupt(true).
  [[nodiscard]] Result<SurfaceLease> acquire();
  // Ends a wait in acquire(), now and until interrupt(false).
  void interrupt(bool on);

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] std::vector<VASurfaceID> ids() const;
  [[nodiscard]] uint32_t late_surfaces() const;

  // Surfaces whose buffers are downstream: whoever hands them out says so, and says when they
  // are back.
  void went_downstream();
  void came_back();
  // True when fewer than `limit` are downstream, now or in a moment: those that a GPU still
  // reads are on their way. A consumer that keeps what it has costs one wait, not one for each
  // picture.
  [[nodiscard]] bool wait_for_room(uint32_t limit);

 private:
  SurfacePool(std::shared_ptr<Display> display, const Config& config);
  [[nodiscard]] Status add_surfaces(uint32_t count);
  [[nodiscard]] SurfaceLease lend(Surface* surface);
  void give_back(Surface* surface);

  const std::shared_ptr<Display> display_;  // above surfaces_: they need it to the last
  const Config config_;

  mutable std::mutex lock_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Surface>> surfaces_;
  std::vector<Surface*> free_;  // oldest first: the longest rest before it is written again
  bool interrupted_ = false;
  uint32_t downstream_ = 0;
  bool kept_ = false;  // a wait for room was in vain, and nothing has come back since
};

}  // namespace dxva::va
