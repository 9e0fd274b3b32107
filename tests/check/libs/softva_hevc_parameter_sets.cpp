// SPDX-License-Identifier: LGPL-2.1-or-later

// Golden tests: H.265 parameter sets, read by GStreamer's parser, say the same as VA's structs.

#include <random>

#include "lib/softva/hevc_stream.hpp"
#include "tests/check/support/hevc_parser.hpp"
#include "tests/check/support/hevc_random.hpp"

using namespace dxva;
using namespace dxva::softva;
using namespace dxva::test;

namespace {

bool refuses(HevcStream& stream, const Picture& picture) {
  const auto unit = stream.rebuild(picture);
  return !unit && unit.error().code == ErrorCode::BadInput;
}

}  // namespace

GST_START_TEST(sequence_parameters_come_back) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const PictureParameters picture = random_picture(random);
    fail_unless(bool(check_hevc_picture(picture)));
    HevcParser parser;
    parser.read(parameter_sets(picture));
    const GstH265SPS& sps = parser.sps;
    const auto& pic = picture.pic_fields.bits;
    const auto& slice = picture.slice_parsing_fields.bits;
    fail_unless_equals_int(sps.profile_tier_level.profile_idc,
                           picture.bit_depth_luma_minus8 ? 2 : 1);
    fail_unless_equals_int(sps.chroma_format_idc, 1);
    fail_unless_equals_int(sps.width, picture.pic_width_in_luma_samples);
    fail_unless_equals_int(sps.height, picture.pic_height_in_luma_samples);
    fail_unless_equals_int(sps.conformance_window_flag, 0);
    fail_unless_equals_int(sps.bit_depth_luma_minus8, picture.bit_depth_luma_minus8);
    fail_unless_equals_int(sps.bit_depth_chroma_minus8, picture.bit_depth_chroma_minus8);
    fail_unless_equals_int(sps.log2_max_pic_order_cnt_lsb_minus4, 12);
    fail_unless_equals_int(sps.max_dec_pic_buffering_minus1[0],
                           picture.sps_max_dec_pic_buffering_minus1);
    fail_unless_equals_int(sps.log2_min_luma_coding_block_size_minus3,
                           picture.log2_min_luma_coding_block_size_minus3);
    fail_unless_equals_int(sps.log2_diff_max_min_luma_coding_block_size,
                           picture.log2_diff_max_min_luma_coding_block_size);
    fail_unless_equals_int(sps.log2_min_transform_block_size_minus2,
                           picture.log2_min_transform_block_size_minus2);
    fail_unless_equals_int(sps.log2_diff_max_min_transform_block_size,
                           picture.log2_diff_max_min_transform_block_size);
    fail_unless_equals_int(sps.max_transform_hierarchy_depth_inter,
                           picture.max_transform_hierarchy_depth_inter);
    fail_unless_equals_int(sps.max_transform_hierarchy_depth_intra,
                           picture.max_transform_hierarchy_depth_intra);
    fail_unless_equals_int(sps.scaling_list_enabled_flag, 0);
    fail_unless_equals_int(sps.amp_enabled_flag, pic.amp_enabled_flag);
    fail_unless_equals_int(sps.sample_adaptive_offset_enabled_flag,
                           slice.sample_adaptive_offset_enabled_flag);
    fail_unless_equals_int(sps.pcm_enabled_flag, pic.pcm_enabled_flag);
    if (pic.pcm_enabled_flag) {
      fail_unless_equals_int(sps.pcm_sample_bit_depth_luma_minus1,
                             picture.pcm_sample_bit_depth_luma_minus1);
      fail_unless_equals_int(sps.pcm_sample_bit_depth_chroma_minus1,
                             picture.pcm_sample_bit_depth_chroma_minus1);
      fail_unless_equals_int(sps.log2_min_pcm_luma_coding_block_size_minus3,
                             picture.log2_min_pcm_luma_coding_block_size_minus3);
      fail_unless_equals_int(sps.log2_diff_max_min_pcm_luma_coding_block_size,
                             picture.log2_diff_max_min_pcm_luma_coding_block_size);
      fail_unless_equals_int(sps.pcm_loop_filter_disabled_flag,
                             pic.pcm_loop_filter_disabled_flag);
    }
    fail_unless_equals_int(sps.num_short_term_ref_pic_sets, 0);
    fail_unless_equals_int(sps.long_term_ref_pics_present_flag, 1);
    fail_unless_equals_int(sps.num_long_term_ref_pics_sps, 0);
    fail_unless_equals_int(sps.temporal_mvp_enabled_flag, slice.sps_temporal_mvp_enabled_flag);
    fail_unless_equals_int(sps.strong_intra_smoothing_enabled_flag,
                           pic.strong_intra_smoothing_enabled_flag);
  }
}
GST_END_TEST;

GST_START_TEST(picture_parameters_come_back) {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    const PictureParameters picture = random_picture(random);
    HevcParser parser;
    parser.read(parameter_sets(picture));
    const GstH265PPS& pps = parser.pps;
    const auto& pic = picture.pic_fields.bits;
    const auto& slice = picture.slice_parsing_fields.bits;
    fail_unless_equals_int(pps.id, 0);
    fail_unless_equals_int(pps.dependent_slice_segments_enabled_flag,
                           slice.dependent_slice_segments_enabled_flag);
    fail_unless_equals_int(pps.output_flag_present_flag, slice.output_flag_present_flag);
    fail_unless_equals_int(pps.num_extra_slice_header_bits,
                           picture.num_extra_slice_header_bits);
    fail_unless_equals_int(pps.sign_data_hiding_enabled_flag,
                           pic.sign_data_hiding_enabled_flag);
    fail_unless_equals_int(pps.cabac_init_present_flag, slice.cabac_init_present_flag);
    fail_unless_equals_int(pps.num_ref_idx_l0_default_active_minus1,
                           picture.num_ref_idx_l0_default_active_minus1);
    fail_unless_equals_int(pps.num_ref_idx_l1_default_active_minus1,
                           picture.num_ref_idx_l1_default_active_minus1);
    fail_unless_equals_int(pps.init_qp_minus26, picture.init_qp_minus26);
    fail_unless_equals_int(pps.constrained_intra_pred_flag, pic.constrained_intra_pred_flag);
    fail_unless_equals_int(pps.transform_skip_enabled_flag, pic.transform_skip_enabled_flag);
    fail_unless_equals_int(pps.cu_qp_delta_enabled_flag, pic.cu_qp_delta_enabled_flag);
    if (pic.cu_qp_delta_enabled_flag)
      fail_unless_equals_int(pps.diff_cu_qp_delta_depth, picture.diff_cu_qp_delta_depth);
    fail_unless_equals_int(pps.cb_qp_offset, picture.pps_cb_qp_offset);
    fail_unless_equals_int(pps.cr_qp_offset, picture.pps_cr_qp_offset);
    fail_unless_equals_int(pps.slice_chroma_qp_offsets_present_flag,
                           slice.pps_slice_chroma_qp_offsets_present_flag);
    fail_unless_equals_int(pps.weighted_pred_flag, pic.weighted_pred_flag);
    fail_unless_equals_int(pps.weighted_bipred_flag, pic.weighted_bipred_flag);
    fail_unless_equals_int(pps.transquant_bypass_enabled_flag,
                           pic.transquant_bypass_enabled_flag);
    fail_unless_equals_int(pps.entropy_coding_sync_enabled_flag,
                           pic.entropy_coding_sync_enabled_flag);
    fail_unless_equals_int(pps.tiles_enabled_flag, pic.tiles_enabled_flag);
    if (pic.tiles_enabled_flag) {
      fail_unless_equals_int(pps.num_tile_columns_minus1, picture.num_tile_columns_minus1);
      fail_unless_equals_int(pps.num_tile_rows_minus1, picture.num_tile_rows_minus1);
      for (int column = 0; column < picture.num_tile_columns_minus1; ++column)
        fail_unless_equals_int(pps.column_width_minus1[column],
                               picture.column_width_minus1[column]);
      for (int row = 0; row < picture.num_tile_rows_minus1; ++row)
        fail_unless_equals_int(pps.row_height_minus1[row], picture.row_height_minus1[row]);
      fail_unless_equals_int(pps.loop_filter_across_tiles_enabled_flag,
                             pic.loop_filter_across_tiles_enabled_flag);
    }
    fail_unless_equals_int(pps.loop_filter_across_slices_enabled_flag,
                           pic.pps_loop_filter_across_slices_enabled_flag);
    fail_unless_equals_int(pps.deblocking_filter_override_enabled_flag,
                           slice.deblocking_filter_override_enabled_flag);
    fail_unless_equals_int(pps.deblocking_filter_disabled_flag,
                           slice.pps_disable_deblocking_filter_flag);
    if (!slice.pps_disable_deblocking_filter_flag) {
      fail_unless_equals_int(pps.beta_offset_div2, picture.pps_beta_offset_div2);
      fail_unless_equals_int(pps.tc_offset_div2, picture.pps_tc_offset_div2);
    }
    fail_unless_equals_int(pps.scaling_list_data_present_flag, 0);
    fail_unless_equals_int(pps.lists_modification_present_flag,
                           slice.lists_modification_present_flag);
    fail_unless_equals_int(pps.log2_parallel_merge_level_minus2,
                           picture.log2_parallel_merge_level_minus2);
    fail_unless_equals_int(pps.slice_segment_header_extension_present_flag,
                           slice.slice_segment_header_extension_present_flag);
  }
}
GST_END_TEST;

GST_START_TEST(scaling_lists_come_back_in_raster_order) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    PictureParameters picture = random_picture(random);
    picture.pic_fields.bits.scaling_list_enabled_flag = 1;
    const VAIQMatrixBufferHEVC matrix = random_matrix(random);
    HevcParser parser;
    parser.read(parameter_sets(picture, matrix));
    fail_unless_equals_int(parser.sps.scaling_list_enabled_flag, 1);
    fail_unless_equals_int(parser.sps.scaling_list_data_present_flag, 0);
    fail_unless_equals_int(parser.pps.scaling_list_data_present_flag, 1);
    const GstH265ScalingList& lists = parser.pps.scaling_list;
    const auto same_8x8 = [](const guint8* coded, const uint8_t* raster) {
      uint8_t got[64];
      gst_h265_quant_matrix_8x8_get_raster_from_uprightdiagonal(got, coded);
      return std::memcmp(got, raster, sizeof got) == 0;
    };
    for (int list = 0; list < 6; ++list) {
      uint8_t got[16];
      gst_h265_quant_matrix_4x4_get_raster_from_uprightdiagonal(got,
                                                                lists.scaling_lists_4x4[list]);
      fail_unless(std::memcmp(got, matrix.ScalingList4x4[list], sizeof got) == 0);
      fail_unless(same_8x8(lists.scaling_lists_8x8[list], matrix.ScalingList8x8[list]));
      fail_unless(same_8x8(lists.scaling_lists_16x16[list], matrix.ScalingList16x16[list]));
      fail_unless_equals_int(lists.scaling_list_dc_coef_minus8_16x16[list] + 8,
                             matrix.ScalingListDC16x16[list]);
    }
    for (int list = 0; list < 2; ++list) {
      fail_unless(same_8x8(lists.scaling_lists_32x32[list], matrix.ScalingList32x32[list]));
      fail_unless_equals_int(lists.scaling_list_dc_coef_minus8_32x32[list] + 8,
                             matrix.ScalingListDC32x32[list]);
    }
  }
}
GST_END_TEST;

GST_START_TEST(lists_without_their_switch_are_none) {
  const PictureParameters picture = plain_picture(64, 64);
  std::mt19937 random(4);
  const auto with = write_hevc_pps(picture, random_matrix(random), false);
  const auto without = write_hevc_pps(picture, std::nullopt, false);
  fail_unless(with && without && *with == *without);
}
GST_END_TEST;

GST_START_TEST(parameters_that_h265_cannot_say_are_refused) {
  std::mt19937 random(10);
  const PictureParameters good = plain_picture(64, 64);
  HevcStream stream(8);
  using Change = void (*)(PictureParameters&);
  for (const Change change : std::initializer_list<Change>{
           [](PictureParameters& p) { p.pic_width_in_luma_samples = 0; },
           [](PictureParameters& p) { p.pic_height_in_luma_samples = 65535; },
           [](PictureParameters& p) { p.pic_height_in_luma_samples = 65520; },
           [](PictureParameters& p) {
             p.pic_width_in_luma_samples = p.pic_height_in_luma_samples = 16000;
           },
           [](PictureParameters& p) { p.pic_fields.bits.chroma_format_idc = 0; },
           [](PictureParameters& p) { p.pic_fields.bits.chroma_format_idc = 3; },
           [](PictureParameters& p) { p.pic_fields.bits.separate_colour_plane_flag = 1; },
           [](PictureParameters& p) {
             p.bit_depth_luma_minus8 = p.bit_depth_chroma_minus8 = 2;
           },
           [](PictureParameters& p) { p.bit_depth_chroma_minus8 = 1; },
           [](PictureParameters& p) { p.log2_min_luma_coding_block_size_minus3 = 255; },
           [](PictureParameters& p) { p.log2_min_luma_coding_block_size_minus3 = 0; },
           [](PictureParameters& p) { p.log2_diff_max_min_luma_coding_block_size = 3; },
           [](PictureParameters& p) { p.log2_min_transform_block_size_minus2 = 2; },
           [](PictureParameters& p) { p.log2_diff_max_min_transform_block_size = 3; },
           [](PictureParameters& p) { p.max_transform_hierarchy_depth_intra = 3; },
           [](PictureParameters& p) { p.max_transform_hierarchy_depth_inter = 200; },
           [](PictureParameters& p) { p.log2_min_pcm_luma_coding_block_size_minus3 = 0; },
           [](PictureParameters& p) { p.log2_diff_max_min_pcm_luma_coding_block_size = 1; },
           [](PictureParameters& p) { p.pcm_sample_bit_depth_luma_minus1 = 8; },
           [](PictureParameters& p) { p.pcm_sample_bit_depth_chroma_minus1 = 255; },
           [](PictureParameters& p) { p.log2_parallel_merge_level_minus2 = 3; },
           [](PictureParameters& p) { p.diff_cu_qp_delta_depth = 1; },
           [](PictureParameters& p) { p.init_qp_minus26 = 26; },
           [](PictureParameters& p) { p.init_qp_minus26 = -27; },
           [](PictureParameters& p) { p.pps_cb_qp_offset = -128; },
           [](PictureParameters& p) { p.pps_cr_qp_offset = 13; },
           [](PictureParameters& p) { p.pps_beta_offset_div2 = 7; },
           [](PictureParameters& p) { p.pps_tc_offset_div2 = -7; },
           [](PictureParameters& p) { p.log2_max_pic_order_cnt_lsb_minus4 = 13; },
           [](PictureParameters& p) { p.num_short_term_ref_pic_sets = 65; },
           [](PictureParameters& p) { p.num_long_term_ref_pic_sps = 33; },
           [](PictureParameters& p) { p.num_ref_idx_l0_default_active_minus1 = 15; },
           [](PictureParameters& p) { p.num_ref_idx_l1_default_active_minus1 = 255; },
           [](PictureParameters& p) { p.num_extra_slice_header_bits = 8; },
           [](PictureParameters& p) { p.sps_max_dec_pic_buffering_minus1 = 16; },
           [](PictureParameters& p) {
             p.pic_fields.bits.tiles_enabled_flag = 1;
             p.num_tile_columns_minus1 = 255;
           },
           [](PictureParameters& p) {
             p.pic_fields.bits.tiles_enabled_flag = 1;
             p.num_tile_rows_minus1 = 22;
           },
           [](PictureParameters& p) {
             p.pic_fields.bits.tiles_enabled_flag = 1;
             p.num_tile_columns_minus1 = 1;
             p.column_width_minus1[0] = 3;  // all four
           },
           [](PictureParameters& p) {
             p.pic_fields.bits.tiles_enabled_flag = 1;
             p.num_tile_rows_minus1 = 2;
             p.row_height_minus1[0] = 65535;
           },
       }) {
    PictureParameters parameters = good;
    change(parameters);
    Picture picture = begin_picture(parameters, 1);
    render_noise_slice(picture, good, SliceParameters{}, {}, random);
    fail_unless(refuses(stream, picture));
  }
  Picture picture = begin_picture(good, 1);
  VAIQMatrixBufferHEVC matrix = random_matrix(random);
  for (const auto zero : std::initializer_list<void (*)(VAIQMatrixBufferHEVC&)>{
           [](VAIQMatrixBufferHEVC& m) { m.ScalingList4x4[5][15] = 0; },
           [](VAIQMatrixBufferHEVC& m) { m.ScalingList32x32[1][63] = 0; },
           [](VAIQMatrixBufferHEVC& m) { m.ScalingListDC16x16[0] = 0; }}) {
    PictureParameters parameters = good;
    parameters.pic_fields.bits.scaling_list_enabled_flag = 1;
    VAIQMatrixBufferHEVC bad = matrix;
    zero(bad);
    picture = begin_picture(parameters, 1);
    picture.buffers.push_back(parameter_buffer(VAIQMatrixBufferType, bad));
    render_noise_slice(picture, parameters, SliceParameters{}, {}, random);
    fail_unless(refuses(stream, picture));
  }
  // The tools of later profiles.
  VAPictureParameterBufferHEVCExtension extended{};
  extended.base = good;
  const auto render_extended = [&] {
    Picture made{.target = 1, .width = 64, .height = 64};
    made.buffers.push_back(parameter_buffer(VAPictureParameterBufferType, extended));
    render_noise_slice(made, good, SliceParameters{}, {}, random);
    return made;
  };
  fail_unless(bool(stream.rebuild(render_extended())));
  extended.rext.range_extension_pic_fields.bits.implicit_rdpcm_enabled_flag = 1;
  fail_unless(refuses(stream, render_extended()));
  extended.rext = {};
  extended.scc.screen_content_pic_fields.bits.palette_mode_enabled_flag = 1;
  fail_unless(refuses(stream, render_extended()));
}
GST_END_TEST;

static Suite* softva_hevc_parameter_sets_suite() {
  Suite* suite = suite_create("softva-hevc-parameter-sets");
  TCase* chain = tcase_create("stream");
  suite_add_tcase(suite, chain);
  tcase_add_test(chain, sequence_parameters_come_back);
  tcase_add_test(chain, picture_parameters_come_back);
  tcase_add_test(chain, scaling_lists_come_back_in_raster_order);
  tcase_add_test(chain, lists_without_their_switch_are_none);
  tcase_add_test(chain, parameters_that_h265_cannot_say_are_refused);
  return suite;
}

GST_CHECK_MAIN(softva_hevc_parameter_sets);
