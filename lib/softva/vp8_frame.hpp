// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/softva/frame_decoder.hpp"

namespace dxva::softva {

// A VP8 frame as its stream had it (RFC 6386, clause 9.1), from what a VA client renders: all
// of it but the frame tag, 3 bytes and 7 more for a key frame. The other headers are in the
// first partition, so any decoder keeps its references and probabilities by itself. Every frame
// is said to be shown. BadInput: the buffers contradict themselves. Thread rules: reentrant.
[[nodiscard]] Result<std::vector<uint8_t>> rebuild_vp8_frame(const Picture& picture);

}  // namespace dxva::softva
