// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace dxva {

// A 64-bit size that remembers whether any step on the way to it wrapped. Every number in a
// descriptor or stream is hostile; `Checked(offset) + Checked(pitch) * rows` then one look at
// value() replaces a ladder of comparisons that is easy to get wrong.
class Checked {
 public:
  constexpr Checked(uint64_t value) : value_(value), ok_(true) {}

  friend constexpr Checked operator+(Checked a, Checked b) {
    uint64_t out = 0;
    const bool fits = !__builtin_add_overflow(a.value_, b.value_, &out);
    return Checked{out, a.ok_ && b.ok_ && fits};
  }
  friend constexpr Checked operator-(Checked a, Checked b) {
    uint64_t out = 0;
    const bool fits = !__builtin_sub_overflow(a.value_, b.value_, &out);
    return Checked{out, a.ok_ && b.ok_ && fits};
  }
  friend constexpr Checked operator*(Checked a, Checked b) {
    uint64_t out = 0;
    const bool fits = !__builtin_mul_overflow(a.value_, b.value_, &out);
    return Checked{out, a.ok_ && b.ok_ && fits};
  }

  // Nothing when any step wrapped.
  [[nodiscard]] constexpr std::optional<uint64_t> value() const {
    return ok_ ? std::optional<uint64_t>(value_) : std::nullopt;
  }
  // False too when any step wrapped.
  [[nodiscard]] constexpr bool fits_in(uint64_t limit) const { return ok_ && value_ <= limit; }

 private:
  constexpr Checked(uint64_t value, bool ok) : value_(value), ok_(ok) {}

  uint64_t value_;
  bool ok_;
};

}  // namespace dxva
