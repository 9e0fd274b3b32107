// SPDX-License-Identifier: LGPL-2.1-or-later
#include <array>

#include "lib/base/fourcc.hpp"
#include "lib/va/display.hpp"

namespace dxva::va {
namespace {

struct Pair {
  uint32_t drm;
  uint32_t va;
};

// Most names agree; the 4:2:2 and planar 4:2:0 ones do not.
constexpr std::array kPairs = {
    Pair{format::kNV12, VA_FOURCC_NV12},
    Pair{format::kP010, VA_FOURCC_P010},
    Pair{fourcc('P', '0', '1', '2'), VA_FOURCC_P012},
    Pair{fourcc('P', '0', '1', '6'), VA_FOURCC_P016},
    Pair{fourcc('Y', 'U', 'Y', 'V'), VA_FOURCC_YUY2},
    Pair{fourcc('U', 'Y', 'V', 'Y'), VA_FOURCC_UYVY},
    Pair{fourcc('Y', 'U', '1', '2'), VA_FOURCC_I420},
    Pair{fourcc('Y', 'V', '1', '2'), VA_FOURCC_YV12},
};

}  // namespace

uint32_t va_fourcc(uint32_t drm) {
  for (const Pair& pair : kPairs)
    if (pair.drm == drm) return pair.va;
  return 0;
}

uint32_t drm_fourcc(uint32_t va) {
  for (const Pair& pair : kPairs)
    if (pair.va == va) return pair.drm;
  return 0;
}

}  // namespace dxva::va
