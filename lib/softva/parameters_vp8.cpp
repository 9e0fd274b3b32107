// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/parameter_fields.hpp"

namespace dxva::softva {
namespace {

void write_picture(const VAPictureParameterBufferVP8& p, ParameterText& text) {
  FIELD(frame_width);
  FIELD(frame_height);
  text.surface("last_ref_frame", p.last_ref_frame);
  text.surface("golden_ref_frame", p.golden_ref_frame);
  text.surface("alt_ref_frame", p.alt_ref_frame);
  text.surface("out_of_loop_frame", p.out_of_loop_frame);
  FIELD(pic_fields.bits.key_frame);
  FIELD(pic_fields.bits.version);
  FIELD(pic_fields.bits.segmentation_enabled);
  FIELD(pic_fields.bits.update_mb_segmentation_map);
  FIELD(pic_fields.bits.update_segment_feature_data);
  FIELD(pic_fields.bits.filter_type);
  FIELD(pic_fields.bits.sharpness_level);
  FIELD(pic_fields.bits.loop_filter_adj_enable);
  FIELD(pic_fields.bits.mode_ref_lf_delta_update);
  FIELD(pic_fields.bits.sign_bias_golden);
  FIELD(pic_fields.bits.sign_bias_alternate);
  FIELD(pic_fields.bits.mb_no_coeff_skip);
  FIELD(pic_fields.bits.loop_filter_disable);
  FIELD(mb_segment_tree_probs);
  FIELD(loop_filter_level);
  FIELD(loop_filter_deltas_ref_frame);
  FIELD(loop_filter_deltas_mode);
  FIELD(prob_skip_false);
  FIELD(prob_intra);
  FIELD(prob_last);
  FIELD(prob_gf);
  FIELD(y_mode_probs);
  FIELD(uv_mode_probs);
  FIELD(mv_probs);
  FIELD(bool_coder_ctx.range);
  FIELD(bool_coder_ctx.value);
  FIELD(bool_coder_ctx.count);
}

void write_matrix(const VAIQMatrixBufferVP8& p, ParameterText& text) {
  FIELD(quantization_index);
}

void write_probability(const VAProbabilityDataBufferVP8& p, ParameterText& text) {
  FIELD(dct_coeff_probs);
}

void write_slice(const VASliceParameterBufferVP8& p, ParameterText& text) {
  FIELD(slice_data_size);
  FIELD(slice_data_offset);
  FIELD(slice_data_flag);
  FIELD(macroblock_offset);
  FIELD(num_of_partitions);
  FIELD(partition_size);
}
}  // namespace

bool write_vp8_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text) {
  switch (buffer.type) {
    case VAPictureParameterBufferType:
      return write_element(buffer, index, text, write_picture);
    case VAIQMatrixBufferType:
      return write_element(buffer, index, text, write_matrix);
    case VAProbabilityBufferType:
      return write_element(buffer, index, text, write_probability);
    case VASliceParameterBufferType:
      return write_element(buffer, index, text, write_slice);
    default:
      return false;
  }
}

}  // namespace dxva::softva
