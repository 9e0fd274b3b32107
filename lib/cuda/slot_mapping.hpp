// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "lib/cuda/slot.hpp"

namespace dxva::cuda {

// The pixels at `address`, copied down: whole and at once, or plane by plane straight to where
// the reader wants them (Reads::ByCopy), which is the one copy that there is then.
[[nodiscard]] Result<std::unique_ptr<surface::Mapping>> map_slot(std::shared_ptr<Stream> stream,
                                                                 uint64_t address,
                                                                 const SlotLayout& layout,
                                                                 surface::Reads reads);

}  // namespace dxva::cuda
