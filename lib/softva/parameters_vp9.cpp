// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/parameter_fields.hpp"

namespace dxva::softva {
namespace {

void write_picture(const VADecPictureParameterBufferVP9& p, ParameterText& text) {
  FIELD(frame_width);
  FIELD(frame_height);
  text.surfaces("reference_frames", p.reference_frames);
  FIELD(pic_fields.bits.subsampling_x);
  FIELD(pic_fields.bits.subsampling_y);
  FIELD(pic_fields.bits.frame_type);
  FIELD(pic_fields.bits.show_frame);
  FIELD(pic_fields.bits.error_resilient_mode);
  FIELD(pic_fields.bits.intra_only);
  FIELD(pic_fields.bits.allow_high_precision_mv);
  FIELD(pic_fields.bits.mcomp_filter_type);
  FIELD(pic_fields.bits.frame_parallel_decoding_mode);
  FIELD(pic_fields.bits.reset_frame_context);
  FIELD(pic_fields.bits.refresh_frame_context);
  FIELD(pic_fields.bits.frame_context_idx);
  FIELD(pic_fields.bits.segmentation_enabled);
  FIELD(pic_fields.bits.segmentation_temporal_update);
  FIELD(pic_fields.bits.segmentation_update_map);
  FIELD(pic_fields.bits.last_ref_frame);
  FIELD(pic_fields.bits.last_ref_frame_sign_bias);
  FIELD(pic_fields.bits.golden_ref_frame);
  FIELD(pic_fields.bits.golden_ref_frame_sign_bias);
  FIELD(pic_fields.bits.alt_ref_frame);
  FIELD(pic_fields.bits.alt_ref_frame_sign_bias);
  FIELD(pic_fields.bits.lossless_flag);
  FIELD(filter_level);
  FIELD(sharpness_level);
  FIELD(log2_tile_rows);
  FIELD(log2_tile_columns);
  FIELD(frame_header_length_in_bytes);
  FIELD(first_partition_size);
  FIELD(mb_segment_tree_probs);
  FIELD(segment_pred_probs);
  FIELD(profile);
  FIELD(bit_depth);
}

void write_slice(const VASliceParameterBufferVP9& p, ParameterText& text) {
  FIELD(slice_data_size);
  FIELD(slice_data_offset);
  FIELD(slice_data_flag);
  write_each("seg_param", p.seg_param, text, [&text](const auto& item) {
    ITEM(segment_flags.fields.segment_reference_enabled);
    ITEM(segment_flags.fields.segment_reference);
    ITEM(segment_flags.fields.segment_reference_skipped);
    ITEM(filter_level);
    ITEM(luma_ac_quant_scale);
    ITEM(luma_dc_quant_scale);
    ITEM(chroma_ac_quant_scale);
    ITEM(chroma_dc_quant_scale);
  });
}
}  // namespace

bool write_vp9_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text) {
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
