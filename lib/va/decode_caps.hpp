// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <vector>

#include "lib/base/result.hpp"
#include "lib/va/display.hpp"

namespace dxva::va {

// What a driver says it decodes. Both talk to the driver each time; thread-safe as libva is.
[[nodiscard]] Result<std::vector<VAProfile>> decode_profiles(VADisplay display);
[[nodiscard]] Result<DecodeCaps> query_decode_caps(VADisplay display, VAProfile profile);

}  // namespace dxva::va
