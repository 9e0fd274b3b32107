// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// VP8 and VP9 frames made by hand. Their arithmetic coder takes any bytes: zeros are blocks
// predicted from their neighbours without residual, noise is noise, both are valid frames.

#include <va/va.h>

#include <algorithm>
#include <cstdint>

#include "lib/softva/bits.hpp"
#include "tests/check/support/va_buffers.hpp"

namespace dxva::test {

// A frame of a VP8 stream as a client renders it, which has cut off the frame tag: `payload` is
// the first partition of `first_bytes`, of which the client has parsed `header_bits`, and the
// second.
inline softva::Picture vp8_picture(bool key, uint32_t width, uint32_t height, Bytes payload,
                                   uint32_t first_bytes, uint32_t header_bits,
                                   uint32_t version = 0) {
  VAPictureParameterBufferVP8 parameters{};
  parameters.frame_width = width;
  parameters.frame_height = height;
  parameters.pic_fields.bits.key_frame = key ? 0 : 1;
  parameters.pic_fields.bits.version = version & 7;
  VASliceParameterBufferVP8 slice{};
  slice.macroblock_offset = header_bits;
  slice.num_of_partitions = 2;
  slice.partition_size[0] = first_bytes - (header_bits + 7) / 8;
  slice.partition_size[1] = static_cast<uint32_t>(payload.size()) - first_bytes;
  softva::Picture picture{.target = 1, .width = width, .height = height};
  picture.buffers.push_back(parameter_buffer(VAPictureParameterBufferType, parameters));
  render_whole_slice(picture, slice, std::move(payload));
  return picture;
}

struct Vp9Syntax {
  bool key = true;
  bool shows_existing = false;
  unsigned profile = 0;
  uint8_t refresh = 1;  // of an inter frame
  bool size_of_reference = true;
  Bytes tiles = Bytes(64, 0);
};

// VP9 bitstream specification 6.2 uncompressed_header(), then an empty compressed header that
// changes nothing and one tile.
inline Bytes vp9_frame(uint32_t width, uint32_t height, const Vp9Syntax& syntax) {
  constexpr uint32_t kHeaderBytes = 32;
  softva::BitWriter out;
  out.put(2, 2);
  out.put(syntax.profile & 1, 1);
  out.put(syntax.profile >> 1, 1);
  out.flag(syntax.shows_existing);
  if (syntax.shows_existing) {
    out.put(0, 3);
    out.align(false);
    return out.bytes();
  }
  out.flag(!syntax.key);
  out.flag(true);   // show_frame
  out.flag(false);  // error_resilient_mode
  const auto size = [&] {
    out.put(width - 1, 16);
    out.put(height - 1, 16);
  };
  if (syntax.key) {
    out.put(0x498342, 24);
    if (syntax.profile >= 2) out.flag(false);  // ten bits
    out.put(2, 3);                             // BT.709
    out.flag(false);                           // limited range
    size();
    out.flag(false);  // render_and_frame_size_different
  } else {
    out.put(0, 2);  // reset_frame_context: not intra only, being shown
    out.put(syntax.refresh, 8);
    for (int i = 0; i < 3; ++i) {
      out.put(0, 3);  // every reference is slot 0
      out.flag(false);
    }
    out.flag(syntax.size_of_reference);
    if (!syntax.size_of_reference) {
      out.put(0, 2);  // nor that of the others
      size();
    }
    out.flag(false);  // render_and_frame_size_different
    out.flag(false);  // allow_high_precision_mv
    out.flag(true);   // is_filter_switchable
  }
  out.flag(true);     // refresh_frame_context
  out.flag(false);    // frame_parallel_decoding_mode
  out.put(0, 2);      // frame_context_idx
  out.put(0, 6 + 3);  // loop filter off
  out.flag(false);
  out.put(60, 8);     // base_q_idx
  out.put(0, 3 + 1);  // no deltas, no segmentation
  const uint32_t columns = (width + 63) / 64;
  for (uint32_t most = 1; columns >> most >= 4; ++most) {  // increment_tile_cols_log2
    out.flag(false);
    break;
  }
  out.flag(false);  // tile_rows_log2
  out.put(kHeaderBytes, 16);
  out.align(false);
  Bytes frame = out.bytes();
  frame.resize(frame.size() + kHeaderBytes, 0);
  frame.insert(frame.end(), syntax.tiles.begin(), syntax.tiles.end());
  return frame;
}

inline softva::Picture vp9_picture(uint32_t width, uint32_t height, const Vp9Syntax& syntax) {
  VADecPictureParameterBufferVP9 parameters{};
  parameters.frame_width = static_cast<uint16_t>(width);
  parameters.frame_height = static_cast<uint16_t>(height);
  std::fill(std::begin(parameters.reference_frames), std::end(parameters.reference_frames),
            syntax.key ? VA_INVALID_SURFACE : 1);
  parameters.pic_fields.bits.frame_type = syntax.key ? 0 : 1;
  parameters.profile = static_cast<uint8_t>(syntax.profile);
  softva::Picture picture{.target = 1, .width = width, .height = height};
  picture.buffers.push_back(parameter_buffer(VAPictureParameterBufferType, parameters));
  render_whole_slice(picture, VASliceParameterBufferVP9{}, vp9_frame(width, height, syntax));
  return picture;
}

}  // namespace dxva::test
