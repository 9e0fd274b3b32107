// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/softva/frame_decoder.hpp"

namespace dxva::test {

// Reads every sample of a decoded picture, so that a sanitizer sees planes that are shorter
// than they are said to be.
inline uint64_t pixel_sum(const softva::Pixels& pixels) {
  using Layout = softva::Pixels::Layout;
  uint64_t sum = 0;
  for (int plane = 0; plane < (pixels.layout == Layout::Gray ? 1 : 3); ++plane) {
    const bool halves_width =
        plane > 0 && (pixels.layout == Layout::Yuv420 || pixels.layout == Layout::Yuv422);
    const bool halves_height =
        plane > 0 && (pixels.layout == Layout::Yuv420 || pixels.layout == Layout::Yuv440);
    const uint32_t width = halves_width ? (pixels.width + 1) / 2 : pixels.width;
    const uint32_t height = halves_height ? (pixels.height + 1) / 2 : pixels.height;
    const uint32_t row_bytes = width * (pixels.bit_depth > 8 ? 2 : 1);
    for (uint32_t y = 0; y < height; ++y)
      for (uint32_t x = 0; x < row_bytes; ++x)
        sum += pixels.planes[plane][size_t{y} * pixels.pitches[plane] + x];
  }
  return sum;
}

}  // namespace dxva::test
