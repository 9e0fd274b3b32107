// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/surface_sync.hpp"

#include <algorithm>

namespace dxva::va {

namespace {

// A flush must not wait for a device that hangs.
constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(100);

Result<accel::Severity> answer(VAStatus status, const char* call) {
  if (status == VA_STATUS_SUCCESS) return accel::Severity::None;
  if (status == VA_STATUS_ERROR_DECODING_ERROR) return accel::Severity::Significant;
  Error error = va_error(status, call);
  // Drivers say "busy" when they give up; here it would mean that it is worth asking again.
  error.code = ErrorCode::Failed;
  error.reason = Reason::SyncFailed;
  return error;
}

}  // namespace

Result<accel::Severity> wait_until_decoded(const Display& display, VASurfaceID surface,
                                           const std::function<bool()>& stop,
                                           std::chrono::nanoseconds bound) {
  const Api& api = display.api();
  if (!api.sync_surface2) return answer(vaSyncSurface(display.get(), surface), "vaSyncSurface");
  std::chrono::nanoseconds left = bound;
  for (;;) {
    const std::chrono::nanoseconds slice = std::min(left, kSlice);
    const VAStatus status =
        api.sync_surface2(display.get(), surface, static_cast<uint64_t>(slice.count()));
    if (status == VA_STATUS_ERROR_UNIMPLEMENTED)
      return answer(vaSyncSurface(display.get(), surface), "vaSyncSurface");
    if (status != VA_STATUS_ERROR_TIMEDOUT) return answer(status, "vaSyncSurface2");
    // Counted in slices and not by the clock: a machine that was asleep has waited for nothing.
    left -= slice;
    if (left <= std::chrono::nanoseconds::zero()) return answer(status, "vaSyncSurface2");
    if (stop && stop()) return Error{.code = ErrorCode::Busy, .call = "vaSyncSurface2"};
  }
}

}  // namespace dxva::va
