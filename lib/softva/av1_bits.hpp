// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Numbers as AV1's headers code them (AV1 specification, clauses 4.10 and 5.9.28): what
// BitWriter has no words for. Thread rules: reentrant.

#include <cstdint>
#include <vector>

#include "lib/softva/bits.hpp"

namespace dxva::softva {

// su(bits)
void put_signed(BitWriter& out, int32_t value, unsigned bits);
// ns(count): a value below `count`.
void put_non_symmetric(BitWriter& out, uint32_t value, uint32_t count);
// decode_signed_subexp_with_ref(low, high, reference) gives `value`, which is in [low, high).
void put_signed_subexp(BitWriter& out, int32_t value, int32_t low, int32_t high,
                       int32_t reference);
// leb128()
void append_leb128(std::vector<uint8_t>& out, uint64_t value);
// An open bitstream unit of `type` with its size.
void append_obu(std::vector<uint8_t>& out, unsigned type, const std::vector<uint8_t>& payload);

}  // namespace dxva::softva
