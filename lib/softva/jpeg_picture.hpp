// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/softva/frame_decoder.hpp"

namespace dxva::softva {

// A baseline JPEG file (ITU-T T.81) of what a VA client renders: markers from VA's tables, and
// the entropy-coded data of each scan as it came, up to the first marker that does not belong
// into it. BadInput: the buffers contradict themselves, or a table that is needed was not
// rendered. Thread rules: reentrant.
[[nodiscard]] Result<std::vector<uint8_t>> rebuild_jpeg(const Picture& picture);

}  // namespace dxva::softva
