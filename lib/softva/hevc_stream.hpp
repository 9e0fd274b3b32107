// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>
#include <map>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/softva/frame_decoder.hpp"
#include "lib/softva/hevc_slice.hpp"

namespace dxva::softva {

// One picture of an H.265 stream as any decoder reads it.
struct HevcAccessUnit {
  std::vector<uint8_t> bytes;  // Annex B
  // The decoder holds none of the pictures that this one refers to, and cannot tell from the
  // bytes: it was seeked to where nothing starts.
  bool starts_in_the_middle = false;
};

// Turns what a VA client renders back into a stream. It is not the one that it came from: slice
// headers are said anew, see hevc_slice.hpp. Remembers what the decoder has; a picture that is
// refused changes nothing. Thread rules: reentrant.
class HevcStream {
 public:
  explicit HevcStream(unsigned max_bit_depth) : max_bit_depth_(max_bit_depth) {}
  // BadInput: the buffers contradict themselves, or hold what H.265 cannot say.
  [[nodiscard]] Result<HevcAccessUnit> rebuild(const Picture& picture);

 private:
  using OrderCounts = std::map<VASurfaceID, int32_t>;

  [[nodiscard]] bool knows_a_reference(const VAPictureParameterBufferHEVC& picture) const;

  unsigned max_bit_depth_;
  std::vector<uint8_t> sps_;
  std::vector<uint8_t> pps_;
  // The pictures in the decoder: it knows them by order count, the client by surface, and only
  // both together tell one from what was there before a seek.
  OrderCounts held_;
  int32_t order_count_base_ = 0;
};

}  // namespace dxva::softva
