// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

namespace dxva {

// Pixel formats are DRM fourccs everywhere between VA and GL (drm_fourcc.h has their layouts);
// VA's own codes stay in lib/va.
[[nodiscard]] constexpr uint32_t fourcc(char a, char b, char c, char d) {
  return static_cast<uint32_t>(static_cast<uint8_t>(a)) |
         static_cast<uint32_t>(static_cast<uint8_t>(b)) << 8 |
         static_cast<uint32_t>(static_cast<uint8_t>(c)) << 16 |
         static_cast<uint32_t>(static_cast<uint8_t>(d)) << 24;
}

namespace format {
inline constexpr uint32_t kNV12 = fourcc('N', 'V', '1', '2');
inline constexpr uint32_t kP010 = fourcc('P', '0', '1', '0');
inline constexpr uint32_t kR8 = fourcc('R', '8', ' ', ' ');
inline constexpr uint32_t kGR88 = fourcc('G', 'R', '8', '8');
inline constexpr uint32_t kRG88 = fourcc('R', 'G', '8', '8');
inline constexpr uint32_t kR16 = fourcc('R', '1', '6', ' ');
inline constexpr uint32_t kGR1616 = fourcc('G', 'R', '3', '2');
}  // namespace format

inline constexpr uint64_t kModifierLinear = 0;
inline constexpr uint64_t kModifierInvalid = (uint64_t{1} << 56) - 1;  // "the driver knows"

// Whether a buffer with this modifier has planes of metadata (compression, clear colour) beside
// those of its format. Intel's and AMD's; of others none is known.
[[nodiscard]] bool has_aux_planes(uint64_t modifier);

// "NV12", or "0x00000013" where a byte does not print.
[[nodiscard]] std::string fourcc_text(uint32_t value);
// "linear", "none given", or "0x0100000000000002".
[[nodiscard]] std::string modifier_text(uint64_t modifier);

}  // namespace dxva
