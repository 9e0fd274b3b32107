// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The header of an H.265 slice segment, said anew. A stream's slices name reference picture
// sets of their sequence parameter set, which VA does not have; ours name none. The slice's
// data stays as it is, byte for byte. Thread rules: reentrant.

#include <va/va.h>

#include <cstdint>
#include <span>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/softva/hevc_reference_set.hpp"

namespace dxva::softva {

// 7.4.2.2. Decoding a picture depends on no more of its NAL unit type than these tell apart.
enum class HevcNalType : uint8_t {
  Trail = 1,  // TRAIL_R
  Idr = 20,   // IDR_N_LP: intra, and nothing before it counts
};

// What all slices of one picture have in common.
struct HevcSliceContext {
  const VAPictureParameterBufferHEVC& picture;
  HevcReferenceSet references;
  HevcNalType type = HevcNalType::Trail;
  // Of the picture that the decoder counts from: an IDR picture's own count is 0.
  int32_t order_count_base = 0;
};

struct HevcNalHeader {
  uint8_t type = 0;
  [[nodiscard]] bool is_idr() const { return type == 19 || type == 20; }
  [[nodiscard]] bool is_broken_link() const { return type >= 16 && type <= 18; }
  [[nodiscard]] bool is_irap() const { return type >= 16 && type <= 23; }
};
// BadInput: not a slice segment of the base layer.
[[nodiscard]] Result<HevcNalHeader> parse_hevc_nal_header(std::span<const uint8_t> nal);

// Whether slices may need to say the order of their references: VA's list of long term
// pictures may have another order than the stream's.
[[nodiscard]] bool needs_lists_modification(const HevcSliceContext& context);

// The slice segment as a NAL unit with its emulation prevention. BadInput: its header cannot be
// read, or does not end where VA says.
[[nodiscard]] Result<std::vector<uint8_t>> rewrite_hevc_slice(
    std::span<const uint8_t> nal, const VASliceParameterBufferHEVC& slice,
    const HevcSliceContext& context);

}  // namespace dxva::softva
