// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/softva/frame_decoder.hpp"
#include "lib/softva/h264_parameter_sets.hpp"
#include "lib/softva/h264_slice.hpp"
#include "lib/softva/picture_buffers.hpp"

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
    H264Pps pps;
    std::vector<uint8_t> nal;
  };
  using SentPpsById = std::map<uint32_t, SentPps>;

  // Appends a slice, and before it the PPS that it needs, unless `sent` has it. Appends nothing
  // when it fails.
  static Result<H264SliceHead> append_slice(std::vector<uint8_t>& stream, SentPpsById& sent,
                                            const VAPictureParameterBufferH264& parameters,
                                            const std::optional<VAIQMatrixBufferH264>& matrix,
                                            const Slice<VASliceParameterBufferH264>& slice);

  unsigned max_bit_depth_;
  std::vector<uint8_t> sps_;
  SentPpsById pps_;  // a new SPS makes decoders forget them
};

}  // namespace dxva::softva
