// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/av1_headers.hpp"

#include <algorithm>
#include <cstring>

#include "lib/softva/av1_bits.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

constexpr unsigned kNoPrimary = 7;         // PRIMARY_REF_NONE
constexpr unsigned kSwitchableFilter = 4;  // of interp_filter
constexpr uint32_t kMinSuperres = 9, kMaxSuperres = 16, kNoSuperres = 8;
// Of segmentation's features: Segmentation_Feature_Bits and _Signed.
constexpr std::array<unsigned, 8> kFeatureBits = {8, 6, 6, 6, 6, 3, 0, 0};
constexpr std::array<int, 8> kFeatureMax = {255, 63, 63, 63, 63, 7, 0, 0};
constexpr unsigned kSignedFeatures = 5;

// Of warped motion: how many bits a parameter has behind the point, and as it is coded.
constexpr unsigned kWarpBits = 16;
constexpr int32_t kWarpOne = 1 << kWarpBits;

unsigned planes(const Av1Parameters& picture) {
  return picture.seq_info_fields.fields.mono_chrome ? 1 : 3;
}

unsigned order_hint_bits(const Av1Parameters& picture) {
  return picture.seq_info_fields.fields.enable_order_hint ? picture.order_hint_bits_minus_1 + 1U
                                                          : 0;
}

unsigned primary_of(const Av1Parameters& picture) {
  return av1_is_intra(picture) || av1_is_resilient(picture) ? kNoPrimary
                                                            : picture.primary_ref_frame;
}

// get_relative_dist()
int distance(unsigned bits, int a, int b) {
  const int difference = a - b;
  const int sign = 1 << (bits - 1);
  return (difference & (sign - 1)) - (difference & sign);
}

// skipModeAllowed of skip_mode_params(): a reference before, and one after or another before.
bool skip_mode_is_coded(const Av1Parameters& picture, const Av1References& references) {
  const unsigned bits = order_hint_bits(picture);
  if (av1_is_intra(picture) || !picture.mode_control_fields.bits.reference_select || bits == 0)
    return false;
  int forward = -1, backward = -1;  // order hints
  for (const uint8_t slot : references.slots) {
    const int hint = references.order_hints[slot];
    const int ahead = distance(bits, hint, picture.order_hint);
    if (ahead < 0 && (forward < 0 || distance(bits, hint, forward) > 0)) forward = hint;
    if (ahead > 0 && (backward < 0 || distance(bits, hint, backward) < 0)) backward = hint;
  }
  if (forward < 0) return false;
  if (backward >= 0) return true;
  return std::any_of(references.slots.begin(), references.slots.end(), [&](uint8_t slot) {
    return distance(bits, references.order_hints[slot], forward) < 0;
  });
}

bool forces_integer_motion(const Av1Parameters& picture) {
  const auto& info = picture.pic_info_fields.bits;
  return info.allow_screen_content_tools && info.force_integer_mv;
}

bool has_high_precision(const Av1Parameters& picture) {
  return picture.pic_info_fields.bits.allow_high_precision_mv &&
         !forces_integer_motion(picture);
}

bool may_copy_blocks(const Av1Parameters& picture) {
  return av1_is_intra(picture) && picture.pic_info_fields.bits.allow_screen_content_tools &&
         av1_coded_width(picture) == picture.frame_width_minus1 + 1U;
}

bool copies_blocks(const Av1Parameters& picture) {
  return may_copy_blocks(picture) && picture.pic_info_fields.bits.allow_intrabc;
}

bool feature(const Av1Parameters& picture, unsigned segment, unsigned index) {
  return picture.seg_info.segment_info_fields.bits.enabled &&
         (picture.seg_info.feature_mask[segment] >> index & 1);
}

bool is_coded_lossless(const Av1Parameters& picture) {
  if (picture.y_dc_delta_q || picture.u_dc_delta_q || picture.u_ac_delta_q ||
      picture.v_dc_delta_q || picture.v_ac_delta_q)
    return false;
  for (unsigned segment = 0; segment < 8; ++segment) {
    int index = picture.base_qindex;
    if (feature(picture, segment, 0))
      index = std::clamp(index + picture.seg_info.feature_data[segment][0], 0, 255);
    if (index != 0) return false;
  }
  return true;
}

// 5.9.30: as many points as there is room for, each to the right of the last (dav1d divides by
// their distance), and none for colours that are not there or take luma's (it reads null).
bool grain_is_sane(const Av1Parameters& picture) {
  const VAFilmGrainStructAV1& grain = picture.film_grain_info;
  const auto& bits = grain.film_grain_info_fields.bits;
  if (!bits.apply_grain) return true;
  const bool mono = picture.seq_info_fields.fields.mono_chrome;
  if (mono && bits.chroma_scaling_from_luma) return false;
  if ((mono || bits.chroma_scaling_from_luma) && (grain.num_cb_points || grain.num_cr_points))
    return false;
  const auto rises = [](const uint8_t* values, unsigned count, unsigned room) {
    if (count > room) return false;
    for (unsigned i = 1; i < count; ++i)
      if (values[i] <= values[i - 1]) return false;
    return true;
  };
  return rises(grain.point_y_value, grain.num_y_points, 14) &&
         rises(grain.point_cb_value, grain.num_cb_points, 10) &&
         rises(grain.point_cr_value, grain.num_cr_points, 10) &&
         (grain.num_cb_points == 0) == (grain.num_cr_points == 0);
}

void put_frame_size(BitWriter& out, const Av1Parameters& picture) {
  out.put(picture.frame_width_minus1, 16);
  out.put(picture.frame_height_minus1, 16);
  const bool superres = picture.pic_info_fields.bits.use_superres;
  out.flag(superres);
  if (superres) out.put(picture.superres_scale_denominator - kMinSuperres, 3);
  out.flag(false);  // render_and_frame_size_different
}

void put_delta_q(BitWriter& out, int8_t delta) {
  out.flag(delta != 0);
  if (delta != 0) put_signed(out, delta, 7);
}

void put_quantisation(BitWriter& out, const Av1Parameters& picture) {
  out.put(picture.base_qindex, 8);
  put_delta_q(out, picture.y_dc_delta_q);
  if (planes(picture) > 1) {
    out.flag(true);  // diff_uv_delta
    put_delta_q(out, picture.u_dc_delta_q);
    put_delta_q(out, picture.u_ac_delta_q);
    put_delta_q(out, picture.v_dc_delta_q);
    put_delta_q(out, picture.v_ac_delta_q);
  }
  const auto& matrix = picture.qmatrix_fields.bits;
  out.flag(matrix.using_qmatrix);
  if (!matrix.using_qmatrix) return;
  out.put(matrix.qm_y, 4);
  out.put(matrix.qm_u, 4);
  if (planes(picture) > 1) out.put(matrix.qm_v, 4);
}

void put_segmentation(BitWriter& out, const Av1Parameters& picture) {
  const auto& fields = picture.seg_info.segment_info_fields.bits;
  out.flag(fields.enabled);
  if (!fields.enabled) return;
  if (primary_of(picture) != kNoPrimary) {
    out.flag(fields.update_map);
    if (fields.update_map) out.flag(fields.temporal_update);
    out.flag(true);  // update_data
  }
  for (unsigned segment = 0; segment < 8; ++segment) {
    for (unsigned index = 0; index < kFeatureBits.size(); ++index) {
      const bool enabled = feature(picture, segment, index);
      out.flag(enabled);
      if (!enabled) continue;
      const int value = picture.seg_info.feature_data[segment][index];
      if (index < kSignedFeatures)
        put_signed(out, std::clamp(value, -kFeatureMax[index], kFeatureMax[index]),
                   kFeatureBits[index] + 1);
      else
        out.put(static_cast<uint32_t>(std::clamp(value, 0, kFeatureMax[index])),
                kFeatureBits[index]);
    }
  }
}

void put_block_deltas(BitWriter& out, const Av1Parameters& picture) {
  const auto& mode = picture.mode_control_fields.bits;
  if (picture.base_qindex == 0) return;
  out.flag(mode.delta_q_present_flag);
  if (!mode.delta_q_present_flag) return;
  out.put(mode.log2_delta_q_res, 2);
  if (copies_blocks(picture)) return;
  out.flag(mode.delta_lf_present_flag);
  if (!mode.delta_lf_present_flag) return;
  out.put(mode.log2_delta_lf_res, 2);
  out.flag(mode.delta_lf_multi);
}

void put_loop_filter(BitWriter& out, const Av1Parameters& picture) {
  out.put(picture.filter_level[0], 6);
  out.put(picture.filter_level[1], 6);
  if (planes(picture) > 1 && (picture.filter_level[0] || picture.filter_level[1])) {
    out.put(picture.filter_level_u, 6);
    out.put(picture.filter_level_v, 6);
  }
  const auto& fields = picture.loop_filter_info_fields.bits;
  out.put(fields.sharpness_level, 3);
  out.flag(fields.mode_ref_delta_enabled);
  if (!fields.mode_ref_delta_enabled) return;
  // Without an update they are the primary reference's. A client may not know them then:
  // FFmpeg 5.1 says zeros after a key frame that was hidden and is shown (dav1d issue 48's
  // stream).
  out.flag(fields.mode_ref_delta_update);
  if (!fields.mode_ref_delta_update) return;
  const auto put_delta = [&out](int8_t delta) {
    out.flag(true);
    put_signed(out, delta, 7);
  };
  for (const int8_t delta : picture.ref_deltas) put_delta(delta);
  for (const int8_t delta : picture.mode_deltas) put_delta(delta);
}

void put_cdef(BitWriter& out, const Av1Parameters& picture) {
  out.put(picture.cdef_damping_minus_3, 2);
  out.put(picture.cdef_bits, 2);
  for (unsigned i = 0; i < 1u << picture.cdef_bits; ++i) {
    out.put(picture.cdef_y_strengths[i], 6);
    if (planes(picture) > 1) out.put(picture.cdef_uv_strengths[i], 6);
  }
}

void put_restoration(BitWriter& out, const Av1Parameters& picture) {
  // VA has FrameRestorationType, the stream lr_type: Remap_Lr_Type backwards.
  constexpr std::array<uint8_t, 4> kCoded = {0, 2, 3, 1};
  const auto& fields = picture.loop_restoration_fields.bits;
  const unsigned y = fields.yframe_restoration_type;
  const unsigned cb = planes(picture) > 1 ? fields.cbframe_restoration_type : 0;
  const unsigned cr = planes(picture) > 1 ? fields.crframe_restoration_type : 0;
  out.put(kCoded[y], 2);
  if (planes(picture) > 1) {
    out.put(kCoded[cb], 2);
    out.put(kCoded[cr], 2);
  }
  if (!y && !cb && !cr) return;
  const unsigned shift = fields.lr_unit_shift;  // of 64 pixels
  if (picture.seq_info_fields.fields.use_128x128_superblock) {
    out.flag(shift > 1);
  } else {
    out.flag(shift > 0);
    if (shift > 0) out.flag(shift > 1);
  }
  if (cb || cr) out.flag(fields.lr_uv_shift);
}

struct MotionCode {
  unsigned absolute_bits, precision_bits;
};

MotionCode motion_code(unsigned index, VAAV1TransformationType type, bool high_precision) {
  if (index >= 2) return {12, 15};
  if (type == VAAV1TransformationTranslation)
    return {9u - (high_precision ? 0 : 1), 3u - (high_precision ? 0 : 1)};
  return {12, 6};
}

// gm_params[index] as read_global_param() takes it, and the other way round.
int32_t coded_motion(int32_t parameter, unsigned index, unsigned precision_bits) {
  const int32_t round = index % 3 == 2 ? kWarpOne : 0;
  return (parameter - round) >> (kWarpBits - precision_bits);
}

Status put_motion(BitWriter& out, const Av1Parameters& picture, const Av1Motion& before) {
  const bool high_precision = has_high_precision(picture);
  for (unsigned i = 0; i < kAv1References; ++i) {
    const auto& warp = picture.wm[i];
    const auto type = warp.wmtype;
    out.flag(type != VAAV1TransformationIdentity);
    if (type == VAAV1TransformationIdentity) continue;
    out.flag(type == VAAV1TransformationRotzoom);
    if (type != VAAV1TransformationRotzoom) out.flag(type == VAAV1TransformationTranslation);
    const auto put = [&](unsigned index) {
      const MotionCode code = motion_code(index, type, high_precision);
      const int32_t limit = 1 << code.absolute_bits;
      const int32_t value = coded_motion(warp.wmmat[index], index, code.precision_bits);
      const int32_t reference = coded_motion(before[i][index], index, code.precision_bits);
      if (value < -limit || value > limit) return false;
      put_signed_subexp(out, value, -limit, limit + 1, std::clamp(reference, -limit, limit));
      return true;
    };
    bool fits = true;
    if (type != VAAV1TransformationTranslation) {
      fits = put(2) && put(3);
      if (fits && type == VAAV1TransformationAffine) fits = put(4) && put(5);
    }
    fits = fits && put(0) && put(1);
    if (!fits) return bad_input("AV1 global motion out of range");
  }
  return Done{};
}

void put_references(BitWriter& out, const Av1Parameters& picture,
                    const Av1References& references) {
  const auto& info = picture.pic_info_fields.bits;
  if (order_hint_bits(picture) > 0) out.flag(false);  // frame_refs_short_signaling
  for (const uint8_t slot : references.slots) out.put(slot, 3);
  if (!av1_is_resilient(picture)) out.put(0, kAv1References);  // found_ref of each: none
  put_frame_size(out, picture);
  if (!forces_integer_motion(picture)) out.flag(info.allow_high_precision_mv);
  const bool switchable = picture.interp_filter == kSwitchableFilter;
  out.flag(switchable);
  if (!switchable) out.put(picture.interp_filter, 2);
  out.flag(info.is_motion_mode_switchable);
  // Without order hints the sequence has none of it.
  if (!av1_is_resilient(picture) && order_hint_bits(picture) > 0)
    out.flag(info.use_ref_frame_mvs);
}

}  // namespace

Av1Motion default_av1_motion() {
  Av1Motion motion{};
  for (auto& parameters : motion) parameters[2] = parameters[5] = kWarpOne;
  return motion;
}

Av1Motion av1_motion(const Av1Parameters& picture) {
  Av1Motion motion = default_av1_motion();
  if (av1_is_intra(picture)) return motion;
  const bool high_precision = has_high_precision(picture);
  for (unsigned i = 0; i < kAv1References; ++i) {
    const auto& warp = picture.wm[i];
    const auto take = [&](unsigned index) {
      const MotionCode code = motion_code(index, warp.wmtype, high_precision);
      // As a decoder of our header has it, should VA's have had more bits.
      motion[i][index] = coded_motion(warp.wmmat[index], index, code.precision_bits) *
                             (1 << (kWarpBits - code.precision_bits)) +
                         (index % 3 == 2 ? kWarpOne : 0);
    };
    if (warp.wmtype == VAAV1TransformationIdentity) continue;
    take(0);
    take(1);
    if (warp.wmtype == VAAV1TransformationTranslation) continue;
    take(2);
    take(3);
    if (warp.wmtype == VAAV1TransformationAffine) {
      take(4);
      take(5);
    } else {
      motion[i][4] = -motion[i][3];
      motion[i][5] = motion[i][2];
    }
  }
  return motion;
}

uint32_t av1_coded_width(const Av1Parameters& picture) {
  const uint32_t width = picture.frame_width_minus1 + 1U;
  if (!picture.pic_info_fields.bits.use_superres) return width;
  const uint32_t denominator = picture.superres_scale_denominator;
  return (width * kNoSuperres + denominator / 2) / denominator;
}

Status check_av1_picture(const Av1Parameters& picture) {
  if (picture.profile != 0) return bad_input("AV1 profile other than Main");
  if (picture.bit_depth_idx > 1) return bad_input("AV1 bit depth above 10");
  const auto& sequence = picture.seq_info_fields.fields;
  if (sequence.enable_order_hint && picture.order_hint_bits_minus_1 > 7)
    return bad_input("AV1 order hint out of range");
  const auto& info = picture.pic_info_fields.bits;
  if (info.large_scale_tile) return bad_input("AV1 large scale tiles");
  if (info.use_superres && (picture.superres_scale_denominator < kMinSuperres ||
                            picture.superres_scale_denominator > kMaxSuperres))
    return bad_input("AV1 super resolution out of range");
  if (picture.interp_filter > kSwitchableFilter) return bad_input("AV1 filter out of range");
  if (!av1_is_intra(picture) && picture.primary_ref_frame > kNoPrimary)
    return bad_input("AV1 primary reference out of range");
  for (const uint8_t level : {picture.filter_level[0], picture.filter_level[1],
                              picture.filter_level_u, picture.filter_level_v})
    if (level > 63) return bad_input("AV1 loop filter out of range");
  const auto fits = [](int value) { return value >= -64 && value <= 63; };
  for (const int delta : {picture.y_dc_delta_q, picture.u_dc_delta_q, picture.u_ac_delta_q,
                          picture.v_dc_delta_q, picture.v_ac_delta_q})
    if (!fits(delta)) return bad_input("AV1 quantiser delta out of range");
  if (!std::all_of(std::begin(picture.ref_deltas), std::end(picture.ref_deltas), fits) ||
      !std::all_of(std::begin(picture.mode_deltas), std::end(picture.mode_deltas), fits))
    return bad_input("AV1 loop filter delta out of range");
  if (picture.cdef_damping_minus_3 > 3 || picture.cdef_bits > 3)
    return bad_input("AV1 CDEF out of range");
  for (unsigned i = 0; i < 8; ++i)
    if (picture.cdef_y_strengths[i] > 63 || picture.cdef_uv_strengths[i] > 63)
      return bad_input("AV1 CDEF strength out of range");
  const auto& restoration = picture.loop_restoration_fields.bits;
  if (restoration.lr_unit_shift > 2) return bad_input("AV1 restoration unit out of range");
  if (picture.mode_control_fields.bits.tx_mode > 2)
    return bad_input("AV1 tx_mode out of range");
  if (!grain_is_sane(picture)) return bad_input("AV1 film grain out of range");
  for (const auto& warp : picture.wm) {
    // Not read as what it may not be.
    uint32_t type;
    static_assert(sizeof type == sizeof warp.wmtype);
    std::memcpy(&type, &warp.wmtype, sizeof type);
    if (type >= VAAV1TransformationCount) return bad_input("AV1 global motion out of range");
  }
  return Done{};
}

std::vector<uint8_t> write_av1_sequence(const Av1Parameters& picture) {
  const auto& fields = picture.seq_info_fields.fields;
  BitWriter out;
  out.put(picture.profile, 3);
  out.flag(false);      // still_picture
  out.flag(false);      // reduced_still_picture_header
  out.flag(false);      // timing_info_present_flag
  out.flag(false);      // initial_display_delay_present_flag
  out.put(0, 5);        // one operating point
  out.put(0, 12);       // which has everything
  out.put(31, 5);       // seq_level_idx: no limits
  out.flag(false);      // seq_tier
  out.put(15, 4);       // bits of the width
  out.put(15, 4);       // and of the height
  out.put(0xffff, 16);  // the largest; frames say their own
  out.put(0xffff, 16);
  out.flag(false);  // frame_id_numbers_present_flag
  out.flag(fields.use_128x128_superblock);
  out.flag(fields.enable_filter_intra);
  out.flag(fields.enable_intra_edge_filter);
  out.flag(fields.enable_interintra_compound);
  out.flag(fields.enable_masked_compound);
  out.flag(true);  // enable_warped_motion: frames say
  out.flag(fields.enable_dual_filter);
  out.flag(fields.enable_order_hint);
  if (fields.enable_order_hint) {
    out.flag(fields.enable_jnt_comp);
    out.flag(true);  // enable_ref_frame_mvs: frames say
  }
  out.flag(true);  // seq_choose_screen_content_tools
  out.flag(true);  // seq_choose_integer_mv
  if (fields.enable_order_hint) out.put(picture.order_hint_bits_minus_1, 3);
  out.flag(true);  // enable_superres: frames say
  out.flag(fields.enable_cdef);
  out.flag(true);  // enable_restoration: frames say
  out.flag(picture.bit_depth_idx == 1);
  out.flag(fields.mono_chrome);
  out.flag(false);  // color_description_present_flag
  out.flag(fields.color_range);
  if (!fields.mono_chrome) {
    out.put(0, 2);   // chroma_sample_position
    out.flag(true);  // separate_uv_delta_q: frames say
  }
  out.flag(false);  // film_grain_params_present: grain is put on afterwards
  out.trailing();
  return out.bytes();
}

Result<Av1FrameHeader> write_av1_frame(const Av1Parameters& picture,
                                       const Av1References& references) {
  const auto& info = picture.pic_info_fields.bits;
  const Av1FrameType type = av1_frame_type(picture);
  const bool intra = av1_is_intra(picture), resilient = av1_is_resilient(picture);
  const bool inter = !intra;
  Av1FrameHeader header;
  BitWriter& out = header.bits;
  out.flag(false);  // show_existing_frame
  out.put(static_cast<uint32_t>(type == Av1FrameType::Switch ? Av1FrameType::Inter : type), 2);
  // Not shown, or a key frame would take all slots.
  out.flag(false);  // show_frame
  out.flag(false);  // showable_frame
  out.flag(resilient);
  out.flag(info.disable_cdf_update);
  out.flag(info.allow_screen_content_tools);
  if (info.allow_screen_content_tools) out.flag(info.force_integer_mv);
  out.flag(true);  // frame_size_override_flag
  out.put(picture.order_hint, order_hint_bits(picture));
  if (inter && !resilient) out.put(picture.primary_ref_frame, 3);
  header.refresh_bit = out.position();
  out.put(0, 8);  // refresh_frame_flags
  if (resilient && order_hint_bits(picture) > 0)
    for (const uint8_t hint : references.order_hints) out.put(hint, order_hint_bits(picture));
  if (intra) {
    put_frame_size(out, picture);
    if (may_copy_blocks(picture)) out.flag(info.allow_intrabc);
  } else {
    put_references(out, picture, references);
  }
  if (!info.disable_cdf_update) out.flag(info.disable_frame_end_update_cdf);
  if (Status tiles = write_av1_tiles(out, picture); !tiles) return tiles.error();
  put_quantisation(out, picture);
  put_segmentation(out, picture);
  put_block_deltas(out, picture);
  const bool lossless = is_coded_lossless(picture);
  const bool intrabc = copies_blocks(picture);
  if (!lossless && !intrabc) {
    put_loop_filter(out, picture);
    if (picture.seq_info_fields.fields.enable_cdef) put_cdef(out, picture);
  }
  const bool all_lossless =
      lossless && av1_coded_width(picture) == picture.frame_width_minus1 + 1U;
  if (!all_lossless && !intrabc) put_restoration(out, picture);
  if (!lossless) out.flag(picture.mode_control_fields.bits.tx_mode == 2);
  if (inter) out.flag(picture.mode_control_fields.bits.reference_select);
  if (skip_mode_is_coded(picture, references))
    out.flag(picture.mode_control_fields.bits.skip_mode_present);
  if (inter && !resilient) out.flag(info.allow_warped_motion);
  out.flag(picture.mode_control_fields.bits.reduced_tx_set_used);
  if (inter)
    if (Status motion = put_motion(out, picture, references.primary_motion); !motion)
      return motion.error();
  return header;
}

}  // namespace dxva::softva
