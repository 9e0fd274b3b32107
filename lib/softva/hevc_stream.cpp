// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/hevc_stream.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "lib/softva/bits.hpp"
#include "lib/softva/hevc_parameter_sets.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

// A client may send the extensions' fields with any stream; only where they say nothing can it
// be decoded without them.
bool uses_extensions(const Picture& picture) {
  const auto extended = find_parameters<VAPictureParameterBufferHEVCExtension>(
      picture, VAPictureParameterBufferType);
  return extended && (extended->rext.range_extension_pic_fields.value != 0 ||
                      extended->scc.screen_content_pic_fields.value != 0);
}

// All slices of a picture have one type; some may be damaged.
Result<HevcNalHeader> type_of(std::span<const Slice<VASliceParameterBufferHEVC>> slices) {
  Result<HevcNalHeader> header = parse_hevc_nal_header(slices.front().data);
  for (size_t i = 1; i < slices.size() && !header; ++i)
    header = parse_hevc_nal_header(slices[i].data);
  return header;
}

}  // namespace

bool HevcStream::knows_a_reference(const VAPictureParameterBufferHEVC& picture) const {
  return std::any_of(std::begin(picture.ReferenceFrames), std::end(picture.ReferenceFrames),
                     [this](const VAPictureHEVC& reference) {
                       const auto held = held_.find(reference.picture_id);
                       return is_reference(reference) && held != held_.end() &&
                              held->second == reference.pic_order_cnt;
                     });
}

Result<HevcAccessUnit> HevcStream::rebuild(const Picture& picture) {
  const auto parameters =
      find_parameters<VAPictureParameterBufferHEVC>(picture, VAPictureParameterBufferType);
  if (!parameters) return bad_input("no H.265 picture parameters");
  if (uses_extensions(picture)) return bad_input("tools of the range or screen extensions");
  const auto matrix = find_parameters<VAIQMatrixBufferHEVC>(picture, VAIQMatrixBufferType);
  if (Status sane = check_hevc_picture(*parameters); !sane) return sane.error();
  if (parameters->bit_depth_luma_minus8 + 8U > max_bit_depth_)
    return bad_input("bit depth above that of the profile");
  const auto slices = collect_slices<VASliceParameterBufferHEVC>(picture);
  if (!slices) return slices.error();
  const auto type = type_of(*slices);
  if (!type) return type.error();

  HevcAccessUnit unit;
  const bool continues =
      !type->is_idr() && !type->is_broken_link() && knows_a_reference(*parameters);
  // A CRA picture of whose references none is here has only pictures after it that may not be
  // decoded or do not use them.
  const bool begins = type->is_irap() && !continues;
  HevcSliceContext context{
      .picture = *parameters,
      .references = {},
      .order_count_base = continues ? order_count_base_ : parameters->CurrPic.pic_order_cnt};
  if (begins) {
    context.type = HevcNalType::Idr;
  } else {
    auto references = HevcReferenceSet::of(*parameters);
    if (!references) return references.error();
    context.references = std::move(*references);
    unit.starts_in_the_middle = !continues;
  }

  std::vector<uint8_t> sps = write_hevc_sps(*parameters);
  auto pps =
      write_hevc_pps(*parameters, matrix,
                     parameters->slice_parsing_fields.bits.lists_modification_present_flag ||
                         needs_lists_modification(context));
  if (!pps) return pps.error();
  const bool new_sps = sps != sps_;
  if (new_sps) {
    append_escaped_nal(unit.bytes, write_hevc_vps(*parameters));
    append_escaped_nal(unit.bytes, sps);
  }
  // A new SPS makes decoders forget the PPSs.
  if (new_sps || *pps != pps_) append_escaped_nal(unit.bytes, *pps);

  // A slice that makes no sense is left out: the decoder conceals it like a lost one. A picture
  // needs one that does.
  std::optional<Error> refusal;
  bool has_slice = false;
  for (const auto& slice : *slices) {
    const auto nal = rewrite_hevc_slice(slice.data, slice.parameters, context);
    if (!nal) {
      refusal = nal.error();
      continue;
    }
    append_raw_nal(unit.bytes, *nal);
    has_slice = true;
  }
  if (!has_slice) return *refusal;

  sps_ = std::move(sps);
  pps_ = std::move(*pps);
  order_count_base_ = context.order_count_base;
  // What the picture does not state is gone, and what it states and was not here has been made
  // up by the decoder.
  held_.clear();
  if (!begins) {
    for (const VAPictureHEVC& reference : parameters->ReferenceFrames) {
      if (is_reference(reference)) held_[reference.picture_id] = reference.pic_order_cnt;
    }
  }
  held_[picture.target] = parameters->CurrPic.pic_order_cnt;
  return unit;
}

}  // namespace dxva::softva
