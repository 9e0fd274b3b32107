// SPDX-License-Identifier: LGPL-2.1-or-later

// AV1 from rendered buffers to headers, which GStreamer's parser reads, and to slots.

#include <gst/codecparsers/gstav1parser.h>

#include <random>

#include "lib/softva/av1_headers.hpp"
#include "lib/softva/av1_stream.hpp"
#include "tests/check/support/av1_pictures.hpp"
#include "tests/check/support/pixel_sum.hpp"
// Last: check's macros have names that the standard library uses too.
#include "tests/check/support/check.hpp"

using namespace dxva::softva;
using namespace dxva::test;
using dxva::ErrorCode;

namespace {

// Reads units one after the other and keeps what their frames store.
class Parser {
 public:
  Parser() : parser_(gst_av1_parser_new()) {}
  ~Parser() { gst_av1_parser_free(parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  GstAV1FrameHeaderOBU read(const Bytes& unit) {
    GstAV1FrameOBU frame{};
    for (guint32 at = 0, used = 0; at < unit.size(); at += used) {
      GstAV1OBU obu{};
      fail_unless_equals_int(
          gst_av1_parser_identify_one_obu(parser_, unit.data() + at,
                                          static_cast<guint32>(unit.size() - at), &obu, &used),
          GST_AV1_PARSER_OK);
      if (obu.obu_type == GST_AV1_OBU_TEMPORAL_DELIMITER) {
        fail_unless_equals_int(gst_av1_parser_parse_temporal_delimiter_obu(parser_, &obu),
                               GST_AV1_PARSER_OK);
      } else if (obu.obu_type == GST_AV1_OBU_SEQUENCE_HEADER) {
        ++sequences;
        fail_unless_equals_int(
            gst_av1_parser_parse_sequence_header_obu(parser_, &obu, &sequence),
            GST_AV1_PARSER_OK);
      } else {
        fail_unless_equals_int(obu.obu_type, GST_AV1_OBU_FRAME);
        fail_unless_equals_int(gst_av1_parser_parse_frame_obu(parser_, &obu, &frame),
                               GST_AV1_PARSER_OK);
        fail_unless_equals_int(
            gst_av1_parser_reference_frame_update(parser_, &frame.frame_header),
            GST_AV1_PARSER_OK);
      }
    }
    return frame.frame_header;
  }

  GstAV1SequenceHeaderOBU sequence{};
  unsigned sequences = 0;

 private:
  GstAV1Parser* parser_;
};

const Bytes kTile(20, 0x55);

int8_t small_delta(std::mt19937& random) {
  return static_cast<int8_t>(static_cast<int>(random() % 128) - 64);
}

// Values that a decoder needs to be right, drawn anew for each seed.
Av1Parameters random_frame(std::mt19937& random, bool key, const Av1Map& map) {
  Av1Parameters picture = plain_av1(static_cast<uint16_t>(random() % 900 + 16),
                                    static_cast<uint16_t>(random() % 500 + 16), key, map);
  auto& info = picture.pic_info_fields.bits;
  picture.order_hint = random() % 128;
  info.frame_type = key ? 0 : random() % 8 == 0 ? 3 : random() % 8 == 0 ? 2 : 1;
  info.error_resilient_mode = random() % 3 == 0;
  info.disable_cdf_update = random() % 2;
  info.allow_screen_content_tools = random() % 2;
  info.force_integer_mv = random() % 2;
  info.allow_intrabc = random() % 2;
  info.use_superres = random() % 3 == 0;
  picture.superres_scale_denominator = static_cast<uint8_t>(9 + random() % 8);
  info.allow_high_precision_mv = random() % 2;
  info.is_motion_mode_switchable = random() % 2;
  info.use_ref_frame_mvs = random() % 2;
  info.disable_frame_end_update_cdf = random() % 2;
  info.allow_warped_motion = random() % 2;
  picture.primary_ref_frame = random() % 8;
  picture.interp_filter = random() % 5;
  for (uint8_t& index : picture.ref_frame_idx) index = random() % 8;
  picture.base_qindex = static_cast<uint8_t>(random() % 4 ? random() : 0);
  if (random() % 2) {
    picture.y_dc_delta_q = small_delta(random);
    picture.u_dc_delta_q = small_delta(random);
    picture.u_ac_delta_q = small_delta(random);
    picture.v_dc_delta_q = small_delta(random);
    picture.v_ac_delta_q = small_delta(random);
  }
  auto& matrix = picture.qmatrix_fields.bits;
  matrix.using_qmatrix = random() % 2;
  matrix.qm_y = random() % 16;
  matrix.qm_u = random() % 16;
  matrix.qm_v = random() % 16;
  picture.seg_info.segment_info_fields.bits.enabled = random() % 2;
  picture.seg_info.segment_info_fields.bits.update_map = 1;
  for (unsigned segment = 0; segment < 8; ++segment) {
    picture.seg_info.feature_mask[segment] = static_cast<uint8_t>(random());
    for (unsigned i = 0; i < 5; ++i)
      picture.seg_info.feature_data[segment][i] =
          static_cast<int16_t>(static_cast<int>(random() % 127) - 63);
    picture.seg_info.feature_data[segment][5] = random() % 8;
  }
  for (uint8_t& level : picture.filter_level) level = random() % 64;
  picture.filter_level_u = random() % 64;
  picture.filter_level_v = random() % 64;
  picture.loop_filter_info_fields.bits.sharpness_level = random() % 8;
  picture.loop_filter_info_fields.bits.mode_ref_delta_enabled = random() % 2;
  picture.loop_filter_info_fields.bits.mode_ref_delta_update = random() % 2;
  for (int8_t& delta : picture.ref_deltas) delta = small_delta(random);
  for (int8_t& delta : picture.mode_deltas) delta = small_delta(random);
  picture.cdef_damping_minus_3 = random() % 4;
  picture.cdef_bits = random() % 4;
  for (uint8_t& strength : picture.cdef_y_strengths) strength = random() % 64;
  for (uint8_t& strength : picture.cdef_uv_strengths) strength = random() % 64;
  auto& mode = picture.mode_control_fields.bits;
  mode.delta_q_present_flag = random() % 2;
  mode.log2_delta_q_res = random() % 4;
  mode.delta_lf_present_flag = random() % 2;
  mode.log2_delta_lf_res = random() % 4;
  mode.delta_lf_multi = random() % 2;
  mode.tx_mode = 1 + random() % 2;
  mode.reference_select = random() % 2;
  mode.reduced_tx_set_used = random() % 2;
  mode.skip_mode_present = random() % 2;
  auto& restoration = picture.loop_restoration_fields.bits;
  restoration.yframe_restoration_type = random() % 4;
  restoration.cbframe_restoration_type = random() % 4;
  restoration.crframe_restoration_type = random() % 4;
  restoration.lr_unit_shift = random() % 3;
  restoration.lr_uv_shift = restoration.lr_unit_shift > 0 && random() % 2;
  return picture;
}

// gm_params that a header can say, near the last ones or far away.
void random_motion(std::mt19937& random, Av1Parameters& picture) {
  for (auto& warp : picture.wm) {
    warp.wmtype = static_cast<VAAV1TransformationType>(random() % 4);
    warp.wmmat[2] = warp.wmmat[5] = 1 << 16;
    const auto alpha = [&random](int one) {
      const int reach = random() % 2 ? 20 : 4096;
      return one + (static_cast<int>(random() % (2 * reach + 1)) - reach) * 2;
    };
    if (warp.wmtype == VAAV1TransformationTranslation) {
      const int step =
          1 << (16 - (picture.pic_info_fields.bits.allow_high_precision_mv &&
                              !(picture.pic_info_fields.bits.force_integer_mv &&
                                picture.pic_info_fields.bits.allow_screen_content_tools)
                          ? 3
                          : 2));
      for (const int i : {0, 1})
        warp.wmmat[i] = (static_cast<int>(random() % 511) - 255) * step;
    } else if (warp.wmtype != VAAV1TransformationIdentity) {
      for (const int i : {0, 1})
        warp.wmmat[i] = (static_cast<int>(random() % 8193) - 4096) * (1 << 10);
      warp.wmmat[2] = alpha(1 << 16);
      warp.wmmat[3] = alpha(0);
      warp.wmmat[4] = warp.wmtype == VAAV1TransformationAffine ? alpha(0) : -warp.wmmat[3];
      warp.wmmat[5] = warp.wmtype == VAAV1TransformationAffine ? alpha(1 << 16) : warp.wmmat[2];
    }
  }
}

void check_frame(const GstAV1FrameHeaderOBU& frame, const Av1Parameters& picture) {
  const auto& info = picture.pic_info_fields.bits;
  const bool intra = av1_is_intra(picture), resilient = av1_is_resilient(picture);
  fail_unless_equals_int(frame.frame_type, info.frame_type == 3 ? 1 : info.frame_type);
  fail_unless_equals_int(frame.error_resilient_mode, resilient);
  fail_unless_equals_int(frame.disable_cdf_update, info.disable_cdf_update);
  fail_unless_equals_int(frame.allow_screen_content_tools, info.allow_screen_content_tools);
  fail_unless_equals_int(frame.order_hint, picture.order_hint);
  fail_unless_equals_int(frame.upscaled_width, picture.frame_width_minus1 + 1);
  fail_unless_equals_int(frame.frame_height, picture.frame_height_minus1 + 1);
  fail_unless_equals_int(frame.use_superres, info.use_superres);
  fail_unless_equals_int(frame.frame_width, av1_coded_width(picture));
  fail_unless_equals_int(frame.reduced_tx_set,
                         picture.mode_control_fields.bits.reduced_tx_set_used);
  if (!info.disable_cdf_update)
    fail_unless_equals_int(frame.disable_frame_end_update_cdf,
                           info.disable_frame_end_update_cdf);
  const auto& quantiser = frame.quantization_params;
  fail_unless_equals_int(quantiser.base_q_idx, picture.base_qindex);
  fail_unless_equals_int(quantiser.delta_q_y_dc, picture.y_dc_delta_q);
  fail_unless_equals_int(quantiser.delta_q_u_dc, picture.u_dc_delta_q);
  fail_unless_equals_int(quantiser.delta_q_u_ac, picture.u_ac_delta_q);
  fail_unless_equals_int(quantiser.delta_q_v_dc, picture.v_dc_delta_q);
  fail_unless_equals_int(quantiser.delta_q_v_ac, picture.v_ac_delta_q);
  fail_unless_equals_int(quantiser.using_qmatrix, picture.qmatrix_fields.bits.using_qmatrix);
  if (quantiser.using_qmatrix) {
    fail_unless_equals_int(quantiser.qm_y, picture.qmatrix_fields.bits.qm_y);
    fail_unless_equals_int(quantiser.qm_u, picture.qmatrix_fields.bits.qm_u);
    fail_unless_equals_int(quantiser.qm_v, picture.qmatrix_fields.bits.qm_v);
  }
  const auto& segments = frame.segmentation_params;
  const auto& seg = picture.seg_info;
  fail_unless_equals_int(segments.segmentation_enabled, seg.segment_info_fields.bits.enabled);
  for (unsigned i = 0; segments.segmentation_enabled && i < 8; ++i)
    for (unsigned k = 0; k < 8; ++k) {
      fail_unless_equals_int(segments.feature_enabled[i][k], seg.feature_mask[i] >> k & 1);
      if (segments.feature_enabled[i][k] && k < 6)
        fail_unless_equals_int(segments.feature_data[i][k], seg.feature_data[i][k]);
    }
  const bool copies = frame.allow_intrabc;
  if (!frame.coded_lossless && !copies) {
    const auto& filter = frame.loop_filter_params;
    fail_unless_equals_int(filter.loop_filter_level[0], picture.filter_level[0]);
    fail_unless_equals_int(filter.loop_filter_level[1], picture.filter_level[1]);
    fail_unless_equals_int(filter.loop_filter_sharpness,
                           picture.loop_filter_info_fields.bits.sharpness_level);
    if (filter.loop_filter_delta_enabled && filter.loop_filter_delta_update)
      for (int i = 0; i < 8; ++i)
        fail_unless_equals_int(filter.loop_filter_ref_deltas[i], picture.ref_deltas[i]);
    fail_unless_equals_int(frame.cdef_params.cdef_bits, picture.cdef_bits);
    for (int i = 0; i < 1 << picture.cdef_bits; ++i)
      fail_unless_equals_int(frame.cdef_params.cdef_y_pri_strength[i],
                             picture.cdef_y_strengths[i] >> 2);
  }
  if (!frame.all_lossless && !copies) {
    const auto& restoration = picture.loop_restoration_fields.bits;
    const auto& parsed = frame.loop_restoration_params;
    fail_unless_equals_int(parsed.frame_restoration_type[0],
                           restoration.yframe_restoration_type);
    fail_unless_equals_int(parsed.frame_restoration_type[1],
                           restoration.cbframe_restoration_type);
    fail_unless_equals_int(parsed.frame_restoration_type[2],
                           restoration.crframe_restoration_type);
    if (parsed.uses_lr) fail_unless_equals_int(parsed.lr_unit_shift, restoration.lr_unit_shift);
  }
  if (!frame.coded_lossless)
    fail_unless_equals_int(frame.tx_mode_select, picture.mode_control_fields.bits.tx_mode == 2);
  if (intra) return;
  fail_unless_equals_int(frame.reference_select,
                         picture.mode_control_fields.bits.reference_select);
  fail_unless_equals_int(frame.is_motion_mode_switchable, info.is_motion_mode_switchable);
  if (!resilient) {
    fail_unless_equals_int(frame.primary_ref_frame, picture.primary_ref_frame);
    fail_unless_equals_int(frame.use_ref_frame_mvs, info.use_ref_frame_mvs);
    fail_unless_equals_int(frame.allow_warped_motion, info.allow_warped_motion);
  }
  const Av1Motion motion = av1_motion(picture);
  for (int i = 0; i < 7; ++i)
    for (int k = 0; k < 6; ++k)
      fail_unless_equals_int(frame.global_motion_params.gm_params[i + 1][k], motion[i][k]);
}

}  // namespace

GST_START_TEST(frame_headers_come_back) {
  std::mt19937 random(1);
  Av1Stream stream;
  Parser parser;
  Av1Map map = av1_map(VA_INVALID_SURFACE);
  for (VASurfaceID surface = 1; surface < 1500; ++surface) {
    const bool key = surface % 100 == 1;
    Av1Parameters picture = random_frame(random, key, map);
    if (!av1_is_intra(picture)) random_motion(random, picture);
    const auto unit = stream.rebuild(av1_picture(picture, surface, kTile));
    fail_unless(bool(unit), "%s", unit ? "" : unit.error().text.c_str());
    for (const Bytes& replay : unit->replays) parser.read(replay);
    check_frame(parser.read(unit->bytes), picture);
    // Some are stored in several slots, some in none.
    if (key) map = av1_map(surface);
    for (VASurfaceID& slot : map)
      if (random() % 6 == 0) slot = surface;
  }
  fail_unless_equals_int(parser.sequences, 1);
}
GST_END_TEST;

GST_START_TEST(a_sequence_says_what_frames_cannot) {
  for (int bit = 0; bit < 12; ++bit) {
    Av1Parameters picture = plain_av1(64, 64, true);
    auto& fields = picture.seq_info_fields.fields;
    fields.use_128x128_superblock = bit == 0;
    fields.enable_filter_intra = bit == 1;
    fields.enable_intra_edge_filter = bit == 2;
    fields.enable_interintra_compound = bit == 3;
    fields.enable_masked_compound = bit == 4;
    fields.enable_dual_filter = bit == 5;
    fields.enable_order_hint = bit >= 6;
    fields.enable_jnt_comp = bit == 7;
    fields.enable_cdef = bit == 8;
    fields.mono_chrome = bit == 9;
    fields.color_range = bit == 10;
    picture.bit_depth_idx = bit == 11;
    Av1Stream stream;
    Parser parser;
    const auto unit = stream.rebuild(av1_picture(picture, 1, kTile));
    fail_unless(bool(unit));
    parser.read(unit->bytes);
    const auto& read = parser.sequence;
    fail_unless_equals_int(read.use_128x128_superblock, bit == 0);
    fail_unless_equals_int(read.enable_filter_intra, bit == 1);
    fail_unless_equals_int(read.enable_intra_edge_filter, bit == 2);
    fail_unless_equals_int(read.enable_interintra_compound, bit == 3);
    fail_unless_equals_int(read.enable_masked_compound, bit == 4);
    fail_unless_equals_int(read.enable_dual_filter, bit == 5);
    fail_unless_equals_int(read.enable_order_hint, bit >= 6);
    fail_unless_equals_int(read.enable_jnt_comp, bit == 7);
    fail_unless_equals_int(read.enable_cdef, bit == 8);
    fail_unless_equals_int(read.color_config.mono_chrome, bit == 9);
    fail_unless_equals_int(read.color_config.color_range, bit == 10);
    fail_unless_equals_int(read.bit_depth, bit == 11 ? 10 : 8);
  }
}
GST_END_TEST;

GST_START_TEST(tiles_lie_where_va_says) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Av1Parameters picture = plain_av1(static_cast<uint16_t>(random() % 3000 + 64),
                                      static_cast<uint16_t>(random() % 1500 + 64), true);
    picture.seq_info_fields.fields.use_128x128_superblock = random() % 2;
    const uint32_t side = picture.seq_info_fields.fields.use_128x128_superblock ? 128 : 64;
    picture.pic_info_fields.bits.uniform_tile_spacing_flag = 0;
    const auto cut = [&](uint32_t pixels, uint16_t(&sizes)[63]) {
      uint32_t left = (pixels + side - 1) / side, count = 0;
      for (; left > 0 && count < 8; ++count) {
        const uint32_t size = count == 7 ? left : random() % left + 1;
        sizes[count] = static_cast<uint16_t>(size - 1);
        left -= size;
      }
      return static_cast<uint8_t>(count);
    };
    picture.tile_cols = cut(picture.frame_width_minus1 + 1U, picture.width_in_sbs_minus_1);
    picture.tile_rows = cut(picture.frame_height_minus1 + 1U, picture.height_in_sbs_minus_1);
    picture.context_update_tile_id =
        static_cast<uint16_t>(random() % (picture.tile_cols * picture.tile_rows));
    Av1Stream stream;
    Parser parser;
    const auto unit = stream.rebuild(av1_picture(picture, 1, kTile));
    fail_unless(bool(unit));
    const GstAV1TileInfo info = parser.read(unit->bytes).tile_info;
    fail_unless_equals_int(info.tile_cols, picture.tile_cols);
    fail_unless_equals_int(info.tile_rows, picture.tile_rows);
    for (int i = 0; i < picture.tile_cols; ++i)
      fail_unless_equals_int(info.width_in_sbs_minus_1[i], picture.width_in_sbs_minus_1[i]);
    for (int i = 0; i < picture.tile_rows; ++i)
      fail_unless_equals_int(info.height_in_sbs_minus_1[i], picture.height_in_sbs_minus_1[i]);
    if (picture.tile_cols * picture.tile_rows > 1)
      fail_unless_equals_int(info.context_update_tile_id, picture.context_update_tile_id);
  }
}
GST_END_TEST;

GST_START_TEST(a_frame_without_a_slot_is_decoded_again_when_it_needs_one) {
  Av1Stream stream;
  Parser parser;
  const auto send = [&](VASurfaceID target, bool key, const Av1Map& map, size_t replays) {
    const auto unit = stream.rebuild(av1_picture(plain_av1(64, 64, key, map), target, kTile));
    fail_unless(bool(unit));
    fail_unless_equals_int(unit->replays.size(), replays);
    for (const Bytes& replay : unit->replays)
      fail_unless(parser.read(replay).refresh_frame_flags != 0);
    return parser.read(unit->bytes).refresh_frame_flags;
  };
  fail_unless(send(1, true, av1_map(VA_INVALID_SURFACE), 0) != 0);
  Av1Map map = av1_map(1);
  // Each frame lands in another slot, while there are some.
  unsigned used = 0;
  for (VASurfaceID surface = 2; surface <= 8; ++surface) {
    const unsigned flags = send(surface, false, map, 0);
    fail_unless(flags != 0 && (flags & used) == 0);
    used |= flags;
    map[surface - 1] = surface;
  }
  // All eight can still be referred to: nowhere to store this one.
  fail_unless_equals_int(send(9, false, map, 0), 0);
  // It replaces one of them: now it is needed, and there is room.
  map[3] = 9;
  fail_unless(send(10, false, map, 1) == 0);
  // The one after was not stored by the stream either: forgotten.
  fail_unless(send(11, false, map, 0) == 0);
  map[0] = 11;
  fail_unless(send(12, false, map, 1) == 0);
}
GST_END_TEST;

GST_START_TEST(what_is_not_there_is_refused) {
  const auto refused = [](const Picture& picture) {
    const auto unit = Av1Stream().rebuild(picture);
    return !unit && unit.error().code == ErrorCode::BadInput;
  };
  const Av1Parameters key = plain_av1(256, 256, true);
  fail_if(refused(av1_picture(key, 1, kTile)));
  fail_unless(refused(av1_picture(plain_av1(64, 64, false, av1_map(1)), 2, kTile)));
  const auto changed = [&](void (*change)(Av1Parameters&)) {
    Av1Parameters picture = key;
    change(picture);
    return refused(av1_picture(picture, 1, kTile));
  };
  fail_unless(changed([](Av1Parameters& p) { p.profile = 1; }));
  fail_unless(changed([](Av1Parameters& p) { p.bit_depth_idx = 2; }));
  fail_unless(changed([](Av1Parameters& p) { p.order_hint_bits_minus_1 = 8; }));
  fail_unless(changed([](Av1Parameters& p) { p.filter_level[1] = 64; }));
  fail_unless(changed([](Av1Parameters& p) { p.cdef_bits = 4; }));
  fail_unless(changed([](Av1Parameters& p) { p.tile_cols = 5; }));
  fail_unless(changed([](Av1Parameters& p) { p.interp_filter = 5; }));
  fail_unless(changed([](Av1Parameters& p) {
    p.film_grain_info.film_grain_info_fields.bits.apply_grain = 1;
    p.film_grain_info.num_y_points = 2;  // at the same place
  }));
  fail_unless(changed([](Av1Parameters& p) {
    p.film_grain_info.film_grain_info_fields.bits.apply_grain = 1;
    p.film_grain_info.num_cb_points = 1;  // and none for the other
  }));
  fail_unless(changed([](Av1Parameters& p) {
    p.film_grain_info.film_grain_info_fields.bits.apply_grain = 1;
    p.film_grain_info.num_cb_points = p.film_grain_info.num_cr_points = 1;
    p.seq_info_fields.fields.mono_chrome = 1;
  }));
  fail_unless(changed([](Av1Parameters& p) { p.y_dc_delta_q = 64; }));
  fail_unless(changed([](Av1Parameters& p) {
    p.pic_info_fields.bits.use_superres = 1;
    p.superres_scale_denominator = 8;
  }));
  fail_unless(changed([](Av1Parameters& p) { p.wm[6].wmtype = VAAV1TransformationCount; }));
  Picture tileless = av1_picture(key, 1, kTile);
  tileless.buffers.resize(1);
  fail_unless(refused(tileless));
  Av1Parameters four = key;
  four.tile_cols = four.tile_rows = 2;
  Picture three = av1_picture(four, 1, kTile);
  fail_if(refused(three));
  three.buffers.resize(three.buffers.size() - 2);
  fail_unless(refused(three));
  Picture twice = av1_picture(four, 1, kTile);
  twice.buffers[3] = twice.buffers[1];
  fail_unless(refused(twice));
}
GST_END_TEST;

GST_START_TEST(pictures_have_their_size_depth_and_grain) {
  auto decoder = FrameDecoder::create(VAProfileAV1Profile0);
  if (!decoder) DXVA_SKIP("built without dav1d");
  Av1Parameters picture = plain_av1(70, 50, true);
  picture.bit_depth_idx = 1;
  const auto ten = (*decoder)->decode(av1_picture(picture, 1, kTile));
  fail_unless(bool(ten));
  fail_unless_equals_int(ten->bit_depth, 10);
  fail_unless_equals_int(ten->width, 70);
  fail_unless_equals_int(ten->height, 50);
  fail_if((*decoder)->take_shown().has_value());

  // Grain goes into the surface that is shown, and the reference has none.
  picture = plain_av1(70, 50, true);
  const auto plain = (*decoder)->decode(av1_picture(picture, 2, kTile));
  fail_unless(bool(plain));
  const uint64_t without = pixel_sum(*plain);
  picture.film_grain_info.film_grain_info_fields.bits.apply_grain = 1;
  picture.film_grain_info.grain_seed = 1234;
  picture.film_grain_info.num_y_points = 2;
  picture.film_grain_info.point_y_value[1] = 255;
  picture.film_grain_info.point_y_scaling[0] = picture.film_grain_info.point_y_scaling[1] = 90;
  Picture rendered = av1_picture(picture, 3, kTile);
  Av1Parameters apart = picture;
  apart.current_frame = 3;
  apart.current_display_picture = 4;
  rendered.buffers[0] = parameter_buffer(VAPictureParameterBufferType, apart);
  const auto reference = (*decoder)->decode(rendered);
  fail_unless(reference && pixel_sum(*reference) == without);
  const auto shown = (*decoder)->take_shown();
  fail_unless(shown && shown->surface == 4 && pixel_sum(shown->pixels) != without);
  // A client that has one surface for both gets what is shown.
  const auto both = (*decoder)->decode(av1_picture(picture, 5, kTile));
  fail_unless(both && pixel_sum(*both) == pixel_sum(shown->pixels));
  fail_if((*decoder)->take_shown().has_value());
}
GST_END_TEST;

// Whatever a client renders, decoding ends, and a picture that comes out can be read.
GST_START_TEST(random_damage_never_hurts) {
  std::mt19937 random(17);
  auto decoder = FrameDecoder::create(VAProfileAV1Profile0);
  if (!decoder) DXVA_SKIP("built without dav1d");
  unsigned decoded = 0;
  Av1Map map = av1_map(VA_INVALID_SURFACE);
  for (int round = 0; round < 3000; ++round) {
    if (round % 100 == 0) decoder = FrameDecoder::create(VAProfileAV1Profile0);
    const bool key = round % 100 == 0 || random() % 10 == 0;
    Av1Parameters parameters = random_frame(random, key, map);
    parameters.seq_info_fields.fields.mono_chrome = random() % 4 == 0;
    parameters.bit_depth_idx = random() % 4 == 0;
    parameters.frame_width_minus1 %= 200;
    parameters.frame_height_minus1 %= 200;
    if (!av1_is_intra(parameters)) random_motion(random, parameters);
    parameters.film_grain_info.film_grain_info_fields.value = random();
    auto& grain = parameters.film_grain_info;
    grain.num_y_points = static_cast<uint8_t>(random() % 15);
    if (!grain.film_grain_info_fields.bits.chroma_scaling_from_luma && random() % 8)
      grain.num_cb_points = grain.num_cr_points = static_cast<uint8_t>(random() % 11);
    for (uint8_t i = 0; i < 14; ++i) grain.point_y_value[i] = static_cast<uint8_t>(i * 18);
    for (uint8_t i = 0; i < 10; ++i) {
      grain.point_cb_value[i] = static_cast<uint8_t>(i * 25);
      grain.point_cr_value[i] = static_cast<uint8_t>(i * 28);
    }
    for (int8_t& coefficient : grain.ar_coeffs_y) coefficient = static_cast<int8_t>(random());
    for (uint8_t& scaling : grain.point_y_scaling) scaling = static_cast<uint8_t>(random());
    Bytes tile(random() % 300 + 1);
    for (uint8_t& byte : tile) byte = static_cast<uint8_t>(random());
    const VASurfaceID target = random() % 12 + 1;
    Picture picture = av1_picture(parameters, target, tile);
    for (unsigned n = random() % 4; n > 0; --n) {
      ParameterBuffer& buffer = picture.buffers[random() % picture.buffers.size()];
      buffer.bytes[random() % buffer.bytes.size()] ^= static_cast<uint8_t>(1U << random() % 8);
    }
    if (random() % 50 == 0) picture.buffers.erase(picture.buffers.begin() + random() % 3);
    if (key) map = av1_map(target);
    if (random() % 2) map[random() % 8] = target;
    const auto pixels = (*decoder)->decode(picture);
    if (!pixels) continue;
    ++decoded;
    fail_unless(pixel_sum(*pixels) != 1);  // keeps the reads
    if (const auto shown = (*decoder)->take_shown()) fail_unless(pixel_sum(shown->pixels) != 1);
  }
  // dav1d 1.0 takes more of them than 1.5.
  fail_unless(decoded > 150, "only %u decoded", decoded);
}
GST_END_TEST;

static Suite* softva_av1_suite() {
  Suite* suite = suite_create("softva-av1");
  TCase* chain = tcase_create("av1");
  suite_add_tcase(suite, chain);
  tcase_set_timeout(chain, 60);
  tcase_add_test(chain, frame_headers_come_back);
  tcase_add_test(chain, a_sequence_says_what_frames_cannot);
  tcase_add_test(chain, tiles_lie_where_va_says);
  tcase_add_test(chain, a_frame_without_a_slot_is_decoded_again_when_it_needs_one);
  tcase_add_test(chain, what_is_not_there_is_refused);
  tcase_add_test(chain, pictures_have_their_size_depth_and_grain);
  tcase_add_test(chain, random_damage_never_hurts);
  return suite;
}

GST_CHECK_MAIN(softva_av1);
