// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "lib/base/fastest.hpp"

namespace dxva::va {

// What was measured about copies on one display, for as long as it lives: streams that come
// later need not measure again. A key stands for one driver (the display's), one format and one
// layout of its surfaces. Thread-safe.
class CopyChoices {
 public:
  enum class What : uint8_t {
    ReadBack,  // how the CPU gets at the pixels: cpu_mapper.hpp
    Detile,    // GPU or CPU: dxvadec's
  };
  struct Key {
    What what;
    uint32_t fourcc = 0;    // DRM
    uint64_t modifier = 0;  // kModifierInvalid: not known
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // As those of Fastest.
  [[nodiscard]] std::optional<Fastest::Way> next(const Key& key, Fastest::Ways possible);
  [[nodiscard]] bool decided(const Key& key, Fastest::Ways possible);
  void took(const Key& key, Fastest::Way way, std::chrono::nanoseconds time);
  void rule_out(const Key& key, Fastest::Way way);

  // Ways whose result somebody compared with another's.
  [[nodiscard]] bool is_proven(const Key& key, Fastest::Way way);
  void set_proven(const Key& key, Fastest::Way way);

 private:
  struct Entry {
    Fastest fastest{kMostWays};
    Fastest::Ways proven = 0;
  };
  static constexpr uint32_t kMostWays = 8;

  std::mutex lock_;
  std::map<Key, Entry> entries_;
};

}  // namespace dxva::va
