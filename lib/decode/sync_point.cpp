// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/sync_point.hpp"

#include <optional>

#include "lib/decode/nal_units.hpp"

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

using Bytes = std::span<const uint8_t>;

// H.264 table 7-1: 1 to 5 are slices, 5 of an IDR picture.
std::optional<bool> is_h264_idr(Bytes unit) {
  const int type = unit[0] & 0x1f;
  if (type < 1 || type > 5) return std::nullopt;
  return type == 5;
}

// H.265 table 7-1: 0 to 31 are slices, 19 and 20 of an IDR picture.
std::optional<bool> is_h265_idr(Bytes unit) {
  const int type = unit[0] >> 1 & 0x3f;
  if (type > 31) return std::nullopt;
  return type == 19 || type == 20;
}

// MPEG-2 6.2.2.6: after the start code B8 a time code of 25 bits, then closed_gop.
bool is_closed_group(Bytes data) {
  while (!(data = behind_start_code(data)).empty())
    if (data[0] == 0xb8) return data.size() > 4 && (data[4] & 0x40) != 0;
  return false;
}

}  // namespace

bool starts_anew(Codec codec, const Packet& packet, std::span<const uint8_t> codec_data) {
  if (!starts_decoding(codec, packet)) return false;
  switch (codec) {
    case Codec::H264:
      return ask_nal_units(packet.data, length_bytes_of(codec_data, 4), is_h264_idr);
    case Codec::H265:
      return ask_nal_units(packet.data, length_bytes_of(codec_data, 21), is_h265_idr);
    case Codec::Mpeg2:
      return is_closed_group(packet.data);
    default:
      return true;
  }
}

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
