// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/av1_bits.hpp"

#include <bit>

namespace dxva::softva {

namespace {

// inverse_recenter() backwards: small numbers for values near the reference.
uint32_t recenter(uint32_t reference, uint32_t value) {
  if (value > 2 * reference) return value;
  return value >= reference ? (value - reference) << 1 : ((reference - value) << 1) - 1;
}

// decode_subexp(count)
void put_subexp(BitWriter& out, uint32_t value, uint32_t count) {
  constexpr unsigned kBits = 3;
  uint32_t start = 0;
  for (unsigned i = 0;; ++i) {
    const unsigned bits = i > 0 ? kBits + i - 1 : kBits;
    const uint32_t step = uint32_t{1} << bits;
    if (count <= start + 3 * step) {
      put_non_symmetric(out, value - start, count - start);
      return;
    }
    const bool more = value >= start + step;
    out.flag(more);
    if (!more) {
      out.put(value - start, bits);
      return;
    }
    start += step;
  }
}

}  // namespace

void put_signed(BitWriter& out, int32_t value, unsigned bits) {
  out.put(static_cast<uint32_t>(value) & ((uint32_t{1} << bits) - 1), bits);
}

void put_non_symmetric(BitWriter& out, uint32_t value, uint32_t count) {
  const auto bits = static_cast<unsigned>(std::bit_width(count));
  const uint32_t shorter = (uint32_t{1} << bits) - count;  // so many values have a bit less
  if (value < shorter)
    out.put(value, bits - 1);
  else
    out.put(value + shorter, bits);
}

void put_signed_subexp(BitWriter& out, int32_t value, int32_t low, int32_t high,
                       int32_t reference) {
  const auto count = static_cast<uint32_t>(high - low);
  const auto x = static_cast<uint32_t>(value - low);
  const auto r = static_cast<uint32_t>(reference - low);
  if (r * 2 <= count)
    put_subexp(out, recenter(r, x), count);
  else
    put_subexp(out, recenter(count - 1 - r, count - 1 - x), count);
}

void append_leb128(std::vector<uint8_t>& out, uint64_t value) {
  do {
    const auto low = static_cast<uint8_t>(value & 0x7f);
    value >>= 7;
    out.push_back(static_cast<uint8_t>(low | (value ? 0x80 : 0)));
  } while (value);
}

void append_obu(std::vector<uint8_t>& out, unsigned type, const std::vector<uint8_t>& payload) {
  constexpr unsigned kHasSize = 2;
  out.push_back(static_cast<uint8_t>(type << 3 | kHasSize));
  append_leb128(out, payload.size());
  out.insert(out.end(), payload.begin(), payload.end());
}

}  // namespace dxva::softva
