// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fourcc.hpp"

#include <cinttypes>
#include <cstdio>

namespace dxva {

bool has_aux_planes(uint64_t modifier) {
  constexpr uint64_t kIntel = 1, kAmd = 2;  // drm_fourcc.h, DRM_FORMAT_MOD_VENDOR_…
  const uint64_t vendor = modifier >> 56, code = modifier & ((uint64_t{1} << 56) - 1);
  if (vendor == kIntel) {
    // I915_FORMAT_MOD_…: Y_TILED_CCS 4, Yf_TILED_CCS 5, GEN12_RC_CCS 6, GEN12_MC_CCS 7,
    // GEN12_RC_CCS_CC 8, DG2_RC_CCS_CC 12, MTL_RC_CCS 13, MTL_MC_CCS 14, MTL_RC_CCS_CC 15.
    // DG2's others (10, 11), Lunar Lake's and Battlemage's keep theirs out of the buffer.
    return (code >= 4 && code <= 8) || (code >= 12 && code <= 15);
  }
  if (vendor == kAmd) {
    // AMD_FMT_MOD_DCC, bit 13; since AMD_FMT_MOD_TILE_VER_GFX12 (5) without a plane.
    return (code >> 13 & 1) != 0 && (code & 0xff) < 5;
  }
  return false;
}

std::string fourcc_text(uint32_t value) {
  std::string text;
  for (int shift = 0; shift < 32; shift += 8) {
    const char c = static_cast<char>(value >> shift);
    if (c < 0x20 || c > 0x7e) {
      char hex[16];
      std::snprintf(hex, sizeof hex, "0x%08" PRIx32, value);
      return hex;
    }
    text += c;
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string modifier_text(uint64_t modifier) {
  if (modifier == kModifierLinear) return "linear";
  if (modifier == kModifierInvalid) return "none given";
  char hex[24];
  std::snprintf(hex, sizeof hex, "0x%016" PRIx64, modifier);
  return hex;
}

}  // namespace dxva
