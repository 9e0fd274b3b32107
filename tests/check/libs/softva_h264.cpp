// SPDX-License-Identifier: LGPL-2.1-or-later

// Golden tests: what is rebuilt from VA's structs, read by GStreamer's parser, says the same as
// the structs.

#include <gst/codecparsers/gsth264parser.h>

#include <random>

#include "lib/softva/h264_parameter_sets.hpp"
#include "lib/softva/h264_slice.hpp"
#include "lib/softva/h264_stream.hpp"
#include "tests/check/support/h264_pictures.hpp"
// Last: check's macros have names that the standard library uses too.
#include "tests/check/support/check.hpp"

using namespace dxva;
using namespace dxva::softva;
using namespace dxva::test;

namespace {

// A stream read back, NAL unit by NAL unit.
class Parser {
 public:
  Parser() : parser_(gst_h264_nal_parser_new()) {}
  ~Parser() {
    for (GstH264SPS& sps : sps_list) gst_h264_sps_clear(&sps);
    for (GstH264PPS& pps : pps_list) gst_h264_pps_clear(&pps);
    gst_h264_nal_parser_free(parser_);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  void read(const Bytes& stream) {
    types.clear();
    GstH264NalUnit nal;
    for (guint offset = 0; offset < stream.size(); offset = nal.offset + nal.size) {
      const GstH264ParserResult found =
          gst_h264_parser_identify_nalu(parser_, stream.data(), offset, stream.size(), &nal);
      fail_unless(found == GST_H264_PARSER_OK || found == GST_H264_PARSER_NO_NAL_END);
      types.push_back(nal.type);
      if (nal.type == GST_H264_NAL_SPS) {
        GstH264SPS sps;
        fail_unless_equals_int(gst_h264_parser_parse_sps(parser_, &nal, &sps),
                               GST_H264_PARSER_OK);
        sps_list.push_back(sps);
      } else if (nal.type == GST_H264_NAL_PPS) {
        GstH264PPS pps;
        fail_unless_equals_int(gst_h264_parser_parse_pps(parser_, &nal, &pps),
                               GST_H264_PARSER_OK);
        pps_list.push_back(pps);
      } else {
        GstH264SliceHdr slice;
        fail_unless_equals_int(
            gst_h264_parser_parse_slice_hdr(parser_, &nal, &slice, TRUE, TRUE),
            GST_H264_PARSER_OK);
        slices.push_back(slice);
        slice_nals.emplace_back(nal.data + nal.offset, nal.data + nal.offset + nal.size);
      }
    }
  }

  std::vector<int> types;  // of the last stream
  std::vector<GstH264SPS> sps_list;
  std::vector<GstH264PPS> pps_list;
  std::vector<GstH264SliceHdr> slices;
  std::vector<Bytes> slice_nals;

 private:
  GstH264NalParser* parser_;
};

// Values that a decoder needs to be right, drawn anew for each seed.
PictureParameters random_picture(std::mt19937& random) {
  PictureParameters picture = plain_picture(static_cast<uint16_t>(random() % 120 + 1),
                                            static_cast<uint16_t>(random() % 68 + 1) * 2);
  auto& seq = picture.seq_fields.bits;
  auto& pic = picture.pic_fields.bits;
  picture.bit_depth_luma_minus8 = picture.bit_depth_chroma_minus8 =
      static_cast<uint8_t>(random() % 3);
  picture.num_ref_frames = static_cast<uint8_t>(random() % 17);
  seq.chroma_format_idc = random() % 2;
  seq.gaps_in_frame_num_value_allowed_flag = random() % 2;
  seq.frame_mbs_only_flag = random() % 2;
  seq.mb_adaptive_frame_field_flag = !seq.frame_mbs_only_flag && random() % 2;
  seq.direct_8x8_inference_flag = !seq.frame_mbs_only_flag || random() % 2;
  seq.log2_max_frame_num_minus4 = random() % 13;
  seq.pic_order_cnt_type = random() % 3;
  seq.log2_max_pic_order_cnt_lsb_minus4 = random() % 13;
  seq.delta_pic_order_always_zero_flag = random() % 2;
  picture.pic_init_qp_minus26 = static_cast<int8_t>(static_cast<int>(random() % 52) - 26);
  picture.pic_init_qs_minus26 = static_cast<int8_t>(static_cast<int>(random() % 52) - 26);
  picture.chroma_qp_index_offset = static_cast<int8_t>(static_cast<int>(random() % 25) - 12);
  picture.second_chroma_qp_index_offset =
      static_cast<int8_t>(static_cast<int>(random() % 25) - 12);
  pic.entropy_coding_mode_flag = random() % 2;
  pic.weighted_pred_flag = random() % 2;
  pic.weighted_bipred_idc = random() % 3;
  pic.transform_8x8_mode_flag = random() % 2;
  pic.constrained_intra_pred_flag = random() % 2;
  pic.pic_order_present_flag = random() % 2;
  pic.deblocking_filter_control_present_flag = random() % 2;
  pic.redundant_pic_cnt_present_flag = random() % 2;
  return picture;
}

VAIQMatrixBufferH264 random_matrix(std::mt19937& random) {
  VAIQMatrixBufferH264 matrix{};
  for (auto& list : matrix.ScalingList4x4)
    for (uint8_t& value : list) value = static_cast<uint8_t>(random() % 255 + 1);
  for (auto& list : matrix.ScalingList8x8)
    for (uint8_t& value : list) value = static_cast<uint8_t>(random() % 255 + 1);
  return matrix;
}

Bytes stream_of(const Bytes& nal) {
  Bytes stream;
  append_escaped_nal(stream, nal);
  return stream;
}

// A slice whose data is noise: parsed here, decoded by nobody.
void render_noise_slice(Picture& to, const PictureParameters& picture,
                        const SliceParameters& slice, const SliceSyntax& syntax,
                        std::mt19937& random) {
  BitWriter out = slice_header(picture, slice, syntax);
  const size_t header_bits = out.position();
  if (picture.pic_fields.bits.entropy_coding_mode_flag) out.align(true);
  for (int i = 0; i < 40; ++i) out.put(random() % 4 ? 0 : random(), 8);
  out.trailing();
  render_slice(to, slice, nal_of(out), header_bits);
}

void check_sps(const GstH264SPS& sps, const PictureParameters& picture) {
  const auto& seq = picture.seq_fields.bits;
  const bool rewritten = seq.pic_order_cnt_type == 1;
  fail_unless_equals_int(sps.id, 0);
  fail_unless_equals_int(sps.profile_idc, picture.bit_depth_luma_minus8 ? 110 : 100);
  fail_unless_equals_int(sps.chroma_format_idc, seq.chroma_format_idc);
  fail_unless_equals_int(sps.bit_depth_luma_minus8, picture.bit_depth_luma_minus8);
  fail_unless_equals_int(sps.bit_depth_chroma_minus8, picture.bit_depth_chroma_minus8);
  fail_unless_equals_int(sps.scaling_matrix_present_flag, 0);
  fail_unless_equals_int(sps.log2_max_frame_num_minus4, seq.log2_max_frame_num_minus4);
  fail_unless_equals_int(sps.pic_order_cnt_type, rewritten ? 0 : seq.pic_order_cnt_type);
  if (seq.pic_order_cnt_type != 2)
    fail_unless_equals_int(sps.log2_max_pic_order_cnt_lsb_minus4,
                           rewritten ? 12 : seq.log2_max_pic_order_cnt_lsb_minus4);
  fail_unless_equals_int(sps.num_ref_frames, picture.num_ref_frames);
  fail_unless_equals_int(sps.gaps_in_frame_num_value_allowed_flag,
                         seq.gaps_in_frame_num_value_allowed_flag);
  fail_unless_equals_int(sps.width, (picture.picture_width_in_mbs_minus1 + 1) * 16);
  fail_unless_equals_int(sps.height, (picture.picture_height_in_mbs_minus1 + 1) * 16);
  fail_unless_equals_int(sps.frame_mbs_only_flag, seq.frame_mbs_only_flag);
  fail_unless_equals_int(sps.mb_adaptive_frame_field_flag, seq.mb_adaptive_frame_field_flag);
  fail_unless_equals_int(sps.direct_8x8_inference_flag, seq.direct_8x8_inference_flag);
  fail_unless_equals_int(sps.frame_cropping_flag, 0);
}

void check_pps(const GstH264PPS& pps, const PictureParameters& picture) {
  const auto& pic = picture.pic_fields.bits;
  fail_unless_equals_int(pps.entropy_coding_mode_flag, pic.entropy_coding_mode_flag);
  fail_unless_equals_int(
      pps.pic_order_present_flag,
      pic.pic_order_present_flag || picture.seq_fields.bits.pic_order_cnt_type == 1);
  fail_unless_equals_int(pps.num_slice_groups_minus1, 0);
  fail_unless_equals_int(pps.weighted_pred_flag, pic.weighted_pred_flag);
  fail_unless_equals_int(pps.weighted_bipred_idc, pic.weighted_bipred_idc);
  // Without QpBdOffset, which libavcodec adds; what would be too low then has none.
  const int qp_offset = 6 * picture.bit_depth_luma_minus8;
  fail_unless_equals_int(pps.pic_init_qp_minus26, picture.pic_init_qp_minus26 - qp_offset);
  const int qs = picture.pic_init_qs_minus26;
  fail_unless_equals_int(pps.pic_init_qs_minus26, qs - qp_offset < -26 ? qs : qs - qp_offset);
  fail_unless_equals_int(pps.chroma_qp_index_offset, picture.chroma_qp_index_offset);
  fail_unless_equals_int(static_cast<int8_t>(pps.second_chroma_qp_index_offset),
                         picture.second_chroma_qp_index_offset);
  fail_unless_equals_int(pps.deblocking_filter_control_present_flag,
                         pic.deblocking_filter_control_present_flag);
  fail_unless_equals_int(pps.constrained_intra_pred_flag, pic.constrained_intra_pred_flag);
  fail_unless_equals_int(pps.redundant_pic_cnt_present_flag,
                         pic.redundant_pic_cnt_present_flag);
  fail_unless_equals_int(pps.transform_8x8_mode_flag, pic.transform_8x8_mode_flag);
}

Picture with_matrix(Picture picture, const VAIQMatrixBufferH264& matrix) {
  picture.buffers.insert(picture.buffers.begin() + 1,
                         parameter_buffer(VAIQMatrixBufferType, matrix));
  return picture;
}

}  // namespace

GST_START_TEST(sequence_parameters_come_back) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const PictureParameters picture = random_picture(random);
    fail_unless(bool(check_h264_picture(picture)));
    Parser parser;
    parser.read(stream_of(write_h264_sps(picture)));
    fail_unless_equals_int(parser.sps_list.size(), 1);
    check_sps(parser.sps_list[0], picture);
  }
}
GST_END_TEST;

GST_START_TEST(picture_parameters_come_back) {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    const PictureParameters picture = random_picture(random);
    const H264Pps wanted{.id = static_cast<uint32_t>(random() % 256),
                         .ref_count_l0_minus1 = static_cast<uint8_t>(random() % 32),
                         .ref_count_l1_minus1 = static_cast<uint8_t>(random() % 32)};
    const auto nal = write_h264_pps(picture, std::nullopt, wanted);
    fail_unless(bool(nal));
    Parser parser;
    parser.read(stream_of(write_h264_sps(picture)));
    parser.read(stream_of(*nal));
    const GstH264PPS& pps = parser.pps_list.at(0);
    fail_unless_equals_int(pps.id, static_cast<int>(wanted.id));
    fail_unless_equals_int(pps.num_ref_idx_l0_active_minus1, wanted.ref_count_l0_minus1);
    fail_unless_equals_int(pps.num_ref_idx_l1_active_minus1, wanted.ref_count_l1_minus1);
    fail_unless_equals_int(pps.pic_scaling_matrix_present_flag, 0);
    check_pps(pps, picture);
  }
}
GST_END_TEST;

GST_START_TEST(scaling_lists_come_back_in_raster_order) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    PictureParameters picture = random_picture(random);
    picture.pic_fields.bits.transform_8x8_mode_flag = i % 2;
    const VAIQMatrixBufferH264 matrix = random_matrix(random);
    const auto nal = write_h264_pps(picture, matrix, {});
    fail_unless(bool(nal));
    Parser parser;
    parser.read(stream_of(write_h264_sps(picture)));
    parser.read(stream_of(*nal));
    const GstH264PPS& pps = parser.pps_list.at(0);
    fail_unless_equals_int(pps.pic_scaling_matrix_present_flag, 1);
    for (int list = 0; list < 6; ++list) {
      uint8_t raster[16];
      gst_h264_quant_matrix_4x4_get_raster_from_zigzag(raster, pps.scaling_lists_4x4[list]);
      fail_unless(std::memcmp(raster, matrix.ScalingList4x4[list], sizeof raster) == 0);
    }
    for (int list = 0; list < 2 && i % 2; ++list) {
      uint8_t raster[64];
      gst_h264_quant_matrix_8x8_get_raster_from_zigzag(raster, pps.scaling_lists_8x8[list]);
      fail_unless(std::memcmp(raster, matrix.ScalingList8x8[list], sizeof raster) == 0);
    }
    check_pps(pps, picture);
  }
}
GST_END_TEST;

GST_START_TEST(a_flat_matrix_is_no_matrix) {
  const PictureParameters picture = plain_picture(2, 2);
  VAIQMatrixBufferH264 matrix;
  std::memset(&matrix, 16, sizeof matrix);
  const auto flat = write_h264_pps(picture, matrix, {});
  const auto none = write_h264_pps(picture, std::nullopt, {});
  fail_unless(flat && none && *flat == *none);
  // 8x8 lists count only where there is an 8x8 transform: clients leave them empty elsewhere.
  std::memset(matrix.ScalingList8x8, 0, sizeof matrix.ScalingList8x8);
  const auto without_8x8 = write_h264_pps(picture, matrix, {});
  fail_unless(without_8x8 && *without_8x8 == *none);
}
GST_END_TEST;

GST_START_TEST(parameter_sets_are_sent_when_they_change) {
  std::mt19937 random(4);
  H264Stream stream(8);
  Parser parser;
  PictureParameters parameters = plain_picture(4, 4);
  const auto rebuild = [&](const SliceSyntax& syntax) {
    Picture picture = begin_picture(parameters, 1);
    render_noise_slice(picture, parameters, SliceParameters{}, syntax, random);
    const auto unit = stream.rebuild(picture);
    fail_unless(bool(unit));
    parser.read(unit->bytes);
  };
  using Types = std::vector<int>;
  rebuild({});
  fail_unless(parser.types == (Types{7, 8, 5}));
  rebuild({.idr = false});
  fail_unless(parser.types == (Types{1}));
  rebuild({.idr = false, .pps_id = 3});
  fail_unless(parser.types == (Types{8, 1}));
  fail_unless_equals_int(parser.pps_list.back().id, 3);
  parameters.pic_init_qp_minus26 = 4;
  rebuild({.idr = false});
  fail_unless(parser.types == (Types{8, 1}));
  fail_unless_equals_int(parser.pps_list.back().id, 0);
  parameters.num_ref_frames = 2;  // a new SPS: decoders forget the PPSs of the old one
  rebuild({.pps_id = 3});
  fail_unless(parser.types == (Types{7, 8, 5}));
  rebuild({.idr = false});
  fail_unless(parser.types == (Types{8, 1}));
}
GST_END_TEST;

GST_START_TEST(every_slice_gets_its_own_reference_counts) {
  std::mt19937 random(5);
  H264Stream stream(8);
  Parser parser;
  PictureParameters parameters = plain_picture(4, 4);
  parameters.num_ref_frames = 16;
  parameters.ReferenceFrames[0] = {.picture_id = 2,
                                   .flags = VA_PICTURE_H264_SHORT_TERM_REFERENCE};
  struct Wanted {
    uint32_t type;
    bool overrides;
    uint8_t l0;
    uint8_t l1;
  };
  const std::vector<Wanted> wanted = {{0, false, 3, 0}, {0, true, 5, 0},  {1, false, 2, 1},
                                      {2, false, 9, 9}, {0, false, 3, 7}, {1, true, 0, 4},
                                      {1, false, 0, 0}, {0, false, 15, 0}};
  Picture picture = begin_picture(parameters, 1);
  for (const Wanted& slice : wanted)
    render_noise_slice(
        picture, parameters,
        {.num_ref_idx_l0_active_minus1 = slice.l0, .num_ref_idx_l1_active_minus1 = slice.l1},
        {.idr = false, .type = slice.type, .overrides_ref_counts = slice.overrides}, random);
  const auto unit = stream.rebuild(picture);
  fail_unless(bool(unit));
  parser.read(unit->bytes);
  fail_unless_equals_int(parser.slices.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].type == 2) continue;
    fail_unless_equals_int(parser.slices[i].num_ref_idx_l0_active_minus1, wanted[i].l0);
    if (wanted[i].type == 1)
      fail_unless_equals_int(parser.slices[i].num_ref_idx_l1_active_minus1, wanted[i].l1);
  }
  // An I slice, and one with counts of its own, are no reason for a PPS.
  using Types = std::vector<int>;
  fail_unless(parser.types == (Types{7, 8, 1, 1, 8, 1, 1, 8, 1, 1, 8, 1, 8, 1}));
}
GST_END_TEST;

GST_START_TEST(slices_go_through_untouched) {
  std::mt19937 random(6);
  for (int i = 0; i < 200; ++i) {
    PictureParameters parameters = random_picture(random);
    parameters.seq_fields.bits.pic_order_cnt_type = i % 2 ? 0 : 2;
    parameters.pic_fields.bits.weighted_pred_flag = 0;  // slice_header() writes no tables
    parameters.pic_fields.bits.weighted_bipred_idc = 2;
    parameters.num_ref_frames = 4;
    Picture picture = begin_picture(parameters, 1);
    render_noise_slice(picture, parameters, SliceParameters{}, {.idr = false, .type = i % 3U},
                       random);
    H264Stream stream(10);
    const auto unit = stream.rebuild(picture);
    fail_unless(bool(unit));
    Parser parser;
    parser.read(unit->bytes);
    fail_unless(parser.slice_nals.at(0) == picture.buffers.back().bytes);
  }
}
GST_END_TEST;

GST_START_TEST(order_count_type_1_is_said_with_absolute_counts) {
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i) {
    PictureParameters parameters = random_picture(random);
    parameters.seq_fields.bits.pic_order_cnt_type = 1;
    parameters.pic_fields.bits.weighted_pred_flag = 0;  // slice_header() writes no tables
    parameters.pic_fields.bits.weighted_bipred_idc = 2;
    parameters.num_ref_frames = 4;
    parameters.frame_num = 1;
    const bool field = !parameters.seq_fields.bits.frame_mbs_only_flag && random() % 2;
    const bool bottom = field && random() % 2;
    parameters.pic_fields.bits.field_pic_flag = field;
    if (field)
      parameters.CurrPic.flags =
          bottom ? VA_PICTURE_H264_BOTTOM_FIELD : VA_PICTURE_H264_TOP_FIELD;
    parameters.CurrPic.TopFieldOrderCnt = static_cast<int>(random() % 60000) - 30000;
    parameters.CurrPic.BottomFieldOrderCnt =
        parameters.CurrPic.TopFieldOrderCnt + static_cast<int>(random() % 40) - 20;
    const SliceParameters slice{.slice_qp_delta = -3, .disable_deblocking_filter_idc = 2};
    const SliceSyntax syntax{
        .idr = false, .type = i % 3U, .deltas = {static_cast<int>(random() % 300) - 150, 7}};
    Picture picture = begin_picture(parameters, 1);
    render_noise_slice(picture, parameters, slice, syntax, random);
    SliceParameters rendered;
    std::memcpy(&rendered, picture.buffers[1].bytes.data(), sizeof rendered);
    const Bytes original = unescape(picture.buffers[2].bytes);

    H264Stream stream(10);
    const auto unit = stream.rebuild(picture);
    fail_unless(bool(unit));
    Parser parser;
    parser.read(unit->bytes);
    const GstH264SliceHdr& got = parser.slices.at(0);
    const int32_t own =
        bottom ? parameters.CurrPic.BottomFieldOrderCnt : parameters.CurrPic.TopFieldOrderCnt;
    fail_unless_equals_int(got.pic_order_cnt_lsb, own & 0xffff);
    if (!field)
      fail_unless_equals_int(
          got.delta_pic_order_cnt_bottom,
          parameters.CurrPic.BottomFieldOrderCnt - parameters.CurrPic.TopFieldOrderCnt);
    fail_unless_equals_int(got.frame_num, 1);
    fail_unless_equals_int(got.field_pic_flag, field);
    fail_unless_equals_int(got.bottom_field_flag, bottom);
    fail_unless_equals_int(got.slice_qp_delta, -3);

    // The slice's data comes after its header, bit by bit.
    const bool cabac = parameters.pic_fields.bits.entropy_coding_mode_flag;
    const Bytes rewritten = unescape(parser.slice_nals.at(0));
    BitReader was(original);
    BitReader is(rewritten);
    was.skip(rendered.slice_data_bit_offset);
    is.skip(8 + got.header_size);
    while (cabac && was.position() % 8) fail_unless(was.flag());
    while (cabac && is.position() % 8) fail_unless(is.flag());
    fail_unless(is.left() >= was.left());
    while (was.left() > 0) fail_unless(was.flag() == is.flag());
    while (is.left() > 0) fail_if(is.flag());
    fail_unless(was.ok() && is.ok());
  }
}
GST_END_TEST;

GST_START_TEST(contradictions_are_refused_and_change_nothing) {
  std::mt19937 random(8);
  const PictureParameters good = plain_picture(4, 4);
  const auto render = [&](const PictureParameters& parameters) {
    Picture picture = begin_picture(parameters, 1);
    render_noise_slice(picture, good, SliceParameters{}, {}, random);
    return picture;
  };
  H264Stream stream(8);
  const auto refuses = [&](const Picture& picture) {
    const auto unit = stream.rebuild(picture);
    return !unit && unit.error().code == ErrorCode::BadInput;
  };
  using Change = void (*)(PictureParameters&);
  for (const Change change : std::initializer_list<Change>{
           [](PictureParameters& p) { p.picture_width_in_mbs_minus1 = 65535; },
           [](PictureParameters& p) {
             p.picture_width_in_mbs_minus1 = p.picture_height_in_mbs_minus1 = 1000;
           },
           [](PictureParameters& p) {
             p.seq_fields.bits.frame_mbs_only_flag = 0;
             p.picture_height_in_mbs_minus1 = 4;
           },
           [](PictureParameters& p) { p.pic_fields.bits.field_pic_flag = 1; },
           [](PictureParameters& p) { p.seq_fields.bits.chroma_format_idc = 2; },
           [](PictureParameters& p) {
             p.bit_depth_luma_minus8 = p.bit_depth_chroma_minus8 = 2;
           },
           [](PictureParameters& p) { p.bit_depth_chroma_minus8 = 1; },
           [](PictureParameters& p) { p.num_ref_frames = 17; },
           [](PictureParameters& p) { p.seq_fields.bits.log2_max_frame_num_minus4 = 13; },
           [](PictureParameters& p) {
             p.seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 = 13;
           },
           [](PictureParameters& p) { p.seq_fields.bits.pic_order_cnt_type = 3; },
           [](PictureParameters& p) { p.pic_fields.bits.weighted_bipred_idc = 3; },
           [](PictureParameters& p) { p.pic_init_qp_minus26 = 26; },
           [](PictureParameters& p) { p.pic_init_qp_minus26 = -27; },
           [](PictureParameters& p) { p.pic_init_qs_minus26 = -128; },
           [](PictureParameters& p) { p.chroma_qp_index_offset = -128; },
           [](PictureParameters& p) { p.second_chroma_qp_index_offset = 13; },
       }) {
    PictureParameters parameters = good;
    change(parameters);
    fail_unless(refuses(render(parameters)));
  }

  // Buffers that do not fit together. 0: picture, 1: slice parameters, 2: slice data.
  const auto slice_of = [](Picture& picture) {
    return reinterpret_cast<SliceParameters*>(picture.buffers[1].bytes.data());
  };
  Picture picture = render(good);
  picture.buffers.erase(picture.buffers.begin());
  fail_unless(refuses(picture));  // no picture parameters
  picture = render(good);
  picture.buffers.resize(1);
  fail_unless(refuses(picture));  // no slices
  picture = render(good);
  picture.buffers.pop_back();
  fail_unless(refuses(picture));  // parameters without data
  picture = render(good);
  picture.buffers.erase(picture.buffers.begin() + 1);
  fail_unless(refuses(picture));  // data without parameters
  picture = render(good);
  picture.buffers[1].element_count = 1000000;
  fail_unless(refuses(picture));  // fewer bytes than elements
  picture = render(good);
  picture.buffers[0].bytes.resize(10);
  fail_unless(refuses(picture));
  picture = render(good);
  picture.buffers[1].element_bytes = 0;
  fail_unless(refuses(picture));
  picture = render(good);
  slice_of(picture)->slice_data_size += 1;
  fail_unless(refuses(picture));
  picture = render(good);
  slice_of(picture)->slice_data_offset = 0xffffffff;
  fail_unless(refuses(picture));
  picture = render(good);
  slice_of(picture)->slice_data_size = 0;
  fail_unless(refuses(picture));
  picture = render(good);
  slice_of(picture)->slice_data_size = 2;
  fail_unless(refuses(picture));  // the header is longer
  picture = render(good);
  slice_of(picture)->slice_data_flag = VA_SLICE_DATA_FLAG_BEGIN;
  fail_unless(refuses(picture));
  picture = render(good);
  picture.buffers.insert(picture.buffers.begin() + 1, picture.buffers[1]);
  fail_unless(refuses(picture));  // two slices of the same bytes
  picture = render(good);
  picture.buffers[2].bytes[0] = 0x67;
  fail_unless(refuses(picture));  // an SPS is no slice
  picture = begin_picture(good, 1);
  render_noise_slice(picture, good, {.num_ref_idx_l0_active_minus1 = 32},
                     {.idr = false, .type = 0}, random);
  fail_unless(refuses(picture));
  VAIQMatrixBufferH264 matrix = random_matrix(random);
  matrix.ScalingList4x4[5][15] = 0;
  fail_unless(refuses(with_matrix(render(good), matrix)));

  // Still waits with its parameter sets for the first picture that is one.
  const auto unit = stream.rebuild(render(good));
  fail_unless(bool(unit));
  Parser parser;
  parser.read(unit->bytes);
  fail_unless(parser.types == (std::vector<int>{7, 8, 5}));
}
GST_END_TEST;

GST_START_TEST(a_senseless_slice_is_left_out_of_its_picture) {
  std::mt19937 random(10);
  const PictureParameters parameters = plain_picture(4, 4);
  Picture picture = begin_picture(parameters, 1);
  render_slice(picture, SliceParameters{}, Bytes{0x67, 1, 2, 3}, 8);
  render_noise_slice(picture, parameters, SliceParameters{.first_mb_in_slice = 4}, {}, random);
  render_slice(picture, SliceParameters{}, Bytes{0x65}, 8);
  H264Stream stream(8);
  const auto unit = stream.rebuild(picture);
  fail_unless(bool(unit));
  Parser parser;
  parser.read(unit->bytes);
  fail_unless(parser.types == (std::vector<int>{7, 8, 5}));
  fail_unless_equals_int(parser.slices.at(0).first_mb_in_slice, 4);
}
GST_END_TEST;

GST_START_TEST(a_picture_without_references_starts_anew) {
  std::mt19937 random(9);
  PictureParameters parameters = plain_picture(4, 4);
  const auto starts_anew = [&](const SliceSyntax& syntax) {
    Picture picture = begin_picture(parameters, 1);
    render_noise_slice(picture, parameters, SliceParameters{}, syntax, random);
    H264Stream stream(8);
    const auto unit = stream.rebuild(picture);
    fail_unless(bool(unit));
    return unit->starts_anew;
  };
  fail_if(starts_anew({.idr = true}));  // an IDR picture says so itself
  fail_unless(starts_anew({.idr = false}));
  parameters.ReferenceFrames[3] = {.picture_id = 2,
                                   .flags = VA_PICTURE_H264_LONG_TERM_REFERENCE};
  fail_if(starts_anew({.idr = false}));
}
GST_END_TEST;

static Suite* softva_h264_suite() {
  Suite* suite = suite_create("softva-h264");
  TCase* chain = tcase_create("stream");
  suite_add_tcase(suite, chain);
  tcase_add_test(chain, sequence_parameters_come_back);
  tcase_add_test(chain, picture_parameters_come_back);
  tcase_add_test(chain, scaling_lists_come_back_in_raster_order);
  tcase_add_test(chain, a_flat_matrix_is_no_matrix);
  tcase_add_test(chain, parameter_sets_are_sent_when_they_change);
  tcase_add_test(chain, every_slice_gets_its_own_reference_counts);
  tcase_add_test(chain, slices_go_through_untouched);
  tcase_add_test(chain, order_count_type_1_is_said_with_absolute_counts);
  tcase_add_test(chain, contradictions_are_refused_and_change_nothing);
  tcase_add_test(chain, a_senseless_slice_is_left_out_of_its_picture);
  tcase_add_test(chain, a_picture_without_references_starts_anew);
  return suite;
}

GST_CHECK_MAIN(softva_h264);
