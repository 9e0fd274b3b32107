// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Baseline JPEG pictures as a VA client renders them, made by hand: flat blocks.

#include <va/va.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "lib/softva/bits.hpp"
#include "tests/check/support/va_buffers.hpp"

namespace dxva::test {

struct JpegSampling {
  uint8_t h, v;  // of the first component; the others have 1
};

// `components`: 1 or 3.
inline VAPictureParameterBufferJPEGBaseline plain_jpeg(uint16_t width, uint16_t height,
                                                       uint8_t components,
                                                       JpegSampling sampling) {
  VAPictureParameterBufferJPEGBaseline picture{};
  picture.picture_width = width;
  picture.picture_height = height;
  picture.num_components = components;
  for (uint8_t i = 0; i < components; ++i)
    picture.components[i] = {.component_id = static_cast<uint8_t>(i + 1),
                             .h_sampling_factor = i == 0 ? sampling.h : uint8_t{1},
                             .v_sampling_factor = i == 0 ? sampling.v : uint8_t{1},
                             .quantiser_table_selector = 0};
  return picture;
}

// Every block is flat: the first luma block says `luma` as a difference of 0 or 64 to 127 from
// 128. The Huffman tables have two codes: 0 for no difference or no coefficients, 10 for a
// difference of seven bits.
inline softva::Picture flat_jpeg(const VAPictureParameterBufferJPEGBaseline& parameters,
                                 uint8_t luma) {
  VAIQMatrixBufferJPEGBaseline matrix{};
  matrix.load_quantiser_table[0] = 1;
  std::fill(std::begin(matrix.quantiser_table[0]), std::end(matrix.quantiser_table[0]), 8);
  VAHuffmanTableBufferJPEGBaseline huffman{};
  huffman.load_huffman_table[0] = 1;
  auto& table = huffman.huffman_table[0];
  table.num_dc_codes[0] = table.num_dc_codes[1] = 1;
  table.dc_values[1] = 7;
  table.num_ac_codes[0] = 1;

  VASliceParameterBufferJPEGBaseline scan{};
  scan.num_components = parameters.num_components;
  for (unsigned i = 0; i < std::min<unsigned>(scan.num_components, 4); ++i)
    scan.components[i].component_selector = parameters.components[i].component_id;
  const unsigned h =
      parameters.num_components > 1 ? parameters.components[0].h_sampling_factor : 1;
  const unsigned v =
      parameters.num_components > 1 ? parameters.components[0].v_sampling_factor : 1;
  const unsigned mcus = (parameters.picture_width + 8 * h - 1) / (8 * h) *
                        ((parameters.picture_height + 8 * v - 1) / (8 * v));
  const unsigned blocks = h * v + (parameters.num_components > 1 ? 2 : 0);
  scan.num_mcus = mcus;
  softva::BitWriter out;
  for (unsigned i = 0; i < mcus * blocks; ++i) {
    if (i == 0 && luma > 128) {
      out.put(0b10, 2);
      out.put(luma - 128U, 7);  // times 8, by 8: what a sample is
    } else {
      out.put(0, 1);
    }
    out.put(0, 1);  // end of block
  }
  out.align(true);
  Bytes data;
  for (const uint8_t byte : out.bytes()) {
    data.push_back(byte);
    if (byte == 0xff) data.push_back(0);
  }

  softva::Picture picture{
      .target = 1, .width = parameters.picture_width, .height = parameters.picture_height};
  picture.buffers.push_back(parameter_buffer(VAPictureParameterBufferType, parameters));
  picture.buffers.push_back(parameter_buffer(VAIQMatrixBufferType, matrix));
  picture.buffers.push_back(parameter_buffer(VAHuffmanTableBufferType, huffman));
  render_whole_slice(picture, scan, std::move(data));
  return picture;
}

}  // namespace dxva::test
