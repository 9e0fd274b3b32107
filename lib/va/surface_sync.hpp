// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <chrono>
#include <functional>

#include "lib/accel/session.hpp"
#include "lib/base/result.hpp"
#include "lib/va/display.hpp"

namespace dxva::va {

// A device that has not finished a picture after this long has hung: kernels reset a GPU sooner
// (i915 and amdgpu: some seconds at most).
inline constexpr std::chrono::seconds kSyncBound{5};

// Waits until the driver has written the surface. Significant: it has, and says that the stream
// was damaged (VA_STATUS_ERROR_DECODING_ERROR); the concealed picture is there. `stop` is asked
// every tenth of a second, and ends the wait with Busy. Refusals: SyncFailed.
// Bounded by vaSyncSurface2 (libva 2.9); a driver without it is waited for as long as it takes,
// because polling vaQuerySurfaceStatus instead would never end with drivers that start their
// work in vaSyncSurface (libva-v4l2-request).
[[nodiscard]] Result<accel::Severity> wait_until_decoded(
    const Display& display, VASurfaceID surface, const std::function<bool()>& stop = {},
    std::chrono::nanoseconds bound = kSyncBound);

}  // namespace dxva::va
