// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/bits.hpp"

#include <algorithm>
#include <bit>

namespace dxva::softva {

namespace {

constexpr uint8_t kStartCode[] = {0, 0, 0, 1};

// Where a NAL unit must have ended: 00 00 followed by 00, 01 or 02 (H.264 7.4.1).
size_t end_of_nal(std::span<const uint8_t> nal) {
  size_t i = 2;
  while (i < nal.size()) {
    if (nal[i] > 3) {
      i += 3;
    } else if (nal[i] != 3 && nal[i - 1] == 0 && nal[i - 2] == 0) {
      return i - 2;
    } else {
      ++i;
    }
  }
  return nal.size();
}

}  // namespace

bool BitReader::take(size_t count) {
  if (!ok_ || count > left()) {
    ok_ = false;
    position_ = bytes_.size() * 8;
  }
  return ok_;
}

uint32_t BitReader::read(unsigned count) {
  if (!take(count)) return 0;
  uint32_t value = 0;
  while (count > 0) {
    const unsigned in_byte = 8 - position_ % 8;
    const unsigned now = std::min(in_byte, count);
    const uint32_t bits = (bytes_[position_ / 8] >> (in_byte - now)) & ((1U << now) - 1);
    value = value << now | bits;
    position_ += now;
    count -= now;
  }
  return value;
}

uint32_t BitReader::ue() {
  unsigned zeros = 0;
  while (ok_ && !flag()) {
    if (++zeros == 32) ok_ = false;
  }
  if (!ok_) return 0;
  return (uint32_t{1} << zeros) - 1 + read(zeros);
}

int32_t BitReader::se() {
  const uint32_t code = ue();
  const auto half = static_cast<int32_t>(code / 2);
  return code % 2 ? half + 1 : -half;
}

void BitReader::skip(size_t count) {
  if (take(count)) position_ += count;
}

void BitWriter::put(uint32_t value, unsigned count) {
  while (count > 0) {
    if (free_ == 0) {
      bytes_.push_back(0);
      free_ = 8;
    }
    const unsigned now = std::min(free_, count);
    const uint32_t bits = (value >> (count - now)) & ((1U << now) - 1);
    free_ -= now;
    count -= now;
    bytes_.back() = static_cast<uint8_t>(bytes_.back() | bits << free_);
  }
}

void BitWriter::ue(uint32_t value) {
  const uint32_t code = value + 1;
  const auto width = static_cast<unsigned>(std::bit_width(code));
  put(0, width - 1);
  put(code, width);
}

void BitWriter::se(int32_t value) {
  const auto magnitude = static_cast<uint32_t>(value < 0 ? -int64_t{value} : int64_t{value});
  ue(value > 0 ? magnitude * 2 - 1 : magnitude * 2);
}

void BitWriter::copy(BitReader& from, size_t count) {
  for (; count >= 32; count -= 32) put(from.read(32), 32);
  put(from.read(static_cast<unsigned>(count)), static_cast<unsigned>(count));
}

void BitWriter::align(bool bit) {
  while (free_ > 0) flag(bit);
}

std::vector<uint8_t> unescape(std::span<const uint8_t> payload, size_t limit) {
  std::vector<uint8_t> out;
  out.reserve(std::min(payload.size(), limit));
  unsigned zeros = 0;
  for (const uint8_t byte : payload) {
    if (out.size() >= limit) break;
    if (zeros >= 2 && byte == 3) {
      zeros = 0;
      continue;
    }
    zeros = byte == 0 ? zeros + 1 : 0;
    out.push_back(byte);
  }
  return out;
}

std::vector<uint8_t> escape(std::span<const uint8_t> payload) {
  std::vector<uint8_t> out;
  out.reserve(payload.size());
  unsigned zeros = 0;
  for (const uint8_t byte : payload) {
    if (zeros >= 2 && byte <= 3) {
      out.push_back(3);
      zeros = 0;
    }
    zeros = byte == 0 ? zeros + 1 : 0;
    out.push_back(byte);
  }
  return out;
}

void append_escaped_nal(std::vector<uint8_t>& stream, std::span<const uint8_t> payload) {
  const std::vector<uint8_t> escaped = escape(payload);
  stream.insert(stream.end(), std::begin(kStartCode), std::end(kStartCode));
  stream.insert(stream.end(), escaped.begin(), escaped.end());
}

void append_raw_nal(std::vector<uint8_t>& stream, std::span<const uint8_t> nal) {
  stream.insert(stream.end(), std::begin(kStartCode), std::end(kStartCode));
  stream.insert(stream.end(), nal.begin(), nal.begin() + end_of_nal(nal));
}

}  // namespace dxva::softva
