// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/h264_stream.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/softva/bits.hpp"
#include "lib/softva/h264_parameter_sets.hpp"
#include "lib/softva/h264_slice.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

constexpr uint8_t kMaxRefCountMinus1 = 31;  // two fields of 16 frames

bool has_reference(const VAPictureParameterBufferH264& picture) {
  return std::any_of(std::begin(picture.ReferenceFrames), std::end(picture.ReferenceFrames),
                     [](const VAPictureH264& reference) {
                       return !(reference.flags & VA_PICTURE_H264_INVALID) &&
                              reference.picture_id != VA_INVALID_SURFACE;
                     });
}

}  // namespace

Result<H264AccessUnit> H264Stream::rebuild(const Picture& picture) {
  const auto parameters =
      find_parameters<VAPictureParameterBufferH264>(picture, VAPictureParameterBufferType);
  if (!parameters) return bad_input("no H.264 picture parameters");
  const auto matrix = find_parameters<VAIQMatrixBufferH264>(picture, VAIQMatrixBufferType);
  if (Status sane = check_h264_picture(*parameters); !sane) return sane.error();
  if (parameters->bit_depth_luma_minus8 + 8U > max_bit_depth_)
    return bad_input("bit depth above that of the profile");
  auto slices = collect_slices<VASliceParameterBufferH264>(picture);
  if (!slices) return slices.error();

  H264AccessUnit unit;
  unit.field = parameters->pic_fields.bits.field_pic_flag;
  unit.bottom = unit.field && (parameters->CurrPic.flags & VA_PICTURE_H264_BOTTOM_FIELD);
  std::vector<uint8_t>& out = unit.bytes;

  std::vector<uint8_t> sps = write_h264_sps(*parameters);
  std::map<uint32_t, SentPps> sent;
  if (sps == sps_)
    sent = pps_;
  else
    append_escaped_nal(out, sps);

  for (const auto& slice : *slices) {
    const auto head = parse_h264_slice_head(slice.data, *parameters);
    if (!head) return head.error();
    if (&slice == &slices->front())
      unit.starts_anew = !head->idr && !has_reference(*parameters);

    // VA tells how many references a slice uses, not whether it or the PPS said so. Where the
    // slice leaves it to the PPS, the PPS says the slice's number.
    const auto known = sent.find(head->pps_id);
    SentPps next = known == sent.end() ? SentPps{} : known->second;
    if (head->predicts && !head->overrides_ref_counts) {
      if (slice.parameters.num_ref_idx_l0_active_minus1 > kMaxRefCountMinus1 ||
          slice.parameters.num_ref_idx_l1_active_minus1 > kMaxRefCountMinus1)
        return bad_input("more than 32 entries in a reference list");
      next.ref_count_l0_minus1 = slice.parameters.num_ref_idx_l0_active_minus1;
      if (head->bipredicts)
        next.ref_count_l1_minus1 = slice.parameters.num_ref_idx_l1_active_minus1;
    }
    auto pps = write_h264_pps(*parameters, matrix,
                              {.id = head->pps_id,
                               .ref_count_l0_minus1 = next.ref_count_l0_minus1,
                               .ref_count_l1_minus1 = next.ref_count_l1_minus1});
    if (!pps) return pps.error();
    if (known == sent.end() || known->second.nal != *pps) {
      append_escaped_nal(out, *pps);
      next.nal = std::move(*pps);
      sent[head->pps_id] = std::move(next);
    }

    if (parameters->seq_fields.bits.pic_order_cnt_type == 1) {
      const auto rewritten = rewrite_h264_order_count(slice.data, *head, *parameters,
                                                      slice.parameters.slice_data_bit_offset);
      if (!rewritten) return rewritten.error();
      append_escaped_nal(out, *rewritten);
    } else {
      append_raw_nal(out, slice.data);
    }
  }

  sps_ = std::move(sps);
  pps_ = std::move(sent);
  return unit;
}

}  // namespace dxva::softva
