// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "gst/dxva/negotiation.hpp"
#include "lib/base/fourcc.hpp"
#include "lib/base/path.hpp"
#include "lib/decode/bitstream_decoder.hpp"
#include "lib/surface/surface.hpp"
#include "lib/video/nv12_layout.hpp"

namespace dxva::gst {

// What one picture's surface could be passed on as.
struct SurfaceLook {
  Reason refused = Reason::None;
  uint64_t modifier = kModifierInvalid;  // as exported, also of a layout that is refused
  std::optional<DeviceUuids> opaque;     // the same: no dma-bufs
  surface::Surface::Export exported;
  video::Layout layout;
};

// Exports the surface under `picture` and proves its layout.
[[nodiscard]] SurfaceLook look_at(const decode::DecodedFrame& picture, video::LayoutRule rule);

// The same in the words of negotiation; only of a look that refused nothing.
[[nodiscard]] SurfaceOffer offer_of(const SurfaceLook& look,
                                    const decode::DecodedFrame& picture);

}  // namespace dxva::gst
