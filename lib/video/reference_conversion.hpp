// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/video/colorimetry.hpp"
#include "lib/video/frame_view.hpp"

namespace dxva::video {

// NV12 or P010 to R, G and B of `bits` (1 to 16) each, a word a channel, width * 3 words a row:
// slow, in doubles, one pixel at a time, and written from the standard's equations rather than
// from yuv_to_rgb()'s matrix. It is what a faster conversion is tested against. Every pixel
// takes the chroma sample of its 2x2 block (no interpolation). BadInput: another format or
// depth, or planes too small for the size.
[[nodiscard]] Result<std::vector<uint16_t>> reference_rgb(const FrameView& frame,
                                                          const Colorimetry& colorimetry,
                                                          uint32_t bits);
// The same in bytes with an opaque alpha, width * 4 bytes a row.
[[nodiscard]] Result<std::vector<uint8_t>> reference_rgba(const FrameView& frame,
                                                          const Colorimetry& colorimetry);

}  // namespace dxva::video
