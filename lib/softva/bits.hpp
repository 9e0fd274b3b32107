// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Bits as H.26x parameter sets and headers want them: most significant first, Exp-Golomb
// numbers, and the emulation prevention that keeps start codes out of a NAL unit. No VA types
// in here. Thread rules: reentrant.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dxva::softva {

class BitReader {
 public:
  explicit BitReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  // Up to 32 bits. Past the end, and after any failure, everything reads as zero and ok() is
  // false, so that a parser can check once at its end.
  uint32_t read(unsigned count);
  bool flag() { return read(1) != 0; }
  uint32_t ue();
  int32_t se();
  void skip(size_t count);

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] size_t position() const { return position_; }
  [[nodiscard]] size_t left() const { return bytes_.size() * 8 - position_; }

 private:
  bool take(size_t count);

  std::span<const uint8_t> bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

class BitWriter {
 public:
  void put(uint32_t value, unsigned count);  // the low `count` bits, up to 32
  void flag(bool value) { put(value ? 1 : 0, 1); }
  void ue(uint32_t value);  // up to 2^32 - 2
  void se(int32_t value);   // above -2^31
  // The next `count` bits of `from`.
  void copy(BitReader& from, size_t count);
  // `bit` until the next byte begins.
  void align(bool bit);
  // rbsp_trailing_bits(): a one, then zeros until the next byte begins.
  void trailing() {
    flag(true);
    align(false);
  }

  [[nodiscard]] size_t position() const { return bytes_.size() * 8 - free_; }
  [[nodiscard]] const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
  unsigned free_ = 0;  // bits of the last byte not written yet
};

// The payload with every emulation_prevention_three_byte taken out. Reads until `limit` bytes
// of payload are there, for a header at the start of a long slice.
[[nodiscard]] std::vector<uint8_t> unescape(std::span<const uint8_t> payload,
                                            size_t limit = SIZE_MAX);
// `payload` with the emulation prevention it needs.
[[nodiscard]] std::vector<uint8_t> escape(std::span<const uint8_t> payload);
// Appends a start code and `payload` with the emulation prevention it needs. `payload` begins
// with the NAL header.
void append_escaped_nal(std::vector<uint8_t>& stream, std::span<const uint8_t> payload);
// Appends a start code and a NAL unit that already has its emulation prevention, up to the
// first byte that no NAL unit can hold: nothing smuggles a second unit in.
void append_raw_nal(std::vector<uint8_t>& stream, std::span<const uint8_t> nal);

}  // namespace dxva::softva
