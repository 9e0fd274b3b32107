// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// MPEG-2 pictures as a VA client renders them, made by hand: flat intra macroblocks, and P
// macroblocks that copy one field.

#include <va/va.h>

#include <cstdint>

#include "lib/softva/bits.hpp"
#include "tests/check/support/va_buffers.hpp"

namespace dxva::test {

using Mpeg2Parameters = VAPictureParameterBufferMPEG2;

inline constexpr uint32_t kTopField = 1;
inline constexpr uint32_t kBottomField = 2;
inline constexpr uint32_t kFrame = 3;

inline Mpeg2Parameters plain_mpeg2(uint16_t width, uint16_t height, int32_t type,
                                   uint32_t structure = kFrame) {
  Mpeg2Parameters picture{};
  picture.horizontal_size = width;
  picture.vertical_size = height;
  picture.forward_reference_picture = type == 1 ? VA_INVALID_SURFACE : 1;
  picture.backward_reference_picture = type == 3 ? 2 : VA_INVALID_SURFACE;
  picture.picture_coding_type = type;
  picture.f_code = type == 1 ? 0xffff : 0x1111;
  auto& bits = picture.picture_coding_extension.bits;
  bits.picture_structure = structure;
  bits.frame_pred_frame_dct = structure == kFrame;
  bits.progressive_frame = structure == kFrame;
  return picture;
}

// A slice with its start code, and the bits before its first macroblock.
inline softva::BitWriter begin_mpeg2_slice(uint32_t row) {
  softva::BitWriter out;
  out.put(1, 24);
  out.put(row + 1, 8);
  out.put(8, 5);    // quantiser_scale_code
  out.flag(false);  // extra_bit_slice
  return out;
}

inline void render_mpeg2_slice(softva::Picture& to, uint32_t row, softva::BitWriter& slice) {
  slice.align(false);
  VASliceParameterBufferMPEG2 parameters{};
  parameters.macroblock_offset = 32 + 6;
  parameters.slice_vertical_position = row;
  parameters.quantiser_scale_code = 8;
  render_whole_slice(to, parameters, slice.bytes());
}

inline softva::Picture begin_mpeg2(const Mpeg2Parameters& parameters, VASurfaceID target) {
  softva::Picture picture{.target = target,
                          .width = parameters.horizontal_size,
                          .height = parameters.vertical_size};
  picture.buffers.push_back(parameter_buffer(VAPictureParameterBufferType, parameters));
  return picture;
}

// Rows of macroblocks that the picture has; fields have half of them.
inline uint32_t mpeg2_rows(const Mpeg2Parameters& parameters, bool progressive = false) {
  const uint32_t rows = (parameters.vertical_size + 15U) / 16;
  if (parameters.picture_coding_extension.bits.picture_structure != kFrame)
    return (rows + 1) / 2;
  return progressive ? rows : (rows + 1) / 2 * 2;
}

// A picture of intra macroblocks of one luma, 128 or from 192 to 255, and no colour.
inline softva::Picture flat_mpeg2(const Mpeg2Parameters& parameters, VASurfaceID target,
                                  uint8_t luma, uint32_t rows) {
  softva::Picture picture = begin_mpeg2(parameters, target);
  for (uint32_t row = 0; row < rows; ++row) {
    softva::BitWriter out = begin_mpeg2_slice(row);
    for (uint32_t x = 0; x < (parameters.horizontal_size + 15U) / 16; ++x) {
      out.put(1, 1);  // macroblock_address_increment
      if (parameters.picture_coding_type == 1)
        out.put(1, 1);  // table B.2: intra
      else
        out.put(0b00011, 5);  // tables B.3 and B.4
      const auto& bits = parameters.picture_coding_extension.bits;
      if (bits.picture_structure == kFrame && !bits.frame_pred_frame_dct) out.flag(false);
      for (int block = 0; block < 6; ++block) {
        if (block == 0 && x == 0 && luma > 128) {
          out.put(0b111110, 6);  // table B.12: a difference of seven bits
          out.put(luma - 128U, 7);
        } else {
          out.put(block < 4 ? 0b100 : 0b00, block < 4 ? 3 : 2);  // no difference
        }
        out.put(0b10, 2);  // end of block
      }
    }
    render_mpeg2_slice(picture, row, out);
  }
  return picture;
}

// A P field, or a P frame of frame prediction, that copies its reference; a field copies
// `from`.
inline softva::Picture copied_mpeg2(const Mpeg2Parameters& parameters, VASurfaceID target,
                                    uint32_t rows, uint32_t from = kTopField) {
  softva::Picture picture = begin_mpeg2(parameters, target);
  for (uint32_t row = 0; row < rows; ++row) {
    softva::BitWriter out = begin_mpeg2_slice(row);
    for (uint32_t x = 0; x < (parameters.horizontal_size + 15U) / 16; ++x) {
      out.put(1, 1);      // macroblock_address_increment
      out.put(0b001, 3);  // table B.3: moved, not coded
      if (parameters.picture_coding_extension.bits.picture_structure != kFrame) {
        out.put(1, 2);  // one vector
        out.flag(from == kBottomField);
      }
      out.put(0b11, 2);  // which is (0, 0)
    }
    render_mpeg2_slice(picture, row, out);
  }
  return picture;
}

}  // namespace dxva::test
