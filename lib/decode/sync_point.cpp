// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/sync_point.hpp"

#include <optional>

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

// The bytes behind the next start code (00 00 01); empty: there is none.
Bytes behind_start_code(Bytes data) {
  for (size_t i = 0; i + 3 < data.size(); ++i)
    if (data[i] == 0 && data[i + 1] == 0 && data[i + 2] == 1) return data.subspan(i + 3);
  return {};
}

// Calls `is` with the first byte of each NAL unit until it knows.
template <typename Function>
bool ask_nal_units(Bytes data, size_t length_bytes, Function is) {
  while (!data.empty()) {
    if (length_bytes == 0) {
      data = behind_start_code(data);
      if (data.empty()) break;
      if (const std::optional<bool> known = is(data[0])) return *known;
      continue;
    }
    if (data.size() <= length_bytes) break;
    size_t length = 0;
    for (size_t i = 0; i < length_bytes; ++i) length = length << 8 | data[i];
    data = data.subspan(length_bytes);
    if (length == 0 || length > data.size()) break;
    if (const std::optional<bool> known = is(data[0])) return *known;
    data = data.subspan(length);
  }
  return false;
}

// H.264 table 7-1: 1 to 5 are slices, 5 of an IDR picture.
std::optional<bool> is_h264_idr(uint8_t first) {
  const int type = first & 0x1f;
  if (type < 1 || type > 5) return std::nullopt;
  return type == 5;
}

// H.265 table 7-1: 0 to 31 are slices, 19 and 20 of an IDR picture.
std::optional<bool> is_h265_idr(uint8_t first) {
  const int type = first >> 1 & 0x3f;
  if (type > 31) return std::nullopt;
  return type == 19 || type == 20;
}

// MPEG-2 6.2.2.6: after the start code B8 a time code of 25 bits, then closed_gop.
bool is_closed_group(Bytes data) {
  while (!(data = behind_start_code(data)).empty())
    if (data[0] == 0xb8) return data.size() > 4 && (data[4] & 0x40) != 0;
  return false;
}

// avcC 5.3.3.1.2 and hvcC 8.3.3.1.2 of ISO/IEC 14496-15: lengthSizeMinusOne.
size_t length_bytes_of(Bytes codec_data, size_t at) {
  return codec_data.size() > at ? (codec_data[at] & 3u) + 1 : 0;
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
