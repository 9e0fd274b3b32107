// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// H.265 parameter sets that say what VA's buffers say, one of each kind with id 0. They need to
// agree with the stream's own, which never reach a driver, only where a slice's bits or its
// decoding depend on it. What VA leaves out (the lists of reference picture sets) slices say
// for themselves, see hevc_slice.hpp. Thread rules: reentrant.

#include <va/va.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/base/result.hpp"

namespace dxva::softva {

// Slices say their picture order count with this many bits, the most there can be: it is then
// unique among the pictures that a decoder holds, and no lost picture makes it ambiguous.
inline constexpr unsigned kHevcPocBits = 16;
// The low bits of a picture order count as a decoder has it that counts from `base`.
[[nodiscard]] constexpr uint32_t hevc_order_count(int32_t order_count, int32_t base) {
  return (static_cast<uint32_t>(order_count) - static_cast<uint32_t>(base)) &
         ((1U << kHevcPocBits) - 1);
}

// BadInput for what no H.265 stream may say, or this driver has no format for: the functions
// below rely on it.
[[nodiscard]] Status check_hevc_picture(const VAPictureParameterBufferHEVC& picture);

// NAL units, header first, without start code and without emulation prevention.
[[nodiscard]] std::vector<uint8_t> write_hevc_vps(const VAPictureParameterBufferHEVC& picture);
[[nodiscard]] std::vector<uint8_t> write_hevc_sps(const VAPictureParameterBufferHEVC& picture);
// `lists_modification`: slices of this picture may change the order of their references.
// BadInput: a scaling list holds a zero.
[[nodiscard]] Result<std::vector<uint8_t>> write_hevc_pps(
    const VAPictureParameterBufferHEVC& picture,
    const std::optional<VAIQMatrixBufferHEVC>& matrix, bool lists_modification);

// How a picture divides into coding tree blocks. 6.3.1.
struct HevcCtbs {
  unsigned log2_size;
  uint32_t columns;
  uint32_t rows;
};
[[nodiscard]] HevcCtbs hevc_ctbs(const VAPictureParameterBufferHEVC& picture);

}  // namespace dxva::softva
