// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>
#include <map>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/softva/frame_decoder.hpp"

namespace dxva::softva {

// One picture of an H.264 stream as any decoder reads it.
struct H264AccessUnit {
  std::vector<uint8_t> bytes;  // Annex B
  bool field = false;          // one field of the target
  bool bottom = false;         // that one
  // Nothing before this picture can matter to it: a decoder that still holds other pictures was
  // seeked.
  bool starts_anew = false;
};

// Turns what a VA client renders back into the stream that it came from: slices go through
// untouched behind parameter sets of our own. Remembers which sets the decoder has; a picture
// that is refused changes nothing. Thread rules: reentrant.
class H264Stream {
 public:
  explicit H264Stream(unsigned max_bit_depth) : max_bit_depth_(max_bit_depth) {}
  // BadInput: the buffers contradict themselves, or hold what H.264 cannot say.
  [[nodiscard]] Result<H264AccessUnit> rebuild(const Picture& picture);

 private:
  struct SentPps {
    uint8_t ref_count_l0_minus1 = 0;
    uint8_t ref_count_l1_minus1 = 0;
    std::vector<uint8_t> nal;
  };

  unsigned max_bit_depth_;
  std::vector<uint8_t> sps_;
  std::map<uint32_t, SentPps> pps_;  // by id; a new SPS makes decoders forget them
};

}  // namespace dxva::softva
