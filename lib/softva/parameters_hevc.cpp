// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/parameter_fields.hpp"

namespace dxva::softva {
namespace {

// Of an entry that names no picture nothing else is said.
void write_entry(const VAPictureHEVC& p, ParameterText& text) {
  text.surface("picture_id", p.picture_id);
  if (p.picture_id == VA_INVALID_SURFACE) return;
  FIELD(pic_order_cnt);
  FIELD(flags);
}

template <size_t kCount>
void write_entries(const char* name, const VAPictureHEVC (&pictures)[kCount],
                   ParameterText& text) {
  write_each(name, pictures, text, [&text](const auto& p) { write_entry(p, text); });
}

void write_parameters(const VAPictureParameterBufferHEVC& p, ParameterText& text) {
  const std::string section = text.section();
  text.section(section + ".CurrPic");
  write_entry(p.CurrPic, text);
  text.section(section);
  write_entries("ReferenceFrames", p.ReferenceFrames, text);
  FIELD(pic_width_in_luma_samples);
  FIELD(pic_height_in_luma_samples);
  FIELD(pic_fields.bits.chroma_format_idc);
  FIELD(pic_fields.bits.separate_colour_plane_flag);
  FIELD(pic_fields.bits.pcm_enabled_flag);
  FIELD(pic_fields.bits.scaling_list_enabled_flag);
  FIELD(pic_fields.bits.transform_skip_enabled_flag);
  FIELD(pic_fields.bits.amp_enabled_flag);
  FIELD(pic_fields.bits.strong_intra_smoothing_enabled_flag);
  FIELD(pic_fields.bits.sign_data_hiding_enabled_flag);
  FIELD(pic_fields.bits.constrained_intra_pred_flag);
  FIELD(pic_fields.bits.cu_qp_delta_enabled_flag);
  FIELD(pic_fields.bits.weighted_pred_flag);
  FIELD(pic_fields.bits.weighted_bipred_flag);
  FIELD(pic_fields.bits.transquant_bypass_enabled_flag);
  FIELD(pic_fields.bits.tiles_enabled_flag);
  FIELD(pic_fields.bits.entropy_coding_sync_enabled_flag);
  FIELD(pic_fields.bits.pps_loop_filter_across_slices_enabled_flag);
  FIELD(pic_fields.bits.loop_filter_across_tiles_enabled_flag);
  FIELD(pic_fields.bits.pcm_loop_filter_disabled_flag);
  FIELD(pic_fields.bits.NoPicReorderingFlag);
  FIELD(pic_fields.bits.NoBiPredFlag);
  FIELD(sps_max_dec_pic_buffering_minus1);
  FIELD(bit_depth_luma_minus8);
  FIELD(bit_depth_chroma_minus8);
  FIELD(pcm_sample_bit_depth_luma_minus1);
  FIELD(pcm_sample_bit_depth_chroma_minus1);
  FIELD(log2_min_luma_coding_block_size_minus3);
  FIELD(log2_diff_max_min_luma_coding_block_size);
  FIELD(log2_min_transform_block_size_minus2);
  FIELD(log2_diff_max_min_transform_block_size);
  FIELD(log2_min_pcm_luma_coding_block_size_minus3);
  FIELD(log2_diff_max_min_pcm_luma_coding_block_size);
  FIELD(max_transform_hierarchy_depth_intra);
  FIELD(max_transform_hierarchy_depth_inter);
  FIELD(init_qp_minus26);
  FIELD(diff_cu_qp_delta_depth);
  FIELD(pps_cb_qp_offset);
  FIELD(pps_cr_qp_offset);
  FIELD(log2_parallel_merge_level_minus2);
  FIELD(num_tile_columns_minus1);
  FIELD(num_tile_rows_minus1);
  FIELD(column_width_minus1);
  FIELD(row_height_minus1);
  FIELD(slice_parsing_fields.bits.lists_modification_present_flag);
  FIELD(slice_parsing_fields.bits.long_term_ref_pics_present_flag);
  FIELD(slice_parsing_fields.bits.sps_temporal_mvp_enabled_flag);
  FIELD(slice_parsing_fields.bits.cabac_init_present_flag);
  FIELD(slice_parsing_fields.bits.output_flag_present_flag);
  FIELD(slice_parsing_fields.bits.dependent_slice_segments_enabled_flag);
  FIELD(slice_parsing_fields.bits.pps_slice_chroma_qp_offsets_present_flag);
  FIELD(slice_parsing_fields.bits.sample_adaptive_offset_enabled_flag);
  FIELD(slice_parsing_fields.bits.deblocking_filter_override_enabled_flag);
  FIELD(slice_parsing_fields.bits.pps_disable_deblocking_filter_flag);
  FIELD(slice_parsing_fields.bits.slice_segment_header_extension_present_flag);
  FIELD(slice_parsing_fields.bits.RapPicFlag);
  FIELD(slice_parsing_fields.bits.IdrPicFlag);
  FIELD(slice_parsing_fields.bits.IntraPicFlag);
  FIELD(log2_max_pic_order_cnt_lsb_minus4);
  FIELD(num_short_term_ref_pic_sets);
  FIELD(num_long_term_ref_pic_sps);
  FIELD(num_ref_idx_l0_default_active_minus1);
  FIELD(num_ref_idx_l1_default_active_minus1);
  FIELD(pps_beta_offset_div2);
  FIELD(pps_tc_offset_div2);
  FIELD(num_extra_slice_header_bits);
  FIELD(st_rps_bits);
}

void write_matrix(const VAIQMatrixBufferHEVC& p, ParameterText& text) {
  FIELD(ScalingList4x4);
  FIELD(ScalingList8x8);
  FIELD(ScalingList16x16);
  FIELD(ScalingList32x32);
  FIELD(ScalingListDC16x16);
  FIELD(ScalingListDC32x32);
}

void write_slice(const VASliceParameterBufferHEVC& p, ParameterText& text) {
  FIELD(slice_data_size);
  FIELD(slice_data_offset);
  FIELD(slice_data_flag);
  FIELD(slice_data_byte_offset);
  FIELD(slice_segment_address);
  FIELD(RefPicList);
  FIELD(LongSliceFlags.fields.LastSliceOfPic);
  FIELD(LongSliceFlags.fields.dependent_slice_segment_flag);
  FIELD(LongSliceFlags.fields.slice_type);
  FIELD(LongSliceFlags.fields.color_plane_id);
  FIELD(LongSliceFlags.fields.slice_sao_luma_flag);
  FIELD(LongSliceFlags.fields.slice_sao_chroma_flag);
  FIELD(LongSliceFlags.fields.mvd_l1_zero_flag);
  FIELD(LongSliceFlags.fields.cabac_init_flag);
  FIELD(LongSliceFlags.fields.slice_temporal_mvp_enabled_flag);
  FIELD(LongSliceFlags.fields.slice_deblocking_filter_disabled_flag);
  FIELD(LongSliceFlags.fields.collocated_from_l0_flag);
  FIELD(LongSliceFlags.fields.slice_loop_filter_across_slices_enabled_flag);
  FIELD(collocated_ref_idx);
  FIELD(num_ref_idx_l0_active_minus1);
  FIELD(num_ref_idx_l1_active_minus1);
  FIELD(slice_qp_delta);
  FIELD(slice_cb_qp_offset);
  FIELD(slice_cr_qp_offset);
  FIELD(slice_beta_offset_div2);
  FIELD(slice_tc_offset_div2);
  FIELD(luma_log2_weight_denom);
  FIELD(delta_chroma_log2_weight_denom);
  FIELD(delta_luma_weight_l0);
  FIELD(luma_offset_l0);
  FIELD(delta_chroma_weight_l0);
  FIELD(ChromaOffsetL0);
  FIELD(delta_luma_weight_l1);
  FIELD(luma_offset_l1);
  FIELD(delta_chroma_weight_l1);
  FIELD(ChromaOffsetL1);
  FIELD(five_minus_max_num_merge_cand);
  FIELD(num_entry_point_offsets);
  FIELD(entry_offset_to_subset_array);
  FIELD(slice_data_num_emu_prevn_bytes);
}
}  // namespace

bool write_hevc_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text) {
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
