// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The start of an H.264 slice: what a rebuilt stream must know of it, and the one change it
// needs. Thread rules: reentrant.

#include <va/va.h>

#include <cstdint>
#include <span>
#include <vector>

#include "lib/base/result.hpp"

namespace dxva::softva {

struct H264SliceHead {
  uint32_t pps_id = 0;
  bool idr = false;
  bool predicts = false;    // P, SP or B: num_ref_idx_l0 counts
  bool bipredicts = false;  // B: num_ref_idx_l1 counts too
  bool overrides_ref_counts = false;
  // Where pic_order_cnt_lsb or delta_pic_order_cnt is coded, in bits from the NAL header and
  // without emulation prevention. begin == end: nowhere.
  size_t order_count_begin = 0;
  size_t order_count_end = 0;
};

// BadInput: no slice of a decodable kind, or it ends within its header.
[[nodiscard]] Result<H264SliceHead> parse_h264_slice_head(
    std::span<const uint8_t> nal, const VAPictureParameterBufferH264& picture);

// A slice of a stream with picture order count type 1, said with type 0: pic_order_cnt_lsb (of
// kRewrittenPocBits) takes the place of the deltas. The result has no emulation prevention.
// `header_bits` is VA's slice_data_bit_offset; CABAC data begins at the next whole byte after
// it, CAVLC data right there.
[[nodiscard]] Result<std::vector<uint8_t>> rewrite_h264_order_count(
    std::span<const uint8_t> nal, const H264SliceHead& head,
    const VAPictureParameterBufferH264& picture, size_t header_bits);

}  // namespace dxva::softva
