// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/sync_point.hpp"

namespace dxva::decode {

namespace {

// VP9 bitstream 6.2: frame_marker(2), profile low and high bit, a reserved bit for profile 3
// only, show_existing_frame(1), frame_type(1; 0 is a key frame).
bool is_vp9_key_frame(uint8_t first) {
  if (first >> 6 != 2) return false;
  const bool profile3 = (first & 0x30) == 0x30;
  const int shift = profile3 ? 1 : 2;
  const bool show_existing = ((first >> (shift + 1)) & 1) != 0;
  const bool inter = ((first >> shift) & 1) != 0;
  return !show_existing && !inter;
}

}  // namespace

bool starts_decoding(Codec codec, const Packet& packet) {
  if (packet.data.empty()) return false;
  switch (codec) {
    case Codec::Vp8:
      return (packet.data[0] & 1) == 0;  // RFC 6386 9.1: 0 is a key frame
    case Codec::Vp9:
      return is_vp9_key_frame(packet.data[0]);
    case Codec::Jpeg:
      return true;
    default:
      return packet.sync_point;
  }
}

}  // namespace dxva::decode
