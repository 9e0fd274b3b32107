// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dxva {

// Which of several ways to one end is the fastest, from times that somebody else takes: each
// has a few turns, one after the other, and then the one with the shortest turn is kept. The
// shortest and not the mean, because the first turn of a way pays for what it sets up, and
// because a turn can be longer than the way is (another program had the CPU), but never
// shorter. Plain data, guarded by whoever owns it.
class Fastest {
 public:
  using Way = uint32_t;
  // A set of ways, bit N for way N.
  using Ways = uint32_t;
  static constexpr Ways kAll = ~Ways{0};
  [[nodiscard]] static constexpr Ways only(Way way) { return Ways{1} << way; }
  // The time of a turn that failed, where the next one may not.
  static constexpr auto kNever = std::chrono::nanoseconds::max();

  struct Rules {
    uint32_t ways = 2;
    uint32_t turns = 3;  // of each
    // Way 0 is the plain one, and another must be faster by more than noise: its time at most
    // this part of way 0's.
    uint32_t worthwhile_percent = 100;
  };
  // How one way stands.
  struct Standing {
    uint32_t turns = 0;
    std::chrono::nanoseconds shortest{0};  // of its turns
    std::optional<std::string> out;        // why it is not taken
  };

  explicit Fastest(const Rules& rules) : rules_(rules), ways_(rules.ways) {}

  // The way to take now, of those that `possible` has: the one with the fewest turns, while any
  // has turns left, then the winner. Nothing: all of these are ruled out. Of equals the lower
  // number.
  [[nodiscard]] std::optional<Way> next(Ways possible = kAll) const;
  // True: that was the way's last turn. Times after that change nothing.
  bool took(Way way, std::chrono::nanoseconds time);
  // Whether a time of it would count.
  [[nodiscard]] bool wants(Way way) const {
    return !ways_[way].out && ways_[way].turns < rules_.turns;
  }
  // It failed, or its result is wrong. For good.
  void rule_out(Way way, const std::string& why) { ways_[way].out = why; }
  // Whether next() would be the same from now on.
  [[nodiscard]] bool decided(Ways possible = kAll) const;
  [[nodiscard]] const std::vector<Standing>& standings() const { return ways_; }

 private:
  [[nodiscard]] bool counts(Way way, Ways possible) const {
    return !ways_[way].out && (possible & only(way)) != 0;
  }
  [[nodiscard]] bool beats(Way way, Way other) const;

  Rules rules_;
  std::vector<Standing> ways_;
};

// For people and `stats`.
struct NamedStanding {
  const char* name;
  Fastest::Standing standing;
};

}  // namespace dxva
