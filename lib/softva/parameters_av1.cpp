// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/parameter_fields.hpp"

namespace dxva::softva {
namespace {

void write_picture(const VADecPictureParameterBufferAV1& p, ParameterText& text) {
  FIELD(profile);
  FIELD(order_hint_bits_minus_1);
  FIELD(bit_depth_idx);
  FIELD(matrix_coefficients);
  FIELD(seq_info_fields.fields.still_picture);
  FIELD(seq_info_fields.fields.use_128x128_superblock);
  FIELD(seq_info_fields.fields.enable_filter_intra);
  FIELD(seq_info_fields.fields.enable_intra_edge_filter);
  FIELD(seq_info_fields.fields.enable_interintra_compound);
  FIELD(seq_info_fields.fields.enable_masked_compound);
  FIELD(seq_info_fields.fields.enable_dual_filter);
  FIELD(seq_info_fields.fields.enable_order_hint);
  FIELD(seq_info_fields.fields.enable_jnt_comp);
  FIELD(seq_info_fields.fields.enable_cdef);
  FIELD(seq_info_fields.fields.mono_chrome);
  FIELD(seq_info_fields.fields.color_range);
  FIELD(seq_info_fields.fields.subsampling_x);
  FIELD(seq_info_fields.fields.subsampling_y);
  FIELD(seq_info_fields.fields.film_grain_params_present);
  text.surface("current_frame", p.current_frame);
  text.surface("current_display_picture", p.current_display_picture);
  FIELD(anchor_frames_num);
  FIELD(frame_width_minus1);
  FIELD(frame_height_minus1);
  FIELD(output_frame_width_in_tiles_minus_1);
  FIELD(output_frame_height_in_tiles_minus_1);
  text.surfaces("ref_frame_map", p.ref_frame_map);
  FIELD(ref_frame_idx);
  FIELD(primary_ref_frame);
  FIELD(order_hint);
  FIELD(seg_info.segment_info_fields.bits.enabled);
  FIELD(seg_info.segment_info_fields.bits.update_map);
  FIELD(seg_info.segment_info_fields.bits.temporal_update);
  FIELD(seg_info.segment_info_fields.bits.update_data);
  FIELD(seg_info.feature_data);
  FIELD(seg_info.feature_mask);
  FIELD(film_grain_info.film_grain_info_fields.bits.apply_grain);
  FIELD(film_grain_info.film_grain_info_fields.bits.chroma_scaling_from_luma);
  FIELD(film_grain_info.film_grain_info_fields.bits.grain_scaling_minus_8);
  FIELD(film_grain_info.film_grain_info_fields.bits.ar_coeff_lag);
  FIELD(film_grain_info.film_grain_info_fields.bits.ar_coeff_shift_minus_6);
  FIELD(film_grain_info.film_grain_info_fields.bits.grain_scale_shift);
  FIELD(film_grain_info.film_grain_info_fields.bits.overlap_flag);
  FIELD(film_grain_info.film_grain_info_fields.bits.clip_to_restricted_range);
  FIELD(film_grain_info.grain_seed);
  FIELD(film_grain_info.num_y_points);
  FIELD(film_grain_info.point_y_value);
  FIELD(film_grain_info.point_y_scaling);
  FIELD(film_grain_info.num_cb_points);
  FIELD(film_grain_info.point_cb_value);
  FIELD(film_grain_info.point_cb_scaling);
  FIELD(film_grain_info.num_cr_points);
  FIELD(film_grain_info.point_cr_value);
  FIELD(film_grain_info.point_cr_scaling);
  FIELD(film_grain_info.ar_coeffs_y);
  FIELD(film_grain_info.ar_coeffs_cb);
  FIELD(film_grain_info.ar_coeffs_cr);
  FIELD(film_grain_info.cb_mult);
  FIELD(film_grain_info.cb_luma_mult);
  FIELD(film_grain_info.cb_offset);
  FIELD(film_grain_info.cr_mult);
  FIELD(film_grain_info.cr_luma_mult);
  FIELD(film_grain_info.cr_offset);
  FIELD(tile_cols);
  FIELD(tile_rows);
  FIELD(width_in_sbs_minus_1);
  FIELD(height_in_sbs_minus_1);
  FIELD(tile_count_minus_1);
  FIELD(context_update_tile_id);
  FIELD(pic_info_fields.bits.frame_type);
  FIELD(pic_info_fields.bits.show_frame);
  FIELD(pic_info_fields.bits.showable_frame);
  FIELD(pic_info_fields.bits.error_resilient_mode);
  FIELD(pic_info_fields.bits.disable_cdf_update);
  FIELD(pic_info_fields.bits.allow_screen_content_tools);
  FIELD(pic_info_fields.bits.force_integer_mv);
  FIELD(pic_info_fields.bits.allow_intrabc);
  FIELD(pic_info_fields.bits.use_superres);
  FIELD(pic_info_fields.bits.allow_high_precision_mv);
  FIELD(pic_info_fields.bits.is_motion_mode_switchable);
  FIELD(pic_info_fields.bits.use_ref_frame_mvs);
  FIELD(pic_info_fields.bits.disable_frame_end_update_cdf);
  FIELD(pic_info_fields.bits.uniform_tile_spacing_flag);
  FIELD(pic_info_fields.bits.allow_warped_motion);
  FIELD(pic_info_fields.bits.large_scale_tile);
  FIELD(superres_scale_denominator);
  FIELD(interp_filter);
  FIELD(filter_level);
  FIELD(filter_level_u);
  FIELD(filter_level_v);
  FIELD(loop_filter_info_fields.bits.sharpness_level);
  FIELD(loop_filter_info_fields.bits.mode_ref_delta_enabled);
  FIELD(loop_filter_info_fields.bits.mode_ref_delta_update);
  FIELD(ref_deltas);
  FIELD(mode_deltas);
  FIELD(base_qindex);
  FIELD(y_dc_delta_q);
  FIELD(u_dc_delta_q);
  FIELD(u_ac_delta_q);
  FIELD(v_dc_delta_q);
  FIELD(v_ac_delta_q);
  FIELD(qmatrix_fields.bits.using_qmatrix);
  FIELD(qmatrix_fields.bits.qm_y);
  FIELD(qmatrix_fields.bits.qm_u);
  FIELD(qmatrix_fields.bits.qm_v);
  FIELD(mode_control_fields.bits.delta_q_present_flag);
  FIELD(mode_control_fields.bits.log2_delta_q_res);
  FIELD(mode_control_fields.bits.delta_lf_present_flag);
  FIELD(mode_control_fields.bits.log2_delta_lf_res);
  FIELD(mode_control_fields.bits.delta_lf_multi);
  FIELD(mode_control_fields.bits.tx_mode);
  FIELD(mode_control_fields.bits.reference_select);
  FIELD(mode_control_fields.bits.reduced_tx_set_used);
  FIELD(mode_control_fields.bits.skip_mode_present);
  FIELD(cdef_damping_minus_3);
  FIELD(cdef_bits);
  FIELD(cdef_y_strengths);
  FIELD(cdef_uv_strengths);
  FIELD(loop_restoration_fields.bits.yframe_restoration_type);
  FIELD(loop_restoration_fields.bits.cbframe_restoration_type);
  FIELD(loop_restoration_fields.bits.crframe_restoration_type);
  FIELD(loop_restoration_fields.bits.lr_unit_shift);
  FIELD(loop_restoration_fields.bits.lr_uv_shift);
  write_each("wm", p.wm, text, [&text](const auto& item) {
    ITEM(wmtype);
    ITEM(wmmat);
    ITEM(invalid);
  });
}

void write_slice(const VASliceParameterBufferAV1& p, ParameterText& text) {
  FIELD(slice_data_size);
  FIELD(slice_data_offset);
  FIELD(slice_data_flag);
  FIELD(tile_row);
  FIELD(tile_column);
  FIELD(anchor_frame_idx);
  FIELD(tile_idx_in_tile_list);
}
}  // namespace

bool write_av1_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text) {
  switch (buffer.type) {
    case VAPictureParameterBufferType:
      return write_element(buffer, index, text, write_picture);
    case VASliceParameterBufferType:
      return write_element(buffer, index, text, write_slice);
    default:
      return false;
  }
}

}  // namespace dxva::softva
