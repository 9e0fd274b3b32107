// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/av1_metadata.hpp"

#include <algorithm>

namespace dxva::decode {

namespace {

using Bytes = std::span<const uint8_t>;

// AV1 4.10.5; it takes what it read off the front. Nothing: the data ends before.
std::optional<uint64_t> take_leb128(Bytes& from) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8 && i < from.size(); ++i) {
    value |= uint64_t{from[i] & 0x7fu} << (7 * i);
    if (from[i] & 0x80) continue;
    from = from.subspan(i + 1);
    return value;
  }
  return std::nullopt;
}

uint32_t big_endian(Bytes from, size_t at, size_t bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | from[at + i];
  return value;
}

// A fixed-point number in `units`, rounded as libavcodec's rationals are.
uint32_t fixed(uint32_t value, unsigned fraction_bits, uint32_t units) {
  const uint64_t half = uint64_t{1} << (fraction_bits - 1);
  return static_cast<uint32_t>(
      std::min<uint64_t>((uint64_t{value} * units + half) >> fraction_bits, UINT32_MAX));
}

// AV1 5.8.3 and 6.7.3.
std::optional<ContentLight> content_light(Bytes payload) {
  if (payload.size() < 4) return std::nullopt;
  return ContentLight{.max_content = static_cast<uint16_t>(big_endian(payload, 0, 2)),
                      .max_frame_average = static_cast<uint16_t>(big_endian(payload, 2, 2))};
}

// AV1 5.8.4 and 6.7.4: red, green, blue, white in 0.16; luminances in 24.8 and 18.14 cd/m2.
std::optional<MasteringDisplay> mastering_display(Bytes payload) {
  if (payload.size() < 24) return std::nullopt;
  const auto point = [payload](size_t at) {
    const auto coordinate = [payload](size_t byte) {
      return static_cast<uint16_t>(fixed(big_endian(payload, byte, 2), 16, 50'000));
    };
    return std::array<uint16_t, 2>{coordinate(at), coordinate(at + 2)};
  };
  return MasteringDisplay{.red = point(0),
                          .green = point(4),
                          .blue = point(8),
                          .white = point(12),
                          .max_luminance = fixed(big_endian(payload, 16, 4), 8, 10'000),
                          .min_luminance = fixed(big_endian(payload, 20, 4), 14, 10'000)};
}

}  // namespace

void Av1Metadata::read(Bytes obus) {
  constexpr int kMetadata = 5;                                  // AV1 6.2.2: obu_type
  constexpr uint64_t kContentLight = 1, kMasteringDisplay = 2;  // 6.7.1: metadata_type
  while (!obus.empty()) {
    const int type = obus[0] >> 3 & 15;
    const bool has_extension = obus[0] & 4, has_size = obus[0] & 2;
    const size_t header = has_extension ? 2 : 1;
    if (obus.size() < header) return;
    obus = obus.subspan(header);
    const auto size = has_size ? take_leb128(obus) : obus.size();
    if (!size || *size > obus.size()) return;
    Bytes payload = obus.first(*size);
    obus = obus.subspan(*size);
    if (type != kMetadata) continue;
    const auto metadata_type = take_leb128(payload);
    if (metadata_type == kContentLight) {
      if (const auto read = content_light(payload)) light = read;
    } else if (metadata_type == kMasteringDisplay) {
      if (const auto read = mastering_display(payload)) mastering = read;
    }
  }
}

}  // namespace dxva::decode
