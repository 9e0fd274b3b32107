// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/hevc_reference_set.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "lib/softva/hevc_parameter_sets.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

constexpr int64_t kMaxDelta = 1 << 15;  // delta_poc_s0_minus1 and delta_poc_s1_minus1, plus 1

constexpr uint32_t kUsedBefore = VA_PICTURE_HEVC_RPS_ST_CURR_BEFORE;
constexpr uint32_t kUsedAfter = VA_PICTURE_HEVC_RPS_ST_CURR_AFTER;
constexpr uint32_t kUsedLongTerm = VA_PICTURE_HEVC_RPS_LT_CURR;

int64_t distance(int32_t a, int32_t b) {
  return std::abs(int64_t{a} - int64_t{b});
}

}  // namespace

bool is_reference(const VAPictureHEVC& picture) {
  return !(picture.flags & VA_PICTURE_HEVC_INVALID) && picture.picture_id != VA_INVALID_SURFACE;
}

Result<HevcReferenceSet> HevcReferenceSet::of(const VAPictureParameterBufferHEVC& picture) {
  HevcReferenceSet set;
  set.order_count_ = picture.CurrPic.pic_order_cnt;
  for (size_t i = 0; i < std::size(picture.ReferenceFrames); ++i) {
    const VAPictureHEVC& from = picture.ReferenceFrames[i];
    if (!is_reference(from)) continue;
    const uint32_t role = from.flags & (kUsedBefore | kUsedAfter | kUsedLongTerm);
    const Reference reference{
        .index = static_cast<uint8_t>(i), .order_count = from.pic_order_cnt, .used = role != 0};
    const bool before = from.pic_order_cnt < set.order_count_;
    if (role == kUsedLongTerm ||
        (role == 0 && from.flags & VA_PICTURE_HEVC_LONG_TERM_REFERENCE))
      set.long_term_.push_back(reference);
    else if (role != 0 && (role != (before ? kUsedBefore : kUsedAfter) ||
                           from.pic_order_cnt == set.order_count_))
      return bad_input("reference on the wrong side of the picture");
    else if (from.pic_order_cnt != set.order_count_)
      (before ? set.before_ : set.after_).push_back(reference);
  }

  for (auto* side : {&set.before_, &set.after_}) {
    const auto nearer = [&set](const Reference& a, const Reference& b) {
      return distance(a.order_count, set.order_count_) <
             distance(b.order_count, set.order_count_);
    };
    std::sort(side->begin(), side->end(), nearer);
    int32_t last = set.order_count_;
    for (auto it = side->begin(); it != side->end(); last = it++->order_count) {
      const int64_t delta = distance(it->order_count, last);
      if (delta == 0) return bad_input("two references with one picture order count");
      if (delta <= kMaxDelta) continue;
      if (std::any_of(it, side->end(), [](const Reference& r) { return r.used; }))
        return bad_input("reference too far away in picture order");
      side->erase(it, side->end());  // no later picture could name them either
      break;
    }
  }
  return set;
}

void HevcReferenceSet::write(BitWriter& out, int32_t order_count_base) const {
  out.flag(false);  // short_term_ref_pic_set_sps_flag
  out.ue(static_cast<uint32_t>(before_.size()));
  out.ue(static_cast<uint32_t>(after_.size()));
  for (const auto* side : {&before_, &after_}) {
    int32_t last = order_count_;
    for (const Reference& reference : *side) {
      out.ue(static_cast<uint32_t>(distance(reference.order_count, last) - 1));
      out.flag(reference.used);
      last = reference.order_count;
    }
  }
  // Found by their low bits alone: without delta_poc_msb_cycle_lt, which only ever grows, the
  // list may have any order.
  out.ue(static_cast<uint32_t>(long_term_.size()));  // num_long_term_pics
  for (const Reference& reference : long_term_) {
    out.put(hevc_order_count(reference.order_count, order_count_base), kHevcPocBits);
    out.flag(reference.used);
    out.flag(false);  // delta_poc_msb_present_flag
  }
}

size_t HevcReferenceSet::used_long_term() const {
  return static_cast<size_t>(std::count_if(long_term_.begin(), long_term_.end(),
                                           [](const Reference& r) { return r.used; }));
}

std::vector<uint8_t> HevcReferenceSet::initial_list(int list) const {
  std::vector<uint8_t> indices;
  for (const auto* part :
       {list == 0 ? &before_ : &after_, list == 0 ? &after_ : &before_, &long_term_}) {
    for (const Reference& reference : *part) {
      if (reference.used) indices.push_back(reference.index);
    }
  }
  return indices;
}

}  // namespace dxva::softva
