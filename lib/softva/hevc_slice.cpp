// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/hevc_slice.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "lib/softva/bits.hpp"
#include "lib/softva/hevc_parameter_sets.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

constexpr size_t kNalHeaderBytes = 2;
constexpr uint32_t kMaxPictures = 16;  // in a decoder at once
constexpr uint32_t kMaxLongTerm = 33;
constexpr uint32_t kMaxListEntries = 15;

enum SliceType : uint32_t { kB, kP, kI };

// Bits of a syntax element that chooses one of `choices`: Ceil( Log2( choices ) ).
unsigned choice_bits(uint32_t choices) {
  return choices > 1 ? static_cast<unsigned>(std::bit_width(choices - 1)) : 0;
}

// Reads the old header and writes the new one.
struct Rewriter {
  BitReader in;
  BitWriter out;

  void copy(size_t bits) { out.copy(in, bits); }
  bool copy_flag() {
    const bool value = in.flag();
    out.flag(value);
    return value;
  }
  uint32_t copy_ue() {
    const uint32_t value = in.ue();
    out.ue(value);
    return value;
  }
};

// 7.3.7 of the set after the SPS's last. It may be coded as a difference to one of those, which
// only a client can take apart: VA says how long it is. That number is not needed otherwise,
// and clients get it wrong.
bool skip_short_term_set(BitReader& in, const VAPictureParameterBufferHEVC& picture) {
  if (picture.num_short_term_ref_pic_sets > 0 && in.flag()) {
    if (picture.st_rps_bits == 0) return false;
    in.skip(picture.st_rps_bits - 1);
    return true;
  }
  const uint32_t before = in.ue();
  const uint32_t after = in.ue();
  if (before > kMaxPictures || after > kMaxPictures) return false;
  for (uint32_t i = 0; i < before + after; ++i) {
    in.ue();     // delta_poc_s0_minus1, delta_poc_s1_minus1
    in.skip(1);  // used_by_curr_pic_s0_flag, used_by_curr_pic_s1_flag
  }
  return true;
}

bool skip_long_term_pictures(BitReader& in, const VAPictureParameterBufferHEVC& picture) {
  const uint32_t from_sps = picture.num_long_term_ref_pic_sps > 0 ? in.ue() : 0;
  const uint32_t own = in.ue();
  if (from_sps > kMaxLongTerm || own > kMaxLongTerm) return false;
  for (uint32_t i = 0; i < from_sps + own; ++i) {
    if (i < from_sps)
      in.skip(choice_bits(picture.num_long_term_ref_pic_sps));  // lt_idx_sps
    else
      in.skip(picture.log2_max_pic_order_cnt_lsb_minus4 + 4 +
              1);            // and used_by_curr_pic_lt_flag
    if (in.flag()) in.ue();  // delta_poc_msb_cycle_lt
  }
  return true;
}

// All of it that says what the references are.
bool skip_references(BitReader& in, const VAPictureParameterBufferHEVC& picture) {
  in.skip(picture.log2_max_pic_order_cnt_lsb_minus4 + 4);  // slice_pic_order_cnt_lsb
  if (!in.flag()) {                                        // short_term_ref_pic_set_sps_flag
    if (!skip_short_term_set(in, picture)) return false;
  } else {
    in.skip(choice_bits(picture.num_short_term_ref_pic_sets));
  }
  return !picture.slice_parsing_fields.bits.long_term_ref_pics_present_flag ||
         skip_long_term_pictures(in, picture);
}

// list_entry_lX for every entry of a list as VA has it; nothing when VA does not know it all.
std::optional<std::vector<uint8_t>> list_entries(const HevcReferenceSet& references, int list,
                                                 std::span<const uint8_t> wanted) {
  const std::vector<uint8_t> initial = references.initial_list(list);
  std::vector<uint8_t> entries;
  for (const uint8_t index : wanted) {
    const auto at = std::find(initial.begin(), initial.end(), index);
    if (at == initial.end()) return std::nullopt;
    entries.push_back(static_cast<uint8_t>(at - initial.begin()));
  }
  return entries;
}

// 7.3.6.2 ref_pic_lists_modification(): VA's lists where it has them, the stream's words where
// not.
void rewrite_lists(Rewriter& rewriter, const HevcSliceContext& context,
                   const VASliceParameterBufferHEVC& slice, uint32_t type,
                   std::span<const uint32_t> counts) {
  const unsigned entry_bits = choice_bits(static_cast<uint32_t>(context.references.used()));
  const bool said = context.picture.slice_parsing_fields.bits.lists_modification_present_flag;
  for (int list = 0; list < (type == kB ? 2 : 1); ++list) {
    std::vector<uint32_t> original;
    if (said && rewriter.in.flag()) {
      for (uint32_t i = 0; i < counts[list]; ++i)
        original.push_back(rewriter.in.read(entry_bits));
    }
    const auto entries =
        list_entries(context.references, list, std::span(slice.RefPicList[list], counts[list]));
    if (entries) original.assign(entries->begin(), entries->end());
    rewriter.out.flag(!original.empty());
    for (const uint32_t entry : original) rewriter.out.put(entry, entry_bits);
  }
}

// num_ref_idx_active_override_flag and what it is for.
Status rewrite_reference_lists(Rewriter& rewriter, const HevcSliceContext& context,
                               const VASliceParameterBufferHEVC& slice, uint32_t type) {
  const VAPictureParameterBufferHEVC& picture = context.picture;
  if (type == kI || !needs_lists_modification(context)) return Done{};
  uint32_t counts[] = {picture.num_ref_idx_l0_default_active_minus1 + 1U,
                       picture.num_ref_idx_l1_default_active_minus1 + 1U};
  if (rewriter.copy_flag()) {
    counts[0] = rewriter.copy_ue() + 1;
    if (type == kB) counts[1] = rewriter.copy_ue() + 1;
  }
  if (counts[0] > kMaxListEntries || counts[1] > kMaxListEntries)
    return bad_input("more than 15 entries in a reference list");
  rewrite_lists(rewriter, context, slice, type, counts);
  return Done{};
}

// 7.3.6.1 slice_segment_header() as far as it changes.
Status rewrite_header(Rewriter& rewriter, const HevcNalHeader& nal,
                      const VASliceParameterBufferHEVC& slice,
                      const HevcSliceContext& context) {
  const VAPictureParameterBufferHEVC& picture = context.picture;
  const auto& fields = picture.slice_parsing_fields.bits;
  BitReader& in = rewriter.in;
  BitWriter& out = rewriter.out;

  in.skip(kNalHeaderBytes * 8);
  out.put(static_cast<uint32_t>(context.type) << 1, 8);
  out.put(1, 8);  // nuh_layer_id 0, nuh_temporal_id_plus1
  const bool first = rewriter.copy_flag();
  if (nal.is_irap()) in.skip(1);  // no_output_of_prior_pics_flag
  if (context.type == HevcNalType::Idr) out.flag(false);
  in.ue();  // slice_pic_parameter_set_id: ours is the only one
  out.ue(0);
  if (!first) {
    const bool dependent = fields.dependent_slice_segments_enabled_flag && rewriter.copy_flag();
    const HevcCtbs ctbs = hevc_ctbs(picture);
    rewriter.copy(choice_bits(ctbs.columns * ctbs.rows));  // slice_segment_address
    if (dependent) return Done{};
  }

  rewriter.copy(picture.num_extra_slice_header_bits);
  const uint32_t type = rewriter.copy_ue();
  if (type > kI) return bad_input("slice_type out of range");
  if (fields.output_flag_present_flag) rewriter.copy(1);
  if (!nal.is_idr() && !skip_references(in, picture))
    return bad_input("reference picture set of the slice cannot be read");
  // slice_temporal_mvp_enabled_flag
  const bool temporal = !nal.is_idr() && fields.sps_temporal_mvp_enabled_flag && in.flag();
  if (context.type != HevcNalType::Idr) {
    out.put(hevc_order_count(picture.CurrPic.pic_order_cnt, context.order_count_base),
            kHevcPocBits);
    context.references.write(out, context.order_count_base);
    if (fields.sps_temporal_mvp_enabled_flag) out.flag(temporal);
  }
  if (fields.sample_adaptive_offset_enabled_flag) rewriter.copy(2);
  return rewrite_reference_lists(rewriter, context, slice, type);
}

// The number of bytes in which `nal` holds its first `count` bytes of payload.
size_t escaped_length(std::span<const uint8_t> nal, size_t count) {
  size_t length = 0;
  unsigned zeros = 0;
  for (size_t payload = 0; payload < count && length < nal.size(); ++length) {
    const bool prevention = zeros >= 2 && nal[length] == 3;
    zeros = nal[length] == 0 ? zeros + 1 : 0;
    if (!prevention) ++payload;
  }
  return length;
}

}  // namespace

Result<HevcNalHeader> parse_hevc_nal_header(std::span<const uint8_t> nal) {
  if (nal.size() <= kNalHeaderBytes) return bad_input("NAL unit ends within its header");
  BitReader in(nal);
  const bool forbidden = in.flag();
  const HevcNalHeader header{.type = static_cast<uint8_t>(in.read(6))};
  const bool base_layer = in.read(6) == 0;
  const bool is_slice = header.type <= 9 || (header.type >= 16 && header.type <= 21);
  if (forbidden || !base_layer || !is_slice)
    return bad_input("NAL unit is not a slice of the base layer");
  return header;
}

bool needs_lists_modification(const HevcSliceContext& context) {
  return context.references.used_long_term() > 1;
}

Result<std::vector<uint8_t>> rewrite_hevc_slice(std::span<const uint8_t> nal,
                                                const VASliceParameterBufferHEVC& slice,
                                                const HevcSliceContext& context) {
  const auto header = parse_hevc_nal_header(nal);
  if (!header) return header.error();
  const std::vector<uint8_t> bytes = unescape(nal, slice.slice_data_byte_offset);
  if (slice.slice_data_byte_offset <= kNalHeaderBytes ||
      bytes.size() < slice.slice_data_byte_offset)
    return bad_input("slice_data_byte_offset outside the slice");
  // byte_alignment() ends the header: a one, then zeros.
  if (bytes.back() == 0)
    return bad_input("slice header does not end at slice_data_byte_offset");
  const size_t header_bits =
      bytes.size() * 8 - static_cast<size_t>(std::countr_zero(bytes.back())) - 1;

  Rewriter rewriter{.in = BitReader(bytes), .out = {}};
  if (Status done = rewrite_header(rewriter, *header, slice, context); !done)
    return done.error();
  if (!rewriter.in.ok() || rewriter.in.position() > header_bits)
    return bad_input("slice ends within its header");
  rewriter.copy(header_bits - rewriter.in.position());
  rewriter.out.trailing();

  // The header's last byte is not zero, so what follows needs no other emulation prevention
  // than it has.
  std::vector<uint8_t> rewritten = escape(rewriter.out.bytes());
  const auto data = nal.subspan(escaped_length(nal, bytes.size()));
  rewritten.insert(rewritten.end(), data.begin(), data.end());
  return rewritten;
}

}  // namespace dxva::softva
