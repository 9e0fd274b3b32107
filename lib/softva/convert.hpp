// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "lib/base/result.hpp"
#include "lib/softva/format.hpp"
#include "lib/softva/frame_decoder.hpp"

namespace dxva::softva {

// Linear pixels somewhere in memory; lends everything. Planes and pitches are multiples of the
// format's sample size.
struct PixelView {
  const Format* format = nullptr;
  uint32_t width = 0;  // pixels
  uint32_t height = 0;
  uint8_t* planes[kMaxPlanes] = {};
  uint32_t pitches[kMaxPlanes] = {};  // bytes
};

// A rectangle of pixels that starts at (x, y).
struct PixelArea {
  uint32_t x, y, width, height;
};

// Writes a decoded picture into a surface: the part that both have, since pictures are whole
// macroblocks and surfaces often are not; pixels the picture does not have stay as they were.
// Unsupported: the surface's format does not hold what was decoded.
[[nodiscard]] Status store_picture(const Pixels& picture, const PixelView& surface);

// Copies `area` of `source` to (x, y) of `target`, converting between formats of one depth. An
// odd start takes the chroma sample that covers it. BadInput: it does not lie inside both.
// Unsupported: no conversion between the two formats.
[[nodiscard]] Status copy_area(const PixelView& source, const PixelArea& area,
                               const PixelView& target, uint32_t x, uint32_t y);

}  // namespace dxva::softva
