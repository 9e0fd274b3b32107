// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "lib/decode/bitstream_decoder.hpp"

namespace dxva::decode {

// Whether decoding can start at `packet`. VP8 and VP9 say it in their first byte, and that byte
// is believed: without a parser in front every buffer claims to be a sync point.
[[nodiscard]] bool starts_decoding(Codec codec, const Packet& packet);

}  // namespace dxva::decode
