// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/parameter_fields.hpp"

namespace dxva::softva {
namespace {

void write_picture(const VAPictureParameterBufferJPEGBaseline& p, ParameterText& text) {
  FIELD(picture_width);
  FIELD(picture_height);
  write_each("components", p.components, text, [&text](const auto& item) {
    ITEM(component_id);
    ITEM(h_sampling_factor);
    ITEM(v_sampling_factor);
    ITEM(quantiser_table_selector);
  });
  FIELD(num_components);
  FIELD(color_space);
  FIELD(rotation);
}

void write_matrix(const VAIQMatrixBufferJPEGBaseline& p, ParameterText& text) {
  FIELD(load_quantiser_table);
  FIELD(quantiser_table);
}

void write_huffman(const VAHuffmanTableBufferJPEGBaseline& p, ParameterText& text) {
  FIELD(load_huffman_table);
  write_each("huffman_table", p.huffman_table, text, [&text](const auto& item) {
    ITEM(num_dc_codes);
    ITEM(dc_values);
    ITEM(num_ac_codes);
    ITEM(ac_values);
  });
}

void write_slice(const VASliceParameterBufferJPEGBaseline& p, ParameterText& text) {
  FIELD(slice_data_size);
  FIELD(slice_data_offset);
  FIELD(slice_data_flag);
  FIELD(slice_horizontal_position);
  FIELD(slice_vertical_position);
  write_each("components", p.components, text, [&text](const auto& item) {
    ITEM(component_selector);
    ITEM(dc_table_selector);
    ITEM(ac_table_selector);
  });
  FIELD(num_components);
  FIELD(restart_interval);
  FIELD(num_mcus);
}
}  // namespace

bool write_jpeg_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text) {
  switch (buffer.type) {
    case VAPictureParameterBufferType:
      return write_element(buffer, index, text, write_picture);
    case VAIQMatrixBufferType:
      return write_element(buffer, index, text, write_matrix);
    case VAHuffmanTableBufferType:
      return write_element(buffer, index, text, write_huffman);
    case VASliceParameterBufferType:
      return write_element(buffer, index, text, write_slice);
    default:
      return false;
  }
}

}  // namespace dxva::softva
