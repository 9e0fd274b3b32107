// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/gl/egl_api.hpp"

namespace dxva::gst {

// A pixel format that the uploader takes as a dma-buf, with the modifiers that become textures,
// the best first.
struct DmabufOffer {
  uint32_t fourcc = 0;
  std::vector<uint64_t> modifiers;        // plane by plane: for any output
  std::vector<uint64_t> drawn_modifiers;  // for RGB, wherever the planes stand

  [[nodiscard]] bool has_planes(uint64_t modifier) const;
  [[nodiscard]] bool is_drawn(uint64_t modifier) const;
  [[nodiscard]] std::vector<uint64_t> for_rgb() const;  // all that can become RGB
};
using DmabufOffers = std::vector<DmabufOffer>;

// What EGL lists, ranked: first what imports wherever the planes are, and of that the tilings,
// because they are what hardware writes and samples fastest; a tiling that only goes plane by
// plane comes last, since its chroma plane mostly stands at an offset. Modifiers with planes of
// metadata are left out.
[[nodiscard]] DmabufOffers rank_offers(const gl::ImportFormats& formats, bool samples_external);

// Linear dma-bufs are always taken: where they cannot be imported they can be mapped and
// copied. Also the answer while there is no GL context to ask.
[[nodiscard]] inline DmabufOffers linear_offers() {
  return {{format::kNV12, {kModifierLinear}, {kModifierLinear}},
          {format::kP010, {kModifierLinear}, {kModifierLinear}}};
}

}  // namespace dxva::gst
