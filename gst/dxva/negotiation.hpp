// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <optional>
#include <string>

#include "gst/common/allocation_words.hpp"
#include "gst/common/gst_ptr.hpp"
#include "gst/dxva/modifier_choice.hpp"
#include "gst/dxva/output_format.hpp"
#include "lib/base/device_uuids.hpp"
#include "lib/base/path.hpp"

namespace dxva::gst {

enum class Delivery {
  None,    // nothing agreed
  DmaDrm,  // video/x-raw(memory:DMABuf), format=DMA_DRM
  Dmabuf,  // video/x-raw(memory:DMABuf), linear memory of the format
  Opaque,  // video/x-raw(memory:OpaqueFd), for our own uploader on the same device
  System,  // video/x-raw
};

// What downstream said to an allocation query.
struct AllocationAnswer {
  bool answered = false;
  bool video_meta = false;
  AllocationWords words;  // of our own uploader

  [[nodiscard]] static AllocationAnswer of(GstQuery* query);
};

// The memory that the decoder could pass on, as the first surface showed it.
struct SurfaceOffer {
  uint64_t modifier = 0;
  bool default_layout = false;        // what the caps alone say; else GstVideoMeta is needed
  std::optional<DeviceUuids> opaque;  // no dma-bufs but memory of this device
};

struct Agreement {
  Delivery delivery = Delivery::None;
  GstVideoInfo info;                  // of a buffer's pixels; never DMA_DRM
  uint64_t modifier = 0;              // of DmaDrm and Dmabuf; Opaque is linear
  std::optional<DeviceUuids> opaque;  // of Opaque
  AllocationAnswer allocation;
  bool takes_system = true;      // else dma-bufs or nothing
  ModifiersTaken taken;          // of dma-bufs of this format
  Reason reason = Reason::None;  // System: why nothing better
  // None: what downstream takes instead of which caps. Null where that was not the trouble.
  GstPtr<GstCaps> taken_instead;
  GstPtr<GstCaps> not_taken;

  [[nodiscard]] bool is_dmabuf() const {
    return delivery == Delivery::DmaDrm || delivery == Delivery::Dmabuf;
  }
  // Surfaces leave as they are.
  [[nodiscard]] bool lends() const { return is_dmabuf() || delivery == Delivery::Opaque; }
};

// The layouts in which `caps` take dma-bufs of a DRM format, in their order; `dma_drm`: whether
// this GStreamer can say more than linear.
[[nodiscard]] ModifiersTaken modifiers_in(const GstCaps* caps, uint32_t fourcc, bool dma_drm);

// Finds the best form in which downstream takes pictures, and sends the caps.
// Reentrant; called with the decoder's stream lock, like every method of it.
class Negotiator {
 public:
  // `last_answer` is what decide_allocation() saw in the last negotiation; the decoder writes
  // it while negotiate() runs.
  Negotiator(GstVideoDecoder& decoder, const AllocationAnswer& last_answer)
      : decoder_(decoder), last_answer_(last_answer) {}

  // Whether downstream names dma-bufs, or opaque memory, at all. "Anything" is not naming:
  // fakesink takes every caps and then looks at none of them.
  [[nodiscard]] bool downstream_names_surfaces() const;
  // Of those, the layouts in which it takes surfaces of this DRM format.
  [[nodiscard]] ModifiersTaken modifiers_taken(uint32_t fourcc) const;

  // `taken` goes with the offer. Without one `reason` says why. Delivery::None: downstream
  // takes nothing of this.
  [[nodiscard]] Agreement negotiate(const OutputFormat& output, GstVideoCodecState* input,
                                    std::optional<SurfaceOffer> offer,
                                    const ModifiersTaken& taken, Reason reason);

 private:
  [[nodiscard]] bool try_caps(const OutputFormat& output, GstVideoFormat format,
                              GstVideoCodecState* input, Delivery delivery,
                              const SurfaceOffer& offer, Agreement& out);

  GstVideoDecoder& decoder_;
  const AllocationAnswer& last_answer_;
};

}  // namespace dxva::gst
