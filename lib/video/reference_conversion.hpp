// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/video/colorimetry.hpp"
#include "lib/video/frame_view.hpp"

namespace dxva::video {

// NV12 or P010 to RGBA bytes, R first, width * 4 bytes a row: slow, in doubles, one pixel at a
// time, and written from the standard's equations rather than from yuv_to_rgb()'s matrix. It is
// what a faster conversion is tested against. Every pixel takes the chroma sample of its 2x2
// block (no interpolation). BadInput: another format, or planes too small for the size.
[[nodiscard]] Result<std::vector<uint8_t>> reference_rgba(const FrameView& frame,
                                                          const Colorimetry& colorimetry);

}  // namespace dxva::video
