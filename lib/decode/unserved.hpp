// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Streams that are as they should be and that nobody here decodes. libavcodec answers them as
// it answers broken packets, or decodes something else; so their headers are looked at before.

#include <cstdint>
#include <span>
#include <string>

#include "lib/decode/bitstream_decoder.hpp"

namespace dxva::decode {

// What it is, and what to do about it, in the middle of a sentence; empty: nothing is known
// against it. `packet` is one that a stream may begin with. Thread rules: reentrant.
//   H.264 with slice groups (FMO, 8.2.2) in every picture parameter set: libavcodec 5.1 to 8
//   and VA-API's drivers refuse those JPEG of four components that is not Adobe's CMYK or YCCK,
//   which libavcodec takes for YCbCr with an alpha channel
[[nodiscard]] std::string unserved(Codec codec, std::span<const uint8_t> packet,
                                   std::span<const uint8_t> codec_data);

}  // namespace dxva::decode
