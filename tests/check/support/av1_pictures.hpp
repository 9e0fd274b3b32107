// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// AV1 frames as a VA client renders them, made by hand. Their arithmetic coder takes any bytes.

#include <va/va.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "tests/check/support/va_buffers.hpp"

namespace dxva::test {

using Av1Parameters = VADecPictureParameterBufferAV1;
using Av1Map = std::array<VASurfaceID, 8>;

inline Av1Map av1_map(VASurfaceID all) {
  Av1Map map;
  map.fill(all);
  return map;
}

// A shown key frame, or an inter frame of the last two references, of one tile.
inline Av1Parameters plain_av1(uint16_t width, uint16_t height, bool key,
                               const Av1Map& map = av1_map(VA_INVALID_SURFACE)) {
  Av1Parameters picture{};
  picture.order_hint_bits_minus_1 = 6;
  auto& sequence = picture.seq_info_fields.fields;
  sequence.enable_order_hint = sequence.enable_cdef = sequence.enable_filter_intra = 1;
  sequence.subsampling_x = sequence.subsampling_y = 1;
  picture.frame_width_minus1 = static_cast<uint16_t>(width - 1);
  picture.frame_height_minus1 = static_cast<uint16_t>(height - 1);
  std::copy(map.begin(), map.end(), picture.ref_frame_map);
  for (uint8_t i = 0; i < 7; ++i) picture.ref_frame_idx[i] = i;
  picture.primary_ref_frame = 7;
  picture.tile_cols = picture.tile_rows = 1;
  auto& info = picture.pic_info_fields.bits;
  info.frame_type = key ? 0 : 1;
  info.show_frame = 1;
  info.uniform_tile_spacing_flag = 1;
  picture.base_qindex = 80;
  picture.mode_control_fields.bits.tx_mode = 1;
  for (auto& warp : picture.wm) warp.wmtype = VAAV1TransformationIdentity;
  return picture;
}

inline softva::Picture av1_picture(const Av1Parameters& parameters, VASurfaceID target,
                                   const Bytes& tile) {
  Av1Parameters own = parameters;
  own.current_frame = own.current_display_picture = target;
  softva::Picture picture{.target = target,
                          .width = parameters.frame_width_minus1 + 1U,
                          .height = parameters.frame_height_minus1 + 1U};
  picture.buffers.push_back(parameter_buffer(VAPictureParameterBufferType, own));
  for (uint16_t row = 0; row < parameters.tile_rows; ++row)
    for (uint16_t column = 0; column < parameters.tile_cols; ++column) {
      VASliceParameterBufferAV1 slice{};
      slice.tile_row = row;
      slice.tile_column = column;
      render_whole_slice(picture, slice, tile);
    }
  return picture;
}

}  // namespace dxva::test
