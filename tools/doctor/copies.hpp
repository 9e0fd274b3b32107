// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How often the frames of the test clip were copied on their way to OpenGL, and by whom.

#include <cstdint>

#include "tools/doctor/json.hpp"

namespace dxva::doctor {

// Frames each. One that the CPU copied is uploaded as well: GPUs read no system memory.
struct Copies {
  int64_t frames = 0;    // that came out
  int64_t copied = 0;    // at least once
  int64_t by_gpu = 0;    // by the device, into memory that OpenGL imports
  int64_t by_cpu = 0;    // into memory that is then uploaded
  int64_t uploaded = 0;  // by OpenGL, from wherever they lay

  [[nodiscard]] Json json() const;
};

// `decode`: what probe_decode() found.
[[nodiscard]] Copies count_copies(const Json& decode);

}  // namespace dxva::doctor
