// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/hevc_parameter_sets.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>

#include "lib/softva/bits.hpp"
#include "lib/softva/hevc_scaling_lists.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

enum NalType : uint32_t { kVps = 32, kSps = 33, kPps = 34 };
enum Profile : uint32_t { kMain = 1, kMain10 = 2 };

// Level 6.2, the highest there is: MaxLumaPs, and a side may be sqrt(8 * MaxLumaPs).
constexpr uint32_t kLevel62 = 186;  // 30 times the level
constexpr uint32_t kMaxLumaSamples = 35651584;
constexpr uint32_t kMaxSide = 16888;

constexpr unsigned kMaxDecPicBufferingMinus1 = 15;
constexpr unsigned kMaxTileColumns = 20;
constexpr unsigned kMaxTileRows = 22;

void write_nal_header(BitWriter& out, NalType type) {
  out.put(type << 1, 8);  // forbidden_zero_bit, nal_unit_type, nuh_layer_id's first bit
  out.put(1, 8);          // nuh_layer_id 0, nuh_temporal_id_plus1
}

// 7.3.3, without sub-layers.
void write_profile_tier_level(BitWriter& out, const VAPictureParameterBufferHEVC& picture) {
  const uint32_t profile = picture.bit_depth_luma_minus8 > 0 ? kMain10 : kMain;
  out.put(0, 2);        // general_profile_space
  out.flag(false);      // general_tier_flag
  out.put(profile, 5);  // general_profile_idc
  // general_profile_compatibility_flag: Main streams are Main 10 streams too.
  out.put(1U << (31 - profile) | 1U << (31 - kMain10), 32);
  out.flag(true);   // general_progressive_source_flag
  out.flag(false);  // general_interlaced_source_flag
  out.flag(false);  // general_non_packed_constraint_flag
  out.flag(true);   // general_frame_only_constraint_flag
  out.put(0, 32);   // reserved, 44 bits
  out.put(0, 12);
  out.put(kLevel62, 8);
}

// The order of output is no matter to us: the most reordering makes a dump play in the right
// one whatever the stream's was.
void write_buffering(BitWriter& out, const VAPictureParameterBufferHEVC& picture) {
  out.flag(true);  // sub_layer_ordering_info_present_flag
  out.ue(picture.sps_max_dec_pic_buffering_minus1);
  out.ue(picture.sps_max_dec_pic_buffering_minus1);  // max_num_reorder_pics
  out.ue(0);                                         // max_latency_increase_plus1
}

// The last tile takes what is left, so its size is not coded (and VA has none for the last of
// 20 columns and 22 rows).
bool tiles_fit(std::span<const uint16_t> sizes_minus1, uint32_t ctbs) {
  uint64_t coded = 0;
  for (const uint16_t size_minus1 : sizes_minus1) coded += size_minus1 + 1U;
  return coded < ctbs;
}
std::span<const uint16_t> coded_columns(const VAPictureParameterBufferHEVC& picture) {
  return std::span(picture.column_width_minus1).first(picture.num_tile_columns_minus1);
}
std::span<const uint16_t> coded_rows(const VAPictureParameterBufferHEVC& picture) {
  return std::span(picture.row_height_minus1).first(picture.num_tile_rows_minus1);
}

Status check_format(const VAPictureParameterBufferHEVC& picture) {
  const auto& pic = picture.pic_fields.bits;
  if (pic.chroma_format_idc != 1 || pic.separate_colour_plane_flag)
    return bad_input("chroma format other than 4:2:0");
  if (picture.bit_depth_luma_minus8 > 2 ||
      picture.bit_depth_chroma_minus8 != picture.bit_depth_luma_minus8)
    return bad_input("bit depth above 10, or not the same for luma and chroma");
  return Done{};
}

Status check_blocks(const VAPictureParameterBufferHEVC& picture) {
  const unsigned min_cb = picture.log2_min_luma_coding_block_size_minus3 + 3U;
  const unsigned ctb = min_cb + picture.log2_diff_max_min_luma_coding_block_size;
  if (ctb < 4 || ctb > 6) return bad_input("coding tree block of no size that H.265 has");
  const unsigned min_tb = picture.log2_min_transform_block_size_minus2 + 2U;
  const unsigned max_tb = min_tb + picture.log2_diff_max_min_transform_block_size;
  if (min_tb >= min_cb || max_tb > std::min(ctb, 5U))
    return bad_input("transform block sizes out of range");
  if (picture.max_transform_hierarchy_depth_intra > ctb - min_tb ||
      picture.max_transform_hierarchy_depth_inter > ctb - min_tb)
    return bad_input("transform hierarchy too deep");
  if (picture.pic_fields.bits.pcm_enabled_flag) {
    const unsigned min_pcm = picture.log2_min_pcm_luma_coding_block_size_minus3 + 3U;
    const unsigned max_pcm = min_pcm + picture.log2_diff_max_min_pcm_luma_coding_block_size;
    if (min_pcm < std::min(min_cb, 5U) || max_pcm > std::min(ctb, 5U))
      return bad_input("PCM block sizes out of range");
    if (picture.pcm_sample_bit_depth_luma_minus1 > picture.bit_depth_luma_minus8 + 7 ||
        picture.pcm_sample_bit_depth_chroma_minus1 > picture.bit_depth_chroma_minus8 + 7)
      return bad_input("PCM samples deeper than the picture's");
  }
  if (picture.log2_parallel_merge_level_minus2 + 2U > ctb)
    return bad_input("parallel merge level above the coding tree block");
  if (picture.diff_cu_qp_delta_depth > picture.log2_diff_max_min_luma_coding_block_size)
    return bad_input("quantisation groups smaller than coding blocks");

  const uint32_t width = picture.pic_width_in_luma_samples;
  const uint32_t height = picture.pic_height_in_luma_samples;
  const uint32_t unit = 1U << min_cb;
  if (width == 0 || height == 0 || width % unit != 0 || height % unit != 0)
    return bad_input("picture is not made of whole coding blocks");
  if (width > kMaxSide || height > kMaxSide || width * height > kMaxLumaSamples)
    return bad_input("picture above H.265 level 6.2");
  return Done{};
}

Status check_tiles(const VAPictureParameterBufferHEVC& picture) {
  if (!picture.pic_fields.bits.tiles_enabled_flag) return Done{};
  if (picture.num_tile_columns_minus1 >= kMaxTileColumns ||
      picture.num_tile_rows_minus1 >= kMaxTileRows)
    return bad_input("more tiles than H.265 has");
  const HevcCtbs ctbs = hevc_ctbs(picture);
  if (!tiles_fit(coded_columns(picture), ctbs.columns) ||
      !tiles_fit(coded_rows(picture), ctbs.rows))
    return bad_input("tiles larger than the picture");
  return Done{};
}

Status check_quantisers(const VAPictureParameterBufferHEVC& picture) {
  const int lowest_qp = -26 - 6 * picture.bit_depth_luma_minus8;
  if (picture.init_qp_minus26 < lowest_qp || picture.init_qp_minus26 > 25)
    return bad_input("initial quantiser out of range");
  if (std::abs(picture.pps_cb_qp_offset) > 12 || std::abs(picture.pps_cr_qp_offset) > 12)
    return bad_input("chroma quantiser offset out of range");
  if (std::abs(picture.pps_beta_offset_div2) > 6 || std::abs(picture.pps_tc_offset_div2) > 6)
    return bad_input("deblocking offset out of range");
  return Done{};
}

// What only says how many bits of a slice's header something takes.
Status check_slice_syntax(const VAPictureParameterBufferHEVC& picture) {
  if (picture.log2_max_pic_order_cnt_lsb_minus4 > 12)
    return bad_input("picture order count out of range");
  if (picture.num_short_term_ref_pic_sets > 64 || picture.num_long_term_ref_pic_sps > 32)
    return bad_input("more reference picture sets than H.265 has");
  if (picture.num_ref_idx_l0_default_active_minus1 > 14 ||
      picture.num_ref_idx_l1_default_active_minus1 > 14)
    return bad_input("more than 15 entries in a reference list");
  if (picture.num_extra_slice_header_bits > 7) return bad_input("too many extra slice bits");
  if (picture.sps_max_dec_pic_buffering_minus1 > kMaxDecPicBufferingMinus1)
    return bad_input("more than 16 decoded pictures");
  return Done{};
}

}  // namespace

HevcCtbs hevc_ctbs(const VAPictureParameterBufferHEVC& picture) {
  const unsigned log2_size = picture.log2_min_luma_coding_block_size_minus3 + 3U +
                             picture.log2_diff_max_min_luma_coding_block_size;
  const uint32_t round_up = (1U << log2_size) - 1;
  return {.log2_size = log2_size,
          .columns = (picture.pic_width_in_luma_samples + round_up) >> log2_size,
          .rows = (picture.pic_height_in_luma_samples + round_up) >> log2_size};
}

Status check_hevc_picture(const VAPictureParameterBufferHEVC& picture) {
  for (const auto check :
       {check_format, check_blocks, check_tiles, check_quantisers, check_slice_syntax}) {
    if (Status sane = check(picture); !sane) return sane;
  }
  return Done{};
}

std::vector<uint8_t> write_hevc_vps(const VAPictureParameterBufferHEVC& picture) {
  BitWriter out;
  write_nal_header(out, kVps);
  out.put(0, 4);        // vps_video_parameter_set_id
  out.flag(true);       // vps_base_layer_internal_flag
  out.flag(true);       // vps_base_layer_available_flag
  out.put(0, 6);        // vps_max_layers_minus1
  out.put(0, 3);        // vps_max_sub_layers_minus1
  out.flag(true);       // vps_temporal_id_nesting_flag
  out.put(0xffff, 16);  // vps_reserved_0xffff_16bits
  write_profile_tier_level(out, picture);
  write_buffering(out, picture);
  out.put(0, 6);    // vps_max_layer_id
  out.ue(0);        // vps_num_layer_sets_minus1
  out.flag(false);  // vps_timing_info_present_flag
  out.flag(false);  // vps_extension_flag
  out.trailing();
  return out.bytes();
}

std::vector<uint8_t> write_hevc_sps(const VAPictureParameterBufferHEVC& picture) {
  const auto& pic = picture.pic_fields.bits;
  const auto& slice = picture.slice_parsing_fields.bits;
  BitWriter out;
  write_nal_header(out, kSps);
  out.put(0, 4);   // sps_video_parameter_set_id
  out.put(0, 3);   // sps_max_sub_layers_minus1
  out.flag(true);  // sps_temporal_id_nesting_flag
  write_profile_tier_level(out, picture);
  out.ue(0);  // sps_seq_parameter_set_id
  out.ue(pic.chroma_format_idc);
  out.ue(picture.pic_width_in_luma_samples);
  out.ue(picture.pic_height_in_luma_samples);
  out.flag(false);  // conformance_window_flag: the client crops
  out.ue(picture.bit_depth_luma_minus8);
  out.ue(picture.bit_depth_chroma_minus8);
  out.ue(kHevcPocBits - 4);
  write_buffering(out, picture);
  out.ue(picture.log2_min_luma_coding_block_size_minus3);
  out.ue(picture.log2_diff_max_min_luma_coding_block_size);
  out.ue(picture.log2_min_transform_block_size_minus2);
  out.ue(picture.log2_diff_max_min_transform_block_size);
  out.ue(picture.max_transform_hierarchy_depth_inter);
  out.ue(picture.max_transform_hierarchy_depth_intra);
  out.flag(pic.scaling_list_enabled_flag);
  // sps_scaling_list_data_present_flag: the PPS has the lists in use.
  if (pic.scaling_list_enabled_flag) out.flag(false);
  out.flag(pic.amp_enabled_flag);
  out.flag(slice.sample_adaptive_offset_enabled_flag);
  out.flag(pic.pcm_enabled_flag);
  if (pic.pcm_enabled_flag) {
    out.put(picture.pcm_sample_bit_depth_luma_minus1, 4);
    out.put(picture.pcm_sample_bit_depth_chroma_minus1, 4);
    out.ue(picture.log2_min_pcm_luma_coding_block_size_minus3);
    out.ue(picture.log2_diff_max_min_pcm_luma_coding_block_size);
    out.flag(pic.pcm_loop_filter_disabled_flag);
  }
  out.ue(0);       // num_short_term_ref_pic_sets: each slice has its own
  out.flag(true);  // long_term_ref_pics_present_flag, so that no picture changes the SPS
  out.ue(0);       // num_long_term_ref_pics_sps
  out.flag(slice.sps_temporal_mvp_enabled_flag);
  out.flag(pic.strong_intra_smoothing_enabled_flag);
  out.flag(false);  // vui_parameters_present_flag
  out.flag(false);  // sps_extension_present_flag
  out.trailing();
  return out.bytes();
}

Result<std::vector<uint8_t>> write_hevc_pps(const VAPictureParameterBufferHEVC& picture,
                                            const std::optional<VAIQMatrixBufferHEVC>& matrix,
                                            bool lists_modification) {
  const auto& pic = picture.pic_fields.bits;
  const auto& slice = picture.slice_parsing_fields.bits;
  BitWriter out;
  write_nal_header(out, kPps);
  out.ue(0);  // pps_pic_parameter_set_id
  out.ue(0);  // pps_seq_parameter_set_id
  out.flag(slice.dependent_slice_segments_enabled_flag);
  out.flag(slice.output_flag_present_flag);
  out.put(picture.num_extra_slice_header_bits, 3);
  out.flag(pic.sign_data_hiding_enabled_flag);
  out.flag(slice.cabac_init_present_flag);
  out.ue(picture.num_ref_idx_l0_default_active_minus1);
  out.ue(picture.num_ref_idx_l1_default_active_minus1);
  out.se(picture.init_qp_minus26);
  out.flag(pic.constrained_intra_pred_flag);
  out.flag(pic.transform_skip_enabled_flag);
  out.flag(pic.cu_qp_delta_enabled_flag);
  if (pic.cu_qp_delta_enabled_flag) out.ue(picture.diff_cu_qp_delta_depth);
  out.se(picture.pps_cb_qp_offset);
  out.se(picture.pps_cr_qp_offset);
  out.flag(slice.pps_slice_chroma_qp_offsets_present_flag);
  out.flag(pic.weighted_pred_flag);
  out.flag(pic.weighted_bipred_flag);
  out.flag(pic.transquant_bypass_enabled_flag);
  out.flag(pic.tiles_enabled_flag);
  out.flag(pic.entropy_coding_sync_enabled_flag);
  if (pic.tiles_enabled_flag) {
    out.ue(picture.num_tile_columns_minus1);
    out.ue(picture.num_tile_rows_minus1);
    out.flag(false);  // uniform_spacing_flag: VA has the sizes either way
    for (const uint16_t width_minus1 : coded_columns(picture)) out.ue(width_minus1);
    for (const uint16_t height_minus1 : coded_rows(picture)) out.ue(height_minus1);
    out.flag(pic.loop_filter_across_tiles_enabled_flag);
  }
  out.flag(pic.pps_loop_filter_across_slices_enabled_flag);
  out.flag(true);  // deblocking_filter_control_present_flag
  out.flag(slice.deblocking_filter_override_enabled_flag);
  out.flag(slice.pps_disable_deblocking_filter_flag);
  if (!slice.pps_disable_deblocking_filter_flag) {
    out.se(picture.pps_beta_offset_div2);
    out.se(picture.pps_tc_offset_div2);
  }
  // Without lists the decoder takes the default ones: VA's clients send those too.
  const bool has_lists = pic.scaling_list_enabled_flag && matrix;
  out.flag(has_lists);  // pps_scaling_list_data_present_flag
  if (has_lists) {
    if (Status sane = write_hevc_scaling_lists(out, *matrix); !sane) return sane.error();
  }
  out.flag(lists_modification);
  out.ue(picture.log2_parallel_merge_level_minus2);
  out.flag(slice.slice_segment_header_extension_present_flag);
  out.flag(false);  // pps_extension_present_flag
  out.trailing();
  return out.bytes();
}

}  // namespace dxva::softva
