// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "lib/base/path.hpp"

namespace dxva::accel {

// What a stream needs of its surfaces, known with its first header.
struct Need {
  uint32_t bit_depth = 8;
  bool is_420 = true;
  uint32_t width = 0;  // pixels, coded size
  uint32_t height = 0;
  uint32_t surfaces = 0;
};

// Surfaces as somebody has them, or would make them.
struct Configuration {
  uint32_t fourcc = 0;  // DRM; 0 = a format that we cannot pass on
  uint32_t width = 0;   // pixels
  uint32_t height = 0;
  uint32_t surfaces = 0;
  friend bool operator==(const Configuration&, const Configuration&) = default;
};

// DirectX VA's answer to a configuration: S_OK, S_FALSE with an alternative, or an error.
enum class Answer : uint8_t {
  Yes,     // as needed
  YesBut,  // other than asked for, and it will do: larger, or more of them
  No,      // and `reason` says why
};
struct Reply {
  Answer answer = Answer::No;
  Reason reason = Reason::None;
};
// Whether `offered` serves `need`. It must be agreed on before the first BeginFrame. A format
// with fewer bits or other chroma is a No: a device that takes such a stream writes something,
// and nobody complains (FFmpeg 7.1 offered High 10 on NV12 surfaces; the pictures were black).
// Refusals: FormatUnsupported, SizeOutOfRange, SurfacesNotMade.
[[nodiscard]] Reply negotiate(const Need& need, const Configuration& offered);

}  // namespace dxva::accel
