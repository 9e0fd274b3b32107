// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/fastest.hpp"

namespace dxva {

// Choices of the fastest way, one for each key, that outlive who made them: whoever comes later
// with the same key need not measure again. The functions are those of Fastest. Thread-safe.
template <typename Key>
class Choices {
 public:
  explicit Choices(const Fastest::Rules& rules) : rules_(rules) {}

  [[nodiscard]] std::optional<Fastest::Way> next(const Key& key, Fastest::Ways possible) {
    const std::lock_guard guard(lock_);
    return of(key).next(possible);
  }
  [[nodiscard]] bool decided(const Key& key, Fastest::Ways possible) {
    const std::lock_guard guard(lock_);
    return of(key).decided(possible);
  }
  [[nodiscard]] bool wants(const Key& key, Fastest::Way way) {
    const std::lock_guard guard(lock_);
    return of(key).wants(way);
  }
  bool took(const Key& key, Fastest::Way way, std::chrono::nanoseconds time) {
    const std::lock_guard guard(lock_);
    return of(key).took(way, time);
  }
  void rule_out(const Key& key, Fastest::Way way, const std::string& why) {
    const std::lock_guard guard(lock_);
    of(key).rule_out(way, why);
  }
  [[nodiscard]] std::vector<Fastest::Standing> standings(const Key& key) {
    const std::lock_guard guard(lock_);
    return of(key).standings();
  }

 private:
  [[nodiscard]] Fastest& of(const Key& key) {
    return choices_.try_emplace(key, rules_).first->second;
  }

  const Fastest::Rules rules_;

  std::mutex lock_;
  std::map<Key, Fastest> choices_;
};

}  // namespace dxva
