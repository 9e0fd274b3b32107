// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/parameter_fields.hpp"

namespace dxva::softva {
namespace {

void write_picture(const VAPictureParameterBufferMPEG2& p, ParameterText& text) {
  FIELD(horizontal_size);
  FIELD(vertical_size);
  text.surface("forward_reference_picture", p.forward_reference_picture);
  text.surface("backward_reference_picture", p.backward_reference_picture);
  FIELD(picture_coding_type);
  FIELD(f_code);
  FIELD(picture_coding_extension.bits.intra_dc_precision);
  FIELD(picture_coding_extension.bits.picture_structure);
  FIELD(picture_coding_extension.bits.top_field_first);
  FIELD(picture_coding_extension.bits.frame_pred_frame_dct);
  FIELD(picture_coding_extension.bits.concealment_motion_vectors);
  FIELD(picture_coding_extension.bits.q_scale_type);
  FIELD(picture_coding_extension.bits.intra_vlc_format);
  FIELD(picture_coding_extension.bits.alternate_scan);
  FIELD(picture_coding_extension.bits.repeat_first_field);
  FIELD(picture_coding_extension.bits.progressive_frame);
  FIELD(picture_coding_extension.bits.is_first_field);
}

void write_matrix(const VAIQMatrixBufferMPEG2& p, ParameterText& text) {
  FIELD(load_intra_quantiser_matrix);
  FIELD(load_non_intra_quantiser_matrix);
  FIELD(load_chroma_intra_quantiser_matrix);
  FIELD(load_chroma_non_intra_quantiser_matrix);
  FIELD(intra_quantiser_matrix);
  FIELD(non_intra_quantiser_matrix);
  FIELD(chroma_intra_quantiser_matrix);
  FIELD(chroma_non_intra_quantiser_matrix);
}

void write_slice(const VASliceParameterBufferMPEG2& p, ParameterText& text) {
  FIELD(slice_data_size);
  FIELD(slice_data_offset);
  FIELD(slice_data_flag);
  FIELD(macroblock_offset);
  FIELD(slice_horizontal_position);
  FIELD(slice_vertical_position);
  FIELD(quantiser_scale_code);
  FIELD(intra_slice_flag);
}
}  // namespace

bool write_mpeg2_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text) {
  switch (buffer.type) {
    case VAPictureParameterBufferType:
      return write_element(buffer, index, text, write_picture);
    case VAIQMatrixBufferType:
      return write_element(buffer, index, text, write_matrix);
    case VASliceParameterBufferType:
      return write_element(buffer, index, text, write_slice);
    default:
      return false;
  }
}

}  // namespace dxva::softva
