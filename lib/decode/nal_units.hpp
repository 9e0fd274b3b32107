// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace dxva::decode {

// The bytes behind the next start code (00 00 01); empty: there is none.
[[nodiscard]] inline std::span<const uint8_t> behind_start_code(std::span<const uint8_t> data) {
  for (size_t i = 0; i + 3 < data.size(); ++i)
    if (data[i] == 0 && data[i + 1] == 0 && data[i + 2] == 1) return data.subspan(i + 3);
  return {};
}

// Asks about each NAL unit of an access unit until `is` knows; false when it never does.
// `length_bytes` stand in front of each unit; 0: start codes do (Annex B), and a unit then
// seems to reach to the end of the data. No unit is empty.
template <typename Function>
bool ask_nal_units(std::span<const uint8_t> data, size_t length_bytes, Function is) {
  while (!data.empty()) {
    if (length_bytes == 0) {
      data = behind_start_code(data);
      if (data.empty()) break;
      if (const std::optional<bool> known = is(data)) return *known;
      continue;
    }
    if (data.size() <= length_bytes) break;
    size_t length = 0;
    for (size_t i = 0; i < length_bytes; ++i) length = length << 8 | data[i];
    data = data.subspan(length_bytes);
    if (length == 0 || length > data.size()) break;
    if (const std::optional<bool> known = is(data.first(length))) return *known;
    data = data.subspan(length);
  }
  return false;
}

// lengthSizeMinusOne + 1 of avcC (ISO/IEC 14496-15 5.3.3.1.2, at byte 4) and hvcC (8.3.3.1.2,
// at byte 21); 0 without either: a byte stream.
[[nodiscard]] inline size_t length_bytes_of(std::span<const uint8_t> codec_data, size_t at) {
  return codec_data.size() > at ? (codec_data[at] & 3u) + 1 : 0;
}

}  // namespace dxva::decode
