// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/h264_parameter_sets.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "lib/softva/bits.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

// pic_init_qp_minus26 and pic_init_qs_minus26, H.264 7.4.2.2; the first may be lower by
// QpBdOffset.
constexpr int kLowestQp = -26;
constexpr int kHighestQp = 25;

int qp_bd_offset(const VAPictureParameterBufferH264& picture) {
  return 6 * picture.bit_depth_luma_minus8;
}

// va.h means the syntax element. libavcodec adds QpBdOffset to it (5.1 and 7.1; its code for
// NVDEC takes it off again), GStreamer does not. Where the value allows both, libavcodec is
// believed, which most clients are: else a CABAC stream of 10 bits is noise.
int coded_qp(int told, int qp_offset, int lowest) {
  return told - qp_offset < lowest ? told : told - qp_offset;
}

constexpr uint8_t kSpsHeader = 3 << 5 | 7;  // nal_ref_idc 3
constexpr uint8_t kPpsHeader = 3 << 5 | 8;
constexpr uint8_t kProfileHigh = 100;
constexpr uint8_t kProfileHigh10 = 110;
constexpr uint8_t kLevel62 = 62;  // the highest there is: no size or DPB is above it

// Level 6.2, MaxFS; and 8192 * 4352 pixels may be as wide as sqrt(8 * MaxFS) macroblocks.
constexpr uint32_t kMaxFrameMbs = 139264;
constexpr uint32_t kMaxSideMbs = 1055;

constexpr uint8_t kMaxRefCountMinus1 = 31;  // two fields of 16 frames

// Clause 8.5.6: scaling lists use the frame zig-zag for field pictures too. Raster position of
// each coded entry.
template <size_t Side>
constexpr std::array<uint8_t, Side * Side> make_zigzag() {
  std::array<uint8_t, Side * Side> order{};
  size_t n = 0;
  for (size_t diagonal = 0; diagonal < 2 * Side - 1; ++diagonal) {
    for (size_t i = 0; i <= diagonal; ++i) {
      const size_t x = diagonal % 2 ? diagonal - i : i;
      const size_t y = diagonal - x;
      if (x < Side && y < Side) order[n++] = static_cast<uint8_t>(y * Side + x);
    }
  }
  return order;
}
constexpr auto kZigzag4x4 = make_zigzag<4>();
constexpr auto kZigzag8x8 = make_zigzag<8>();

// 7.3.2.1.1.1 scaling_list(), every entry coded: never a fall-back list, never a "same as
// before".
void write_scaling_list(BitWriter& out, std::span<const uint8_t> raster,
                        std::span<const uint8_t> zigzag) {
  int last = 8;
  for (const uint8_t position : zigzag) {
    const int value = raster[position];
    out.se(static_cast<int8_t>(value - last));  // the decoder adds modulo 256
    last = value;
  }
}

bool holds(std::span<const uint8_t> list, uint8_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool all_are(std::span<const uint8_t> list, uint8_t value) {
  return std::all_of(list.begin(), list.end(), [value](uint8_t v) { return v == value; });
}

}  // namespace

Status check_h264_picture(const VAPictureParameterBufferH264& picture) {
  const auto& seq = picture.seq_fields.bits;
  const auto& pic = picture.pic_fields.bits;
  const uint32_t width = picture.picture_width_in_mbs_minus1 + 1U;
  const uint32_t height = picture.picture_height_in_mbs_minus1 + 1U;
  if (width > kMaxSideMbs || height > kMaxSideMbs || width * height > kMaxFrameMbs)
    return bad_input("picture above H.264 level 6.2");
  if (!seq.frame_mbs_only_flag && height % 2 != 0)
    return bad_input("interlaced stream with an odd number of macroblock rows");
  if (seq.frame_mbs_only_flag && pic.field_pic_flag)
    return bad_input("field picture in a stream of frames");
  if (seq.chroma_format_idc > 1) return bad_input("chroma format other than 4:2:0 and 4:0:0");
  if (picture.bit_depth_luma_minus8 > 2 ||
      picture.bit_depth_chroma_minus8 != picture.bit_depth_luma_minus8)
    return bad_input("bit depth above 10, or not the same for luma and chroma");
  if (picture.num_ref_frames > 16) return bad_input("more than 16 reference frames");
  if (seq.log2_max_frame_num_minus4 > 12 || seq.log2_max_pic_order_cnt_lsb_minus4 > 12 ||
      seq.pic_order_cnt_type > 2)
    return bad_input("frame_num or picture order count out of range");
  if (pic.weighted_bipred_idc > 2) return bad_input("weighted_bipred_idc out of range");
  const int qp_offset = qp_bd_offset(picture);
  if (picture.pic_init_qp_minus26 < kLowestQp - qp_offset ||
      picture.pic_init_qp_minus26 > kHighestQp + qp_offset ||
      picture.pic_init_qs_minus26 < kLowestQp ||
      picture.pic_init_qs_minus26 > kHighestQp + qp_offset)
    return bad_input("initial quantiser out of range");
  if (std::abs(picture.chroma_qp_index_offset) > 12 ||
      std::abs(picture.second_chroma_qp_index_offset) > 12)
    return bad_input("chroma quantiser offset out of range");
  return Done{};
}

std::vector<uint8_t> write_h264_sps(const VAPictureParameterBufferH264& picture) {
  const auto& seq = picture.seq_fields.bits;
  const bool rewritten = seq.pic_order_cnt_type == 1;
  BitWriter out;
  out.put(kSpsHeader, 8);
  // High allows all that Baseline, Main and High do.
  out.put(picture.bit_depth_luma_minus8 > 0 ? kProfileHigh10 : kProfileHigh, 8);
  out.put(0, 8);  // constraint_set flags
  out.put(kLevel62, 8);
  out.ue(0);  // seq_parameter_set_id
  out.ue(seq.chroma_format_idc);
  out.ue(picture.bit_depth_luma_minus8);
  out.ue(picture.bit_depth_chroma_minus8);
  out.flag(false);  // qpprime_y_zero_transform_bypass_flag: High 4:4:4 only
  out.flag(false);  // seq_scaling_matrix_present_flag: the PPS has the lists in use
  out.ue(seq.log2_max_frame_num_minus4);
  out.ue(rewritten ? 0 : seq.pic_order_cnt_type);
  if (rewritten)
    out.ue(kRewrittenPocBits - 4);
  else if (seq.pic_order_cnt_type == 0)
    out.ue(seq.log2_max_pic_order_cnt_lsb_minus4);
  out.ue(picture.num_ref_frames);
  out.flag(seq.gaps_in_frame_num_value_allowed_flag);
  out.ue(picture.picture_width_in_mbs_minus1);
  const uint32_t height = picture.picture_height_in_mbs_minus1 + 1U;
  out.ue((seq.frame_mbs_only_flag ? height : height / 2) - 1);
  out.flag(seq.frame_mbs_only_flag);
  if (!seq.frame_mbs_only_flag) out.flag(seq.mb_adaptive_frame_field_flag);
  out.flag(seq.direct_8x8_inference_flag);
  out.flag(false);  // frame_cropping_flag: the client crops
  // No VUI: matching by allocation needs no output order, and a dump plays in the right one.
  out.flag(false);
  out.trailing();
  return out.bytes();
}

Result<std::vector<uint8_t>> write_h264_pps(const VAPictureParameterBufferH264& picture,
                                            const std::optional<VAIQMatrixBufferH264>& matrix,
                                            const H264Pps& pps) {
  const auto& seq = picture.seq_fields.bits;
  const auto& pic = picture.pic_fields.bits;
  if (pps.ref_count_l0_minus1 > kMaxRefCountMinus1 ||
      pps.ref_count_l1_minus1 > kMaxRefCountMinus1)
    return bad_input("more than 32 entries in a reference list");
  BitWriter out;
  out.put(kPpsHeader, 8);
  out.ue(pps.id);
  out.ue(0);  // seq_parameter_set_id
  out.flag(pic.entropy_coding_mode_flag);
  // A rewritten slice states both fields' counts.
  out.flag(pic.pic_order_present_flag || seq.pic_order_cnt_type == 1);
  out.ue(0);  // num_slice_groups_minus1: VA has no FMO
  out.ue(pps.ref_count_l0_minus1);
  out.ue(pps.ref_count_l1_minus1);
  out.flag(pic.weighted_pred_flag);
  out.put(pic.weighted_bipred_idc, 2);
  const int qp_offset = qp_bd_offset(picture);
  out.se(coded_qp(picture.pic_init_qp_minus26, qp_offset, kLowestQp - qp_offset));
  out.se(coded_qp(picture.pic_init_qs_minus26, qp_offset, kLowestQp));
  out.se(picture.chroma_qp_index_offset);
  out.flag(pic.deblocking_filter_control_present_flag);
  out.flag(pic.constrained_intra_pred_flag);
  out.flag(pic.redundant_pic_cnt_present_flag);

  out.flag(pic.transform_8x8_mode_flag);
  // Clients send flat lists for streams without a matrix; nothing is the shorter word for it.
  // 8x8 lists are coded only where a transform of that size can use them.
  bool flat = true;
  if (matrix) {
    for (const auto& list : matrix->ScalingList4x4) {
      if (holds(list, 0)) return bad_input("zero in a 4x4 scaling list");
      flat = flat && all_are(list, 16);
    }
    for (const auto& list : matrix->ScalingList8x8) {
      if (!pic.transform_8x8_mode_flag) break;
      if (holds(list, 0)) return bad_input("zero in an 8x8 scaling list");
      flat = flat && all_are(list, 16);
    }
  }
  out.flag(!flat);  // pic_scaling_matrix_present_flag
  if (!flat) {
    for (const auto& list : matrix->ScalingList4x4) {
      out.flag(true);
      write_scaling_list(out, list, kZigzag4x4);
    }
    for (const auto& list : matrix->ScalingList8x8) {
      if (!pic.transform_8x8_mode_flag) break;
      out.flag(true);
      write_scaling_list(out, list, kZigzag8x8);
    }
  }
  out.se(picture.second_chroma_qp_index_offset);
  out.trailing();
  return out.bytes();
}

}  // namespace dxva::softva
