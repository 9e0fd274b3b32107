// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/h264_slice.hpp"

#include "lib/softva/bits.hpp"
#include "lib/softva/h264_parameter_sets.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

// All fields up to num_ref_idx_active_override_flag: eleven of at most 65 bits.
constexpr size_t kHeadBytes = 96;

enum NalType : uint8_t { kNonIdr = 1, kIdr = 5 };
enum SliceType : uint8_t { kP, kB, kI, kSp, kSi };

}  // namespace

Result<H264SliceHead> parse_h264_slice_head(std::span<const uint8_t> nal,
                                            const VAPictureParameterBufferH264& picture) {
  const auto& seq = picture.seq_fields.bits;
  const auto& pic = picture.pic_fields.bits;
  const std::vector<uint8_t> bytes = unescape(nal, kHeadBytes);
  BitReader in(bytes);
  H264SliceHead head;

  if (in.flag()) return bad_input("forbidden_zero_bit is set");
  in.skip(2);  // nal_ref_idc
  const uint32_t nal_type = in.read(5);
  if (nal_type != kNonIdr && nal_type != kIdr)
    return bad_input("NAL unit is not a whole slice of a base view");
  head.idr = nal_type == kIdr;

  in.ue();  // first_mb_in_slice
  const uint32_t coded_type = in.ue();
  if (coded_type > 9) return bad_input("slice_type out of range");
  const uint32_t type = coded_type % 5;
  head.bipredicts = type == kB;
  head.predicts = type == kP || type == kSp || type == kB;
  head.pps_id = in.ue();
  if (head.pps_id > 255) return bad_input("pic_parameter_set_id out of range");
  in.skip(seq.log2_max_frame_num_minus4 + 4);  // frame_num
  bool field = false;
  if (!seq.frame_mbs_only_flag) {
    field = in.flag();
    if (field) in.skip(1);  // bottom_field_flag
  }
  if (head.idr) in.ue();  // idr_pic_id

  head.order_count_begin = in.position();
  if (seq.pic_order_cnt_type == 0) {
    in.skip(seq.log2_max_pic_order_cnt_lsb_minus4 + 4);
    if (pic.pic_order_present_flag && !field) in.se();
  } else if (seq.pic_order_cnt_type == 1 && !seq.delta_pic_order_always_zero_flag) {
    in.se();
    if (pic.pic_order_present_flag && !field) in.se();
  }
  head.order_count_end = in.position();

  if (pic.redundant_pic_cnt_present_flag) in.ue();
  if (head.bipredicts) in.skip(1);  // direct_spatial_mv_pred_flag
  if (head.predicts) head.overrides_ref_counts = in.flag();
  if (!in.ok()) return bad_input("slice ends within its header");
  return head;
}

Result<std::vector<uint8_t>> rewrite_h264_order_count(
    std::span<const uint8_t> nal, const H264SliceHead& head,
    const VAPictureParameterBufferH264& picture, size_t header_bits) {
  const std::vector<uint8_t> bytes = unescape(nal);
  if (header_bits < head.order_count_end || header_bits > bytes.size() * 8)
    return bad_input("slice_data_bit_offset outside the slice");

  // 8.2.1: a field codes its own count, a frame its top field's and the distance to the
  // bottom's.
  const VAPictureH264& current = picture.CurrPic;
  const bool field = picture.pic_fields.bits.field_pic_flag;
  const bool bottom = field && (current.flags & VA_PICTURE_H264_BOTTOM_FIELD);
  const int32_t own = bottom ? current.BottomFieldOrderCnt : current.TopFieldOrderCnt;
  const int64_t distance =
      int64_t{current.BottomFieldOrderCnt} - int64_t{current.TopFieldOrderCnt};
  if (!field && (distance < INT16_MIN || distance > INT16_MAX))
    return bad_input("fields too far apart in picture order");

  BitReader in(bytes);
  BitWriter out;
  out.copy(in, head.order_count_begin);
  out.put(static_cast<uint32_t>(own), kRewrittenPocBits);
  if (!field) out.se(static_cast<int32_t>(distance));
  in.skip(head.order_count_end - head.order_count_begin);
  out.copy(in, header_bits - head.order_count_end);
  if (picture.pic_fields.bits.entropy_coding_mode_flag) {
    in.skip((8 - in.position() % 8) % 8);
    out.align(true);  // cabac_alignment_one_bit
  }
  out.copy(in, in.left());
  out.align(false);
  return out.bytes();
}

}  // namespace dxva::softva
