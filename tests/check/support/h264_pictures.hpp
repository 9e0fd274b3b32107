// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// H.264 pictures as a VA client renders them, made by hand: small enough that a test says all
// of what is in them, real enough that a decoder decodes them (I_PCM and P_Skip macroblocks).

#include <va/va.h>

#include <cstdint>
#include <utility>

#include "lib/softva/bits.hpp"
#include "tests/check/support/va_buffers.hpp"

namespace dxva::test {

using PictureParameters = VAPictureParameterBufferH264;
using SliceParameters = VASliceParameterBufferH264;

// What an encoder for progressive CAVLC streams would say; tests change what they are about.
inline PictureParameters plain_picture(uint16_t width_in_mbs, uint16_t height_in_mbs) {
  PictureParameters picture{};
  picture.CurrPic = {.picture_id = 1};
  for (VAPictureH264& reference : picture.ReferenceFrames)
    reference = {.picture_id = VA_INVALID_SURFACE, .flags = VA_PICTURE_H264_INVALID};
  picture.picture_width_in_mbs_minus1 = static_cast<uint16_t>(width_in_mbs - 1);
  picture.picture_height_in_mbs_minus1 = static_cast<uint16_t>(height_in_mbs - 1);
  picture.num_ref_frames = 1;
  picture.seq_fields.bits.chroma_format_idc = 1;
  picture.seq_fields.bits.frame_mbs_only_flag = 1;
  picture.seq_fields.bits.direct_8x8_inference_flag = 1;
  picture.pic_fields.bits.reference_pic_flag = 1;
  return picture;
}

// A slice header's values that VA's structs do not hold, or that tests want to differ from
// them.
struct SliceSyntax {
  bool idr = true;
  uint32_t type = 2;  // 0 P, 1 B, 2 I
  uint32_t pps_id = 0;
  bool overrides_ref_counts = false;
  uint32_t poc_lsb = 0;
  int32_t delta_bottom = 0;
  int32_t deltas[2] = {0, 0};  // picture order count type 1
};

// 7.3.3 slice_header() with its NAL header.
inline softva::BitWriter slice_header(const PictureParameters& picture,
                                      const SliceParameters& slice, const SliceSyntax& syntax) {
  const auto& seq = picture.seq_fields.bits;
  const auto& pic = picture.pic_fields.bits;
  const bool field = pic.field_pic_flag;
  const bool intra = syntax.type == 2;
  softva::BitWriter out;
  out.put(pic.reference_pic_flag ? 3 : 0, 3);
  out.put(syntax.idr ? 5 : 1, 5);
  out.ue(slice.first_mb_in_slice);
  out.ue(syntax.type);
  out.ue(syntax.pps_id);
  out.put(picture.frame_num, seq.log2_max_frame_num_minus4 + 4);
  if (!seq.frame_mbs_only_flag) {
    out.flag(field);
    if (field) out.flag(picture.CurrPic.flags & VA_PICTURE_H264_BOTTOM_FIELD);
  }
  if (syntax.idr) out.ue(0);  // idr_pic_id
  if (seq.pic_order_cnt_type == 0) {
    out.put(syntax.poc_lsb, seq.log2_max_pic_order_cnt_lsb_minus4 + 4);
    if (pic.pic_order_present_flag && !field) out.se(syntax.delta_bottom);
  } else if (seq.pic_order_cnt_type == 1 && !seq.delta_pic_order_always_zero_flag) {
    out.se(syntax.deltas[0]);
    if (pic.pic_order_present_flag && !field) out.se(syntax.deltas[1]);
  }
  if (pic.redundant_pic_cnt_present_flag) out.ue(0);
  if (syntax.type == 1) out.flag(slice.direct_spatial_mv_pred_flag);
  if (!intra) {
    out.flag(syntax.overrides_ref_counts);
    if (syntax.overrides_ref_counts) {
      out.ue(slice.num_ref_idx_l0_active_minus1);
      if (syntax.type == 1) out.ue(slice.num_ref_idx_l1_active_minus1);
    }
    out.flag(false);  // ref_pic_list_modification_flag_l0
    if (syntax.type == 1) out.flag(false);
  }
  if (pic.reference_pic_flag) {
    out.flag(
        false);  // IDR: no_output_of_prior_pics_flag; else adaptive_ref_pic_marking_mode_flag
    if (syntax.idr) out.flag(false);  // long_term_reference_flag
  }
  if (pic.entropy_coding_mode_flag && !intra) out.ue(slice.cabac_init_idc);
  out.se(slice.slice_qp_delta);
  if (pic.deblocking_filter_control_present_flag) {
    out.ue(slice.disable_deblocking_filter_idc);
    if (slice.disable_deblocking_filter_idc != 1) {
      out.se(slice.slice_alpha_c0_offset_div2);
      out.se(slice.slice_beta_offset_div2);
    }
  }
  return out;
}

inline Bytes nal_of(const softva::BitWriter& payload) {
  Bytes stream;
  softva::append_escaped_nal(stream, payload.bytes());
  return Bytes(stream.begin() + 4, stream.end());
}

// Adds a slice to a picture: its parameters, then its data.
inline void render_slice(softva::Picture& to, SliceParameters slice, Bytes nal,
                         size_t header_bits) {
  slice.slice_data_size = static_cast<uint32_t>(nal.size());
  slice.slice_data_offset = 0;
  slice.slice_data_flag = VA_SLICE_DATA_FLAG_ALL;
  slice.slice_data_bit_offset = static_cast<uint16_t>(header_bits);
  to.buffers.push_back(parameter_buffer(VASliceParameterBufferType, slice));
  to.buffers.push_back(data_buffer(std::move(nal)));
}

inline softva::Picture begin_picture(const PictureParameters& picture, VASurfaceID target) {
  softva::Picture out{.target = target,
                      .width = (picture.picture_width_in_mbs_minus1 + 1U) * 16,
                      .height = (picture.picture_height_in_mbs_minus1 + 1U) * 16};
  out.buffers.push_back(parameter_buffer(VAPictureParameterBufferType, picture));
  return out;
}

// Every macroblock is I_PCM of one luma value, with 128 for both chroma samples.
inline softva::Picture pcm_picture(const PictureParameters& picture, VASurfaceID target,
                                   const SliceSyntax& syntax, uint16_t luma) {
  softva::BitWriter out = slice_header(picture, {}, syntax);
  const size_t header_bits = out.position();
  const unsigned bits = picture.bit_depth_luma_minus8 + 8U;
  const int chroma_samples = picture.seq_fields.bits.chroma_format_idc == 0 ? 0 : 128;
  const unsigned fields = picture.pic_fields.bits.field_pic_flag ? 2 : 1;
  const unsigned mbs = (picture.picture_width_in_mbs_minus1 + 1U) *
                       (picture.picture_height_in_mbs_minus1 + 1U) / fields;
  for (unsigned i = 0; i < mbs; ++i) {
    if (syntax.type != 2) out.ue(0);     // mb_skip_run
    out.ue(syntax.type == 2 ? 25 : 30);  // mb_type I_PCM
    out.align(false);
    for (int sample = 0; sample < 256; ++sample) out.put(luma, bits);
    for (int sample = 0; sample < chroma_samples; ++sample) out.put(128, bits);
  }
  out.trailing();
  softva::Picture rendered = begin_picture(picture, target);
  render_slice(rendered, SliceParameters{}, nal_of(out), header_bits);
  return rendered;
}

// Every macroblock is P_Skip: a copy of the first reference.
inline softva::Picture skip_picture(const PictureParameters& picture, VASurfaceID target,
                                    SliceSyntax syntax) {
  syntax.idr = false;
  syntax.type = 0;
  softva::BitWriter out = slice_header(picture, {}, syntax);
  const size_t header_bits = out.position();
  const unsigned fields = picture.pic_fields.bits.field_pic_flag ? 2 : 1;
  out.ue((picture.picture_width_in_mbs_minus1 + 1U) *
         (picture.picture_height_in_mbs_minus1 + 1U) / fields);  // mb_skip_run
  out.trailing();
  softva::Picture rendered = begin_picture(picture, target);
  render_slice(rendered, SliceParameters{}, nal_of(out), header_bits);
  return rendered;
}

}  // namespace dxva::test
