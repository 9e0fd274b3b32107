// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Values as any H.265 stream may have them, drawn anew for each seed.

#include <algorithm>
#include <random>

#include "tests/check/support/hevc_pictures.hpp"

namespace dxva::test {

inline int between(std::mt19937& random, int lowest, int highest) {
  return lowest + static_cast<int>(random() % static_cast<unsigned>(highest - lowest + 1));
}

inline void choose_tiles(PictureParameters& picture, std::mt19937& random) {
  picture.pic_fields.bits.tiles_enabled_flag = 1;
  const unsigned log2_ctb = picture.log2_min_luma_coding_block_size_minus3 + 3U +
                            picture.log2_diff_max_min_luma_coding_block_size;
  const auto divide = [&](uint32_t samples, unsigned most, uint16_t* sizes_minus1) {
    uint32_t left = (samples + (1U << log2_ctb) - 1) >> log2_ctb;
    unsigned coded = 0;
    while (left > 1 && coded + 1 < most && random() % 4) {
      const uint32_t size = random() % (left - 1) + 1;
      sizes_minus1[coded++] = static_cast<uint16_t>(size - 1);
      left -= size;
    }
    return static_cast<uint8_t>(coded);
  };
  picture.num_tile_columns_minus1 =
      divide(picture.pic_width_in_luma_samples, 20, picture.column_width_minus1);
  picture.num_tile_rows_minus1 =
      divide(picture.pic_height_in_luma_samples, 22, picture.row_height_minus1);
}

inline PictureParameters random_picture(std::mt19937& random) {
  const auto draw = [&](int lowest, int highest) { return between(random, lowest, highest); };
  PictureParameters picture = plain_picture(0, 0, static_cast<uint8_t>(draw(8, 10)));
  auto& pic = picture.pic_fields.bits;
  auto& slice = picture.slice_parsing_fields.bits;
  const int ctb = draw(4, 6);
  const int min_cb = draw(3, ctb);
  const int min_tb = draw(2, min_cb - 1);
  picture.log2_min_luma_coding_block_size_minus3 = static_cast<uint8_t>(min_cb - 3);
  picture.log2_diff_max_min_luma_coding_block_size = static_cast<uint8_t>(ctb - min_cb);
  picture.log2_min_transform_block_size_minus2 = static_cast<uint8_t>(min_tb - 2);
  picture.log2_diff_max_min_transform_block_size =
      static_cast<uint8_t>(draw(min_tb, std::min(ctb, 5)) - min_tb);
  picture.max_transform_hierarchy_depth_intra = static_cast<uint8_t>(draw(0, ctb - min_tb));
  picture.max_transform_hierarchy_depth_inter = static_cast<uint8_t>(draw(0, ctb - min_tb));
  picture.pic_width_in_luma_samples = static_cast<uint16_t>(draw(1, 50) << min_cb);
  picture.pic_height_in_luma_samples = static_cast<uint16_t>(draw(1, 50) << min_cb);
  const int min_pcm = draw(std::min(min_cb, 5), std::min(ctb, 5));
  picture.log2_min_pcm_luma_coding_block_size_minus3 = static_cast<uint8_t>(min_pcm - 3);
  picture.log2_diff_max_min_pcm_luma_coding_block_size =
      static_cast<uint8_t>(draw(min_pcm, std::min(ctb, 5)) - min_pcm);
  picture.pcm_sample_bit_depth_luma_minus1 = static_cast<uint8_t>(draw(0, 7));
  picture.pcm_sample_bit_depth_chroma_minus1 = static_cast<uint8_t>(draw(0, 7));
  picture.sps_max_dec_pic_buffering_minus1 = static_cast<uint8_t>(draw(0, 15));
  picture.log2_max_pic_order_cnt_lsb_minus4 = static_cast<uint8_t>(draw(0, 12));
  picture.num_short_term_ref_pic_sets = static_cast<uint8_t>(draw(0, 64));
  picture.num_long_term_ref_pic_sps = static_cast<uint8_t>(draw(0, 32));
  picture.num_ref_idx_l0_default_active_minus1 = static_cast<uint8_t>(draw(0, 14));
  picture.num_ref_idx_l1_default_active_minus1 = static_cast<uint8_t>(draw(0, 14));
  picture.init_qp_minus26 = static_cast<int8_t>(draw(-26, 25));
  picture.diff_cu_qp_delta_depth = static_cast<uint8_t>(draw(0, ctb - min_cb));
  picture.pps_cb_qp_offset = static_cast<int8_t>(draw(-12, 12));
  picture.pps_cr_qp_offset = static_cast<int8_t>(draw(-12, 12));
  picture.pps_beta_offset_div2 = static_cast<int8_t>(draw(-6, 6));
  picture.pps_tc_offset_div2 = static_cast<int8_t>(draw(-6, 6));
  picture.log2_parallel_merge_level_minus2 = static_cast<uint8_t>(draw(0, ctb - 2));
  picture.num_extra_slice_header_bits = static_cast<uint8_t>(draw(0, 2));
  pic.pcm_enabled_flag = random() % 2;
  pic.amp_enabled_flag = random() % 2;
  pic.transform_skip_enabled_flag = random() % 2;
  pic.strong_intra_smoothing_enabled_flag = random() % 2;
  pic.sign_data_hiding_enabled_flag = random() % 2;
  pic.constrained_intra_pred_flag = random() % 2;
  pic.cu_qp_delta_enabled_flag = random() % 2;
  pic.weighted_pred_flag = random() % 2;
  pic.weighted_bipred_flag = random() % 2;
  pic.transquant_bypass_enabled_flag = random() % 2;
  pic.entropy_coding_sync_enabled_flag = random() % 2;
  pic.pps_loop_filter_across_slices_enabled_flag = random() % 2;
  pic.loop_filter_across_tiles_enabled_flag = random() % 2;
  pic.pcm_loop_filter_disabled_flag = random() % 2;
  slice.lists_modification_present_flag = random() % 2;
  slice.long_term_ref_pics_present_flag = random() % 2;
  slice.sps_temporal_mvp_enabled_flag = random() % 2;
  slice.cabac_init_present_flag = random() % 2;
  slice.output_flag_present_flag = random() % 2;
  slice.dependent_slice_segments_enabled_flag = random() % 2;
  slice.pps_slice_chroma_qp_offsets_present_flag = random() % 2;
  slice.sample_adaptive_offset_enabled_flag = random() % 2;
  slice.deblocking_filter_override_enabled_flag = random() % 2;
  slice.pps_disable_deblocking_filter_flag = random() % 2;
  slice.slice_segment_header_extension_present_flag = random() % 2;
  if (random() % 2) choose_tiles(picture, random);
  return picture;
}

inline VAIQMatrixBufferHEVC random_matrix(std::mt19937& random) {
  VAIQMatrixBufferHEVC matrix;
  auto* bytes = reinterpret_cast<uint8_t*>(&matrix);
  for (size_t i = 0; i < sizeof matrix; ++i)
    bytes[i] = static_cast<uint8_t>(random() % 255 + 1);
  return matrix;
}

// A slice whose data is noise: parsed here, decoded by nobody.
inline Bytes render_noise_slice(softva::Picture& to, const PictureParameters& picture,
                                const SliceParameters& slice, const SliceSyntax& syntax,
                                std::mt19937& random) {
  softva::BitWriter out = slice_header(picture, slice, syntax);
  const size_t header_bytes = out.position() / 8;
  for (int i = 0; i < 40; ++i) out.put(random() % 4 ? 0 : random(), 8);
  out.trailing();
  render_slice(to, slice, out.bytes(), header_bytes);
  return Bytes(out.bytes().begin() + static_cast<ptrdiff_t>(header_bytes), out.bytes().end());
}

}  // namespace dxva::test
