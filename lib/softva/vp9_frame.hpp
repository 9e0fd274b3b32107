// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/softva/frame_decoder.hpp"

namespace dxva::softva {

// A VP9 frame as its stream had it: VA clients render all of it, headers included, so any
// decoder keeps its eight reference slots and its probabilities by itself. BadInput: the
// buffers contradict themselves, or the bytes are no frame with pixels of its own (a
// superframe, a frame that shows an earlier one again). Thread rules: reentrant.
[[nodiscard]] Result<std::vector<uint8_t>> rebuild_vp9_frame(const Picture& picture);

// The surfaces that a VP9 frame may refer to; none for a key frame.
[[nodiscard]] std::vector<VASurfaceID> vp9_references(const Picture& picture);

}  // namespace dxva::softva
