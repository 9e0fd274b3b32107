// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// H.264 parameter sets that say what VA's buffers say. A stream's own sets never reach a
// driver; these need to agree with them only where a slice's bits or its decoding depend on it:
// cropping, timing and the level are made up. Id 0 for the only SPS, the slice's own id for a
// PPS. Thread rules: reentrant.

#include <va/va.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/base/result.hpp"

namespace dxva::softva {

// VA says the picture order counts, not what SPS fields made them in type 1. Its slices are
// rewritten to type 0 with this many bits of pic_order_cnt_lsb.
inline constexpr unsigned kRewrittenPocBits = 16;

// BadInput for what no H.264 stream may say, or this driver has no format for: both functions
// below rely on it.
[[nodiscard]] Status check_h264_picture(const VAPictureParameterBufferH264& picture);

// NAL units, header first, without start code and without emulation prevention.
[[nodiscard]] std::vector<uint8_t> write_h264_sps(const VAPictureParameterBufferH264& picture);

struct H264Pps {
  uint32_t id = 0;
  // 7.4.2.2's defaults: VA has the counts in use by each slice instead.
  uint8_t ref_count_l0_minus1 = 0;
  uint8_t ref_count_l1_minus1 = 0;
};
// BadInput: a scaling list holds a zero, or a count is above 32.
[[nodiscard]] Result<std::vector<uint8_t>> write_h264_pps(
    const VAPictureParameterBufferH264& picture,
    const std::optional<VAIQMatrixBufferH264>& matrix, const H264Pps& pps);

}  // namespace dxva::softva
