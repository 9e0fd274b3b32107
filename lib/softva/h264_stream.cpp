// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/h264_stream.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/softva/bits.hpp"

namespace dxva::softva {

namespace {

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
  const auto slices = collect_slices<VASliceParameterBufferH264>(picture);
  if (!slices) return slices.error();

  H264AccessUnit unit;
  unit.field = parameters->pic_fields.bits.field_pic_flag;
  unit.bottom = unit.field && (parameters->CurrPic.flags & VA_PICTURE_H264_BOTTOM_FIELD);

  std::vector<uint8_t> sps = write_h264_sps(*parameters);
  SentPpsById pps;
  if (sps == sps_)
    pps = pps_;
  else
    append_escaped_nal(unit.bytes, sps);

  // A slice that makes no sense is left out: the decoder conceals it like a lost one. A picture
  // needs one that does.
  std::optional<Error> refusal;
  bool has_slice = false;
  for (const auto& slice : *slices) {
    const auto head = append_slice(unit.bytes, pps, *parameters, matrix, slice);
    if (!head) {
      refusal = head.error();
      continue;
    }
    if (!has_slice) unit.starts_anew = !head->idr && !has_reference(*parameters);
    has_slice = true;
  }
  if (!has_slice) return *refusal;

  sps_ = std::move(sps);
  pps_ = std::move(pps);
  return unit;
}

Result<H264SliceHead> H264Stream::append_slice(
    std::vector<uint8_t>& stream, SentPpsById& sent,
    const VAPictureParameterBufferH264& parameters,
    const std::optional<VAIQMatrixBufferH264>& matrix,
    const Slice<VASliceParameterBufferH264>& slice) {
  const auto head = parse_h264_slice_head(slice.data, parameters);
  if (!head) return head.error();

  // VA tells how many references a slice uses, not whether it or the PPS said so. Where the
  // slice leaves it to the PPS, the PPS says the slice's number.
  const auto known = sent.find(head->pps_id);
  SentPps next = known == sent.end() ? SentPps{} : known->second;
  next.pps.id = head->pps_id;
  if (head->predicts && !head->overrides_ref_counts) {
    next.pps.ref_count_l0_minus1 = slice.parameters.num_ref_idx_l0_active_minus1;
    if (head->bipredicts)
      next.pps.ref_count_l1_minus1 = slice.parameters.num_ref_idx_l1_active_minus1;
  }
  auto nal = write_h264_pps(parameters, matrix, next.pps);
  if (!nal) return nal.error();

  std::vector<uint8_t> rewritten;
  if (parameters.seq_fields.bits.pic_order_cnt_type == 1) {
    auto slice_nal = rewrite_h264_order_count(slice.data, *head, parameters,
                                              slice.parameters.slice_data_bit_offset);
    if (!slice_nal) return slice_nal.error();
    rewritten = std::move(*slice_nal);
  }

  if (next.nal != *nal) {
    append_escaped_nal(stream, *nal);
    next.nal = std::move(*nal);
    sent[head->pps_id] = std::move(next);
  }
  if (rewritten.empty())
    append_raw_nal(stream, slice.data);
  else
    append_escaped_nal(stream, rewritten);
  return *head;
}

}  // namespace dxva::softva
