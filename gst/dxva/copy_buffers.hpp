// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "gst/common/gst_ptr.hpp"
#include "gst/dxva/negotiation.hpp"

namespace dxva::gst {

// Buffers for copies that leave under the caps of lent surfaces: from downstream's own
// pool or one of system memory where it takes mixed memory, else linear dma-bufs of ours.
// Reentrant; used with the stream lock.
class CopyBuffers {
 public:
  // Of our own dma-bufs.
  explicit CopyBuffers(GstAllocator* allocator) : allocator_(allocator) {}
  ~CopyBuffers() { reset(); }
  CopyBuffers(const CopyBuffers&) = delete;
  CopyBuffers& operator=(const CopyBuffers&) = delete;

  // With the caps and not with the first copy: a pool needs a descriptor, and there may be none
  // left just when surfaces can no longer be exported.
  void prepare(const Agreement& agreement);
  // Null: a copy cannot leave under these caps, or should not: each dma-buf of ours is a
  // descriptor, so where downstream takes system memory too, no more than `most` are out.
  [[nodiscard]] GstPtr<GstBuffer> acquire(const Agreement& agreement, uint32_t most) const;
  void reset();

 private:
  [[nodiscard]] bool start(GstPtr<GstBufferPool> pool, const Agreement& agreement);
  [[nodiscard]] GstPtr<GstBuffer> mixed() const;
  [[nodiscard]] GstPtr<GstBuffer> linear_dmabuf(const Agreement& agreement) const;

  GstAllocator* allocator_;  // the decoder's, which outlives us
  GstBufferPool* mixed_pool_ = nullptr;
  // Dma-bufs of ours that somebody has; buffers outlive the element.
  const std::shared_ptr<std::atomic<uint32_t>> out_ =
      std::make_shared<std::atomic<uint32_t>>(0);
};

// Whether acquire() has a source under these caps, for frames that could also be lent.
[[nodiscard]] bool copies_fit(const Agreement& agreement);

}  // namespace dxva::gst
