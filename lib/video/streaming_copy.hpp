// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "lib/video/frame_view.hpp"

namespace dxva::video {

using PlaneCopy = void (*)(const PlaneView& from, uint8_t* to, uint32_t to_pitch_bytes);

// copy_plane() with loads that read write-combined memory in whole lines (SSE4.1's MOVNTDQA,
// Intel's "Copying Accelerated Video Decode Frame Buffers"): plain loads of such memory, which
// is what drivers map surfaces as, are tens of times slower than of other memory. On other
// memory it is as right, and no faster. Null: this CPU has none.
[[nodiscard]] PlaneCopy streaming_copy();

// Each of them that this CPU has, for tests; null else.
[[nodiscard]] PlaneCopy streaming_copy_sse41();
[[nodiscard]] PlaneCopy streaming_copy_avx2();

}  // namespace dxva::video
