// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// lib/surface is what a decoded picture on a device is, whoever made it: VA-API (lib/va) or
// NVDEC (lib/cuda). Layers above export it, show it and read it by this, and ask nobody which
// of them it was.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lib/accel/session.hpp"
#include "lib/base/fastest.hpp"
#include "lib/base/result.hpp"
#include "lib/dmabuf/external_frame.hpp"
#include "lib/video/frame_view.hpp"

namespace dxva::surface {

class Pool;

// What the reader of a mapping does with it.
enum class Reads : uint8_t {
  Anywhere,  // by the view's pointers, or as below
  ByCopy,    // with copy_plane() only: the pointers may be a device's
};

// A picture's pixels for the CPU, as long as this lives. Its surface lives longer.
class Mapping {
 public:
  virtual ~Mapping() = default;
  [[nodiscard]] virtual const video::FrameView& view() const = 0;
  // Copies a plane of the view, or a part of it, the way that is fast for this memory. `to` as
  // of video::copy_plane().
  virtual void copy_plane(const video::PlaneView& from, uint8_t* to,
                          uint32_t to_pitch_bytes) = 0;
  // The caller has copied the whole picture with copy_plane(). An error: not all of it came.
  // True: its time is news to standings().
  [[nodiscard]] virtual Result<bool> whole_picture_copied() = 0;

  // The way of this mapping, and how all of them stand for pictures like it; for `stats`. The
  // name lives for ever.
  [[nodiscard]] virtual const char* way_name() const = 0;
  [[nodiscard]] virtual std::vector<NamedStanding> standings() const { return {}; }
};

// One picture's memory. It belongs to its pool for life; a Lease is what one may hold.
// Thread rules: reentrant; format and size never change.
class Surface {
 public:
  // `index` is its number in the pool's session; `fourcc` a DRM one.
  Surface(Pool& pool, accel::Index index, uint32_t fourcc, uint32_t width, uint32_t height)
      : pool_(pool), index_(index), fourcc_(fourcc), width_(width), height_(height) {}
  virtual ~Surface() = default;
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;

  [[nodiscard]] uint32_t fourcc() const { return fourcc_; }
  [[nodiscard]] uint32_t width() const { return width_; }  // pixels, coded size
  [[nodiscard]] uint32_t height() const { return height_; }
  // The pool it came from, which need not be the decoder's newest: after a resolution change
  // delayed pictures of the old size still come out.
  [[nodiscard]] Pool& pool() const { return pool_; }
  // For logs: a number that the device's other tools would know it by.
  [[nodiscard]] virtual uint32_t id() const = 0;

  // Waits until the device has written the picture, and tells the session how that went: what
  // the picture is like. Refusals: SyncFailed, also for a device that does not come back;
  // DeviceLost. Busy: the pool was interrupted.
  [[nodiscard]] virtual Result<accel::Severity> sync() = 0;
  // Whether the device says that it is still writing. False also when it does not say.
  [[nodiscard]] virtual bool still_written() const { return false; }

  struct Export {
    std::shared_ptr<const dmabuf::ExternalFrame> frame;
    uint32_t generation = 0;  // another number: other buffers
  };
  // The memory as descriptors of the same buffers each time, so that caches keyed by them stay
  // right.
  [[nodiscard]] virtual Result<Export> exported() = 0;
  // Somebody could not use the buffers: they are looked at anew for the next pictures.
  virtual void doubt_export() {}

  // For the CPU. `exported` is its memory where that is known. The picture is written; a
  // refusal means that nobody can read it.
  [[nodiscard]] virtual Result<std::unique_ptr<Mapping>> map(
      Reads reads, std::shared_ptr<const dmabuf::ExternalFrame> exported) const = 0;

  // For a reader that goes over the picture once, where it lies, by plain loads.
  struct InPlace {
    std::unique_ptr<Mapping> mapping;
    // One block that the whole view lies in, for as long as the mapping lives. What is between
    // rows and planes is anything.
    std::span<const uint8_t> memory;
  };
  // As map(). Refused where plain loads are slower than copying first (memory that the CPU does
  // not cache), and until copies have shown which it is.
  [[nodiscard]] virtual Result<InPlace> map_in_place(
      const std::shared_ptr<const dmabuf::ExternalFrame>&) const {
    return Error{.code = ErrorCode::Unsupported, .text = "no memory of the CPU's"};
  }

  // What a layer above ties to this surface's life; goes before its memory does.
  std::shared_ptr<void> attachment;

 protected:
  // How often it was lent: a lease is one picture.
  [[nodiscard]] uint32_t lends() const { return lends_; }

 private:
  Pool& pool_;
  const accel::Index index_;
  const uint32_t fourcc_;
  const uint32_t width_;
  const uint32_t height_;

  friend class Pool;
  uint32_t lends_ = 0;
  bool rests_ = true;  // before it is a target again; behind the pool's lock

  // Behind the pool's lock; numbers are of the session's pairs as they begin.
  uint64_t picture_ = 0;           // that the surface was lent for
  uint64_t begun_at_release_ = 0;  // the last that had begun when it was released before that
};

// While one exists, its surface is no target for a new picture, and its pool lives. Two kinds
// have the same type: a decoder's, shared by all who need the pixels for decoding or output,
// and the one that goes with a buffer downstream (Pool::show()).
using Lease = std::shared_ptr<Surface>;

}  // namespace dxva::surface
