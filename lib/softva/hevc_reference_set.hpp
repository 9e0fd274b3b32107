// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/softva/bits.hpp"

namespace dxva::softva {

// The pictures that one picture refers to, or that stay for later ones. 8.3.2: each picture
// states all of them, and what it does not state a decoder forgets. VA has the result of what a
// stream's slices and its sequence parameter set said; from that a slice can say it again
// without a sequence parameter set. Reentrant.
class HevcReferenceSet {
 public:
  // None, which is what an IRAP picture that starts anew has.
  HevcReferenceSet() = default;
  // BadInput: what VA's flags say of a picture contradicts its order count, or cannot be coded.
  [[nodiscard]] static Result<HevcReferenceSet> of(const VAPictureParameterBufferHEVC& picture);

  // short_term_ref_pic_set_sps_flag, st_ref_pic_set( 0 ) of an SPS without sets, and the long
  // term pictures, as a slice header has them. `order_count_base` is 0 for the decoder.
  void write(BitWriter& out, int32_t order_count_base) const;

  // NumPicTotalCurr.
  [[nodiscard]] size_t used() const { return initial_list(0).size(); }
  [[nodiscard]] size_t used_long_term() const;
  // Indices into VA's ReferenceFrames: RefPicListTemp0 or 1 of 8.3.4, not repeated.
  [[nodiscard]] std::vector<uint8_t> initial_list(int list) const;

 private:
  struct Reference {
    uint8_t index = 0;  // into ReferenceFrames
    int32_t order_count = 0;
    bool used = false;  // by this picture
  };

  int32_t order_count_ = 0;
  std::vector<Reference> before_;  // short term, nearest first
  std::vector<Reference> after_;   // short term, nearest first
  std::vector<Reference> long_term_;
};

// VA leaves entries empty in several ways.
[[nodiscard]] bool is_reference(const VAPictureHEVC& picture);

}  // namespace dxva::softva
