// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/fourcc.hpp"

namespace dxva::gst {

// A pixel format that the uploader takes as a dma-buf, with the modifiers that become textures.
struct DmabufOffer {
  uint32_t fourcc = 0;
  std::vector<uint64_t> modifiers;
};
using DmabufOffers = std::vector<DmabufOffer>;

// Linear dma-bufs are always taken: where they cannot be imported they can be mapped and
// copied. Also the answer while there is no GL context to ask.
[[nodiscard]] inline DmabufOffers linear_offers() {
  return {{format::kNV12, {kModifierLinear}}, {format::kP010, {kModifierLinear}}};
}

}  // namespace dxva::gst
