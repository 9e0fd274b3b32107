// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// H.265 pictures as a VA client renders them, made by hand: a test says all of what is in them.
// The slice headers can be of any stream; the pictures that a decoder decodes are one coding
// tree block, PCM or skipped.

#include <va/va.h>

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lib/softva/bits.hpp"
#include "lib/softva/frame_decoder.hpp"
#include "tests/check/support/va_buffers.hpp"

namespace dxva::test {

using PictureParameters = VAPictureParameterBufferHEVC;
using SliceParameters = VASliceParameterBufferHEVC;

enum HevcNal : uint8_t { kTrailR = 1, kRaslN = 8, kBlaWLp = 16, kIdrNLp = 20, kCra = 21 };
enum HevcSlice : uint32_t { kSliceB = 0, kSliceP = 1, kSliceI = 2 };

// One block size for everything, 16, of which the sides are multiples; PCM as deep as the
// picture. Tests change what they are about.
inline PictureParameters plain_picture(uint16_t width, uint16_t height, uint8_t depth = 8) {
  PictureParameters picture{};
  picture.CurrPic = {.picture_id = 1};
  for (VAPictureHEVC& reference : picture.ReferenceFrames)
    reference = {.picture_id = VA_INVALID_SURFACE, .flags = VA_PICTURE_HEVC_INVALID};
  picture.pic_width_in_luma_samples = width;
  picture.pic_height_in_luma_samples = height;
  picture.pic_fields.bits.chroma_format_idc = 1;
  picture.pic_fields.bits.pcm_enabled_flag = 1;
  picture.pic_fields.bits.pcm_loop_filter_disabled_flag = 1;
  picture.slice_parsing_fields.bits.pps_disable_deblocking_filter_flag = 1;
  picture.sps_max_dec_pic_buffering_minus1 = 4;
  picture.bit_depth_luma_minus8 = picture.bit_depth_chroma_minus8 = depth - 8;
  picture.pcm_sample_bit_depth_luma_minus1 = picture.pcm_sample_bit_depth_chroma_minus1 =
      depth - 1;
  picture.log2_min_luma_coding_block_size_minus3 = 1;
  picture.log2_diff_max_min_transform_block_size = 2;
  picture.log2_min_pcm_luma_coding_block_size_minus3 = 1;
  picture.log2_max_pic_order_cnt_lsb_minus4 = 4;
  return picture;
}

// Adds a picture that the next one refers to, or only keeps (`role` without an RPS flag).
inline void add_reference(PictureParameters& picture, VASurfaceID surface, int32_t order_count,
                          uint32_t role) {
  for (VAPictureHEVC& reference : picture.ReferenceFrames) {
    if (reference.picture_id != VA_INVALID_SURFACE) continue;
    reference = {.picture_id = surface, .pic_order_cnt = order_count, .flags = role};
    return;
  }
}

// A slice header's values that VA's structs do not hold, or that tests want to differ from
// them.
struct SliceSyntax {
  uint8_t nal_type = kIdrNLp;
  uint8_t temporal_id = 0;
  bool first = true;
  uint32_t type = kSliceI;
  uint32_t pps_id = 0;
  bool pic_output = true;
  // The short term set: one of the SPS's, …
  bool set_of_sps = false;
  uint32_t set_index = 0;
  // … or one of the slice, predicted from another (these bits) or not (these distances, all of
  // them before the picture).
  std::vector<bool> predicted_set;
  std::vector<uint32_t> own_set;
  // Long term pictures: the SPS's by index, others by their low bits, the first ones with the
  // high bits too.
  std::vector<uint32_t> long_term_sps;
  std::vector<uint32_t> long_term;
  bool overrides_ref_counts = false;
  uint32_t used_references = 0;  // NumPicTotalCurr
  std::vector<uint32_t> list_entries[2];
  std::vector<uint32_t> entry_points;
  Bytes extension;
};

inline unsigned choice_bits(uint32_t choices) {
  return choices > 1 ? static_cast<unsigned>(std::bit_width(choices - 1)) : 0;
}

inline uint32_t ctb_count(const PictureParameters& picture) {
  const unsigned log2_ctb = picture.log2_min_luma_coding_block_size_minus3 + 3U +
                            picture.log2_diff_max_min_luma_coding_block_size;
  const uint32_t more = (1U << log2_ctb) - 1;
  return ((picture.pic_width_in_luma_samples + more) >> log2_ctb) *
         ((picture.pic_height_in_luma_samples + more) >> log2_ctb);
}

inline void write_references(softva::BitWriter& out, const PictureParameters& picture,
                             const SliceSyntax& syntax) {
  out.flag(syntax.set_of_sps);
  if (syntax.set_of_sps) {
    out.put(syntax.set_index, choice_bits(picture.num_short_term_ref_pic_sets));
  } else if (!syntax.predicted_set.empty()) {
    for (const bool bit : syntax.predicted_set) out.flag(bit);
  } else {
    if (picture.num_short_term_ref_pic_sets > 0) out.flag(false);
    out.ue(static_cast<uint32_t>(syntax.own_set.size()));
    out.ue(0);
    for (const uint32_t distance : syntax.own_set) {
      out.ue(distance - 1);
      out.flag(true);
    }
  }
  if (!picture.slice_parsing_fields.bits.long_term_ref_pics_present_flag) return;
  if (picture.num_long_term_ref_pic_sps > 0)
    out.ue(static_cast<uint32_t>(syntax.long_term_sps.size()));
  out.ue(static_cast<uint32_t>(syntax.long_term.size()));
  for (const uint32_t index : syntax.long_term_sps) {
    out.put(index, choice_bits(picture.num_long_term_ref_pic_sps));
    out.flag(false);  // delta_poc_msb_present_flag
  }
  for (const uint32_t lsb : syntax.long_term) {
    out.put(lsb, picture.log2_max_pic_order_cnt_lsb_minus4 + 4);
    out.flag(true);  // used_by_curr_pic_lt_flag
    out.flag(true);
    out.ue(0);  // delta_poc_msb_cycle_lt
  }
}

inline void write_prediction(softva::BitWriter& out, const PictureParameters& picture,
                             const SliceParameters& slice, const SliceSyntax& syntax) {
  const auto& pic = picture.pic_fields.bits;
  const auto& parsing = picture.slice_parsing_fields.bits;
  const auto& fields = slice.LongSliceFlags.fields;
  const bool both = syntax.type == kSliceB;
  out.flag(syntax.overrides_ref_counts);
  if (syntax.overrides_ref_counts) {
    out.ue(slice.num_ref_idx_l0_active_minus1);
    if (both) out.ue(slice.num_ref_idx_l1_active_minus1);
  }
  if (parsing.lists_modification_present_flag && syntax.used_references > 1) {
    for (int list = 0; list < (both ? 2 : 1); ++list) {
      out.flag(!syntax.list_entries[list].empty());
      for (const uint32_t entry : syntax.list_entries[list])
        out.put(entry, choice_bits(syntax.used_references));
    }
  }
  if (both) out.flag(fields.mvd_l1_zero_flag);
  if (parsing.cabac_init_present_flag) out.flag(fields.cabac_init_flag);
  if (fields.slice_temporal_mvp_enabled_flag) {
    if (both) out.flag(fields.collocated_from_l0_flag);
    const bool from_l0 = !both || fields.collocated_from_l0_flag;
    if ((from_l0 ? slice.num_ref_idx_l0_active_minus1 : slice.num_ref_idx_l1_active_minus1) > 0)
      out.ue(slice.collocated_ref_idx);
  }
  if (both ? pic.weighted_bipred_flag : pic.weighted_pred_flag) {
    out.ue(slice.luma_log2_weight_denom);
    out.se(slice.delta_chroma_log2_weight_denom);
    for (int list = 0; list < (both ? 2 : 1); ++list) {
      const int count = 1 + (list == 0 ? slice.num_ref_idx_l0_active_minus1
                                       : slice.num_ref_idx_l1_active_minus1);
      // Luma of the first entry has a weight, the rest the default.
      for (int i = 0; i < count; ++i) out.flag(i == 0);
      for (int i = 0; i < count; ++i) out.flag(false);
      out.se(list == 0 ? slice.delta_luma_weight_l0[0] : slice.delta_luma_weight_l1[0]);
      out.se(list == 0 ? slice.luma_offset_l0[0] : slice.luma_offset_l1[0]);
    }
  }
  out.ue(slice.five_minus_max_num_merge_cand);
}

inline void write_independent_part(softva::BitWriter& out, const PictureParameters& picture,
                                   const SliceParameters& slice, const SliceSyntax& syntax) {
  const auto& parsing = picture.slice_parsing_fields.bits;
  const auto& fields = slice.LongSliceFlags.fields;
  out.put(0, picture.num_extra_slice_header_bits);
  out.ue(syntax.type);
  if (parsing.output_flag_present_flag) out.flag(syntax.pic_output);
  if (syntax.nal_type != kIdrNLp) {
    out.put(static_cast<uint32_t>(picture.CurrPic.pic_order_cnt),
            picture.log2_max_pic_order_cnt_lsb_minus4 + 4);
    write_references(out, picture, syntax);
    if (parsing.sps_temporal_mvp_enabled_flag) out.flag(fields.slice_temporal_mvp_enabled_flag);
  }
  if (parsing.sample_adaptive_offset_enabled_flag) {
    out.flag(fields.slice_sao_luma_flag);
    out.flag(fields.slice_sao_chroma_flag);
  }
  if (syntax.type != kSliceI) write_prediction(out, picture, slice, syntax);
  out.se(slice.slice_qp_delta);
  if (parsing.pps_slice_chroma_qp_offsets_present_flag) {
    out.se(slice.slice_cb_qp_offset);
    out.se(slice.slice_cr_qp_offset);
  }
  bool disabled = parsing.pps_disable_deblocking_filter_flag;
  if (parsing.deblocking_filter_override_enabled_flag) {
    out.flag(true);
    disabled = fields.slice_deblocking_filter_disabled_flag;
    out.flag(disabled);
    if (!disabled) {
      out.se(slice.slice_beta_offset_div2);
      out.se(slice.slice_tc_offset_div2);
    }
  }
  const bool sao = parsing.sample_adaptive_offset_enabled_flag &&
                   (fields.slice_sao_luma_flag || fields.slice_sao_chroma_flag);
  if (picture.pic_fields.bits.pps_loop_filter_across_slices_enabled_flag && (sao || !disabled))
    out.flag(fields.slice_loop_filter_across_slices_enabled_flag);
}

// 7.3.6.1 slice_segment_header() with its NAL header, up to and with byte_alignment().
inline softva::BitWriter slice_header(const PictureParameters& picture,
                                      const SliceParameters& slice, const SliceSyntax& syntax) {
  const auto& pic = picture.pic_fields.bits;
  softva::BitWriter out;
  out.put(static_cast<uint32_t>(syntax.nal_type) << 1, 8);
  out.put(syntax.temporal_id + 1U, 8);
  out.flag(syntax.first);
  if (syntax.nal_type >= 16 && syntax.nal_type <= 23) out.flag(true);
  out.ue(syntax.pps_id);
  bool dependent = false;
  if (!syntax.first) {
    dependent = slice.LongSliceFlags.fields.dependent_slice_segment_flag;
    if (picture.slice_parsing_fields.bits.dependent_slice_segments_enabled_flag)
      out.flag(dependent);
    out.put(slice.slice_segment_address, choice_bits(ctb_count(picture)));
  }
  if (!dependent) write_independent_part(out, picture, slice, syntax);
  if (pic.tiles_enabled_flag || pic.entropy_coding_sync_enabled_flag) {
    out.ue(static_cast<uint32_t>(syntax.entry_points.size()));
    if (!syntax.entry_points.empty()) {
      out.ue(31);  // offset_len_minus1
      for (const uint32_t offset : syntax.entry_points) out.put(offset - 1, 32);
    }
  }
  if (picture.slice_parsing_fields.bits.slice_segment_header_extension_present_flag) {
    out.ue(static_cast<uint32_t>(syntax.extension.size()));
    for (const uint8_t byte : syntax.extension) out.put(byte, 8);
  }
  out.trailing();
  return out;
}

// Adds a slice to a picture: its parameters, then its data. `payload` begins with the header,
// which is `header_bytes` long.
inline void render_slice(softva::Picture& to, SliceParameters slice,
                         std::span<const uint8_t> payload, size_t header_bytes) {
  slice.slice_data_byte_offset = static_cast<uint32_t>(header_bytes);
  render_whole_slice(to, slice, softva::escape(payload));
}

inline softva::Picture begin_picture(const PictureParameters& picture, VASurfaceID target) {
  softva::Picture out{.target = target,
                      .width = picture.pic_width_in_luma_samples,
                      .height = picture.pic_height_in_luma_samples};
  out.buffers.push_back(parameter_buffer(VAPictureParameterBufferType, picture));
  return out;
}

// The arithmetic coder (9.3.4.6 ff.) for the two bins that one block takes: the first is coded
// in the state of equal probabilities, the second ends the coding.
inline void write_two_bins(softva::BitWriter& out, bool first_is_mps) {
  constexpr uint32_t kEqual = 240;  // rangeTabLps[ 0 ][ 3 ]
  uint32_t low = 0;
  uint32_t range = 510;
  unsigned waiting = 0;
  bool at_start = true;
  const auto put = [&](bool bit) {
    if (!at_start) out.flag(bit);
    at_start = false;
    for (; waiting > 0; --waiting) out.flag(!bit);
  };
  const auto renormalise = [&] {
    for (; range < 256; range <<= 1, low <<= 1) {
      if (low >= 512) {
        put(true);
        low -= 512;
      } else if (low >= 256) {
        low -= 256;
        ++waiting;
      } else {
        put(false);
      }
    }
  };
  range -= kEqual;
  if (!first_is_mps) {
    low += range;
    range = kEqual;
  }
  renormalise();
  range -= 2;
  low += range;
  range = 2;
  renormalise();
  put(((low >> 9) & 1) != 0);
  out.put(((low >> 7) & 3) | 1, 2);
}

// A picture of one block (16x16) of PCM samples: luma of one value, chroma in the middle.
inline softva::Picture pcm_picture(const PictureParameters& picture, VASurfaceID target,
                                   const SliceSyntax& syntax, uint16_t luma) {
  const unsigned depth = picture.bit_depth_luma_minus8 + 8U;
  softva::BitWriter out = slice_header(picture, {}, syntax);
  const size_t header_bytes = out.position() / 8;
  // At QP 26 part_mode begins with equal probabilities. 2Nx2N, then pcm_flag.
  write_two_bins(out, true);
  out.align(false);
  for (int i = 0; i < 256; ++i) out.put(luma, depth);
  for (int i = 0; i < 128; ++i) out.put(1U << (depth - 1), depth);
  // end_of_slice_segment_flag in a coder that starts anew.
  out.put(0xfe, 8);
  out.put(0x80, 8);
  softva::Picture rendered = begin_picture(picture, target);
  render_slice(rendered, SliceParameters{}, out.bytes(), header_bytes);
  return rendered;
}

// A picture of one skipped block: a copy of the first reference.
inline softva::Picture skip_picture(const PictureParameters& picture, VASurfaceID target,
                                    SliceSyntax syntax) {
  // At QP 43 cu_skip_flag begins with equal probabilities. One merge candidate: the first.
  const SliceParameters slice{.slice_qp_delta = 17, .five_minus_max_num_merge_cand = 4};
  syntax.type = kSliceP;
  softva::BitWriter out = slice_header(picture, slice, syntax);
  const size_t header_bytes = out.position() / 8;
  write_two_bins(out, true);
  out.align(false);
  softva::Picture rendered = begin_picture(picture, target);
  render_slice(rendered, slice, out.bytes(), header_bytes);
  return rendered;
}

}  // namespace dxva::test
