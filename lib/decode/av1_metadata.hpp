// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lib/decode/bitstream_decoder.hpp"

namespace dxva::decode {

// What AV1's metadata OBUs say of HDR. libavcodec's own decoder, the one for devices, reads
// them since FFmpeg 6.1; before that only wrappers of other libraries do.
struct Av1Metadata {
  std::optional<MasteringDisplay> mastering;
  std::optional<ContentLight> light;

  // Takes what is in `obus` (a temporal unit, or the headers of av1C: AV1 5.3, with sizes); the
  // rest stays as it was, because a stream says it once for all pictures that follow.
  // Broken input changes nothing from where it is broken. Reentrant.
  void read(std::span<const uint8_t> obus);
};

}  // namespace dxva::decode
