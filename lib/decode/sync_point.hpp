// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <span>

#include "lib/decode/bitstream_decoder.hpp"

namespace dxva::decode {

// Whether decoding can start at `packet`. VP8 and VP9 say it in their first byte, and that byte
// is believed: without a parser in front every buffer claims to be a sync point.
[[nodiscard]] bool starts_decoding(Codec codec, const Packet& packet);

// Whether the packet starts decoding and no picture that comes out after it needs one from
// before: an IDR picture, a closed group. A sync point alone may be followed by pictures that
// are shown before it and refer to the group before. `codec_data` tells how H.264 and H.265
// are framed (avcC, hvcC; empty: start codes).
[[nodiscard]] bool starts_anew(Codec codec, const Packet& packet,
                               std::span<const uint8_t> codec_data);

}  // namespace dxva::decode
