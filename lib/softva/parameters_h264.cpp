// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/parameter_fields.hpp"

namespace dxva::softva {
namespace {

// Of an entry that names no picture nothing else is said.
void write_entry(const VAPictureH264& p, ParameterText& text) {
  text.surface("picture_id", p.picture_id);
  if (p.picture_id == VA_INVALID_SURFACE) return;
  FIELD(frame_idx);
  FIELD(flags);
  FIELD(TopFieldOrderCnt);
  FIELD(BottomFieldOrderCnt);
}

template <size_t kCount>
void write_entries(const char* name, const VAPictureH264 (&pictures)[kCount],
                   ParameterText& text) {
  write_each(name, pictures, text, [&text](const auto& p) { write_entry(p, text); });
}

void write_parameters(const VAPictureParameterBufferH264& p, ParameterText& text) {
  const std::string section = text.section();
  text.section(section + ".CurrPic");
  write_entry(p.CurrPic, text);
  text.section(section);
  write_entries("ReferenceFrames", p.ReferenceFrames, text);
  FIELD(picture_width_in_mbs_minus1);
  FIELD(picture_height_in_mbs_minus1);
  FIELD(bit_depth_luma_minus8);
  FIELD(bit_depth_chroma_minus8);
  FIELD(num_ref_frames);
  FIELD(seq_fields.bits.chroma_format_idc);
  FIELD(seq_fields.bits.residual_colour_transform_flag);
  FIELD(seq_fields.bits.gaps_in_frame_num_value_allowed_flag);
  FIELD(seq_fields.bits.frame_mbs_only_flag);
  FIELD(seq_fields.bits.mb_adaptive_frame_field_flag);
  FIELD(seq_fields.bits.direct_8x8_inference_flag);
  FIELD(seq_fields.bits.MinLumaBiPredSize8x8);
  FIELD(seq_fields.bits.log2_max_frame_num_minus4);
  FIELD(seq_fields.bits.pic_order_cnt_type);
  FIELD(seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4);
  FIELD(seq_fields.bits.delta_pic_order_always_zero_flag);
  FIELD(pic_init_qp_minus26);
  FIELD(pic_init_qs_minus26);
  FIELD(chroma_qp_index_offset);
  FIELD(second_chroma_qp_index_offset);
  FIELD(pic_fields.bits.entropy_coding_mode_flag);
  FIELD(pic_fields.bits.weighted_pred_flag);
  FIELD(pic_fields.bits.weighted_bipred_idc);
  FIELD(pic_fields.bits.transform_8x8_mode_flag);
  FIELD(pic_fields.bits.field_pic_flag);
  FIELD(pic_fields.bits.constrained_intra_pred_flag);
  FIELD(pic_fields.bits.pic_order_present_flag);
  FIELD(pic_fields.bits.deblocking_filter_control_present_flag);
  FIELD(pic_fields.bits.redundant_pic_cnt_present_flag);
  FIELD(pic_fields.bits.reference_pic_flag);
  FIELD(frame_num);
}

void write_matrix(const VAIQMatrixBufferH264& p, ParameterText& text) {
  FIELD(ScalingList4x4);
  FIELD(ScalingList8x8);
}

void write_slice(const VASliceParameterBufferH264& p, ParameterText& text) {
  FIELD(slice_data_size);
  FIELD(slice_data_offset);
  FIELD(slice_data_flag);
  FIELD(slice_data_bit_offset);
  FIELD(first_mb_in_slice);
  FIELD(slice_type);
  FIELD(direct_spatial_mv_pred_flag);
  FIELD(num_ref_idx_l0_active_minus1);
  FIELD(num_ref_idx_l1_active_minus1);
  FIELD(cabac_init_idc);
  FIELD(slice_qp_delta);
  FIELD(disable_deblocking_filter_idc);
  FIELD(slice_alpha_c0_offset_div2);
  FIELD(slice_beta_offset_div2);
  write_entries("RefPicList0", p.RefPicList0, text);
  write_entries("RefPicList1", p.RefPicList1, text);
  FIELD(luma_log2_weight_denom);
  FIELD(chroma_log2_weight_denom);
  FIELD(luma_weight_l0_flag);
  FIELD(luma_weight_l0);
  FIELD(luma_offset_l0);
  FIELD(chroma_weight_l0_flag);
  FIELD(chroma_weight_l0);
  FIELD(chroma_offset_l0);
  FIELD(luma_weight_l1_flag);
  FIELD(luma_weight_l1);
  FIELD(luma_offset_l1);
  FIELD(chroma_weight_l1_flag);
  FIELD(chroma_weight_l1);
  FIELD(chroma_offset_l1);
}
}  // namespace

bool write_h264_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text) {
  switch (buffer.type) {
    case VAPictureParameterBufferType:
      return write_element(buffer, index, text, write_parameters);
    case VAIQMatrixBufferType:
      return write_element(buffer, index, text, write_matrix);
    case VASliceParameterBufferType:
      return write_element(buffer, index, text, write_slice);
    default:
      return false;
  }
}

}  // namespace dxva::softva
