// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/accel/negotiation.hpp"

#include "lib/base/fourcc.hpp"

namespace dxva::accel {

namespace {

uint32_t bits_of(uint32_t fourcc) {
  switch (fourcc) {
    case format::kNV12:
      return 8;
    case format::kP010:
      return 10;
    default:
      return 0;
  }
}

}  // namespace

Reply negotiate(const Need& need, const Configuration& offered) {
  // Both formats are 4:2:0.
  if (!need.is_420 || bits_of(offered.fourcc) != need.bit_depth)
    return {.reason = Reason::FormatUnsupported};
  if (need.width == 0 || need.height == 0 || offered.width < need.width ||
      offered.height < need.height)
    return {.reason = Reason::SizeOutOfRange};
  if (offered.surfaces < need.surfaces) return {.reason = Reason::SurfacesNotMade};
  const bool exact = offered.width == need.width && offered.height == need.height &&
                     offered.surfaces == need.surfaces;
  return {.answer = exact ? Answer::Yes : Answer::YesBut};
}

}  // namespace dxva::accel
