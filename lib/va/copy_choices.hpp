// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "lib/base/choices.hpp"

namespace dxva::va {

// What a choice of copies is about: one driver (the display's), one format and one layout of
// its surfaces.
struct CopyKey {
  enum class What : uint8_t {
    ReadBack,  // how the CPU gets at the pixels: cpu_mapper.hpp
    Detile,    // GPU or CPU: dxvadec's
  };
  What what;
  uint32_t fourcc = 0;    // DRM
  uint64_t modifier = 0;  // kModifierInvalid: not known
  friend auto operator<=>(const CopyKey&, const CopyKey&) = default;
};

// What was measured about copies on one display, for as long as it lives: streams that come
// later need not measure again. Thread-safe.
class CopyChoices : public Choices<CopyKey> {
 public:
  using Key = CopyKey;
  static constexpr uint32_t kMostWays = 5;  // of the two things
  CopyChoices() : Choices({.ways = kMostWays}) {}

  // Ways whose result somebody compared with another's.
  [[nodiscard]] bool is_proven(const Key& key, Fastest::Way way);
  void set_proven(const Key& key, Fastest::Way way);

 private:
  std::mutex lock_;
  std::map<Key, Fastest::Ways> proven_;
};

}  // namespace dxva::va
