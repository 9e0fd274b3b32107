// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fourcc.hpp"

#include <cinttypes>
#include <cstdio>

namespace dxva {

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
