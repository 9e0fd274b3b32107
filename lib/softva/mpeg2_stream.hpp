// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/softva/frame_decoder.hpp"
#include "lib/softva/mpeg2_headers.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

// One picture of an MPEG-2 video stream as any decoder reads it.
struct Mpeg2Picture {
  std::vector<uint8_t> bytes;
  bool field = false;   // one field of the target
  bool bottom = false;  // that one
  bool second = false;  // and the other one came before
};

// Turns what a VA client renders back into the stream that it came from: slices go through
// behind headers of our own. Remembers what the decoder was told; a picture that is refused
// changes nothing. Thread rules: reentrant.
class Mpeg2Stream {
 public:
  // BadInput: the buffers contradict themselves, or hold what MPEG-2 cannot say.
  [[nodiscard]] Result<Mpeg2Picture> rebuild(const Picture& picture);

 private:
  using Slices = std::vector<Slice<VASliceParameterBufferMPEG2>>;

  [[nodiscard]] bool is_progressive(const VAPictureParameterBufferMPEG2& parameters,
                                    const Slices& slices) const;

  std::vector<uint8_t> sequence_;  // that the decoder has
  bool progressive_ = false;
  Mpeg2Matrices sent_ = default_mpeg2_matrices();
  Mpeg2Matrices wanted_ = default_mpeg2_matrices();
  bool awaits_second_field_ = false;
};

}  // namespace dxva::softva
