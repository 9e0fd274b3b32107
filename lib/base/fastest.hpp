// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace dxva {

// Which of several ways to one end is the fastest, from times that somebody else takes: each
// has a few turns, and then the one with the shortest turn is kept. The shortest and not the
// mean, because the first turn of a way pays for what it sets up, and because a turn can be
// longer than the way is (another program had the CPU), but never shorter.
// Plain data, guarded by whoever owns it.
class Fastest {
 public:
  using Way = uint32_t;
  // A set of ways, bit N for way N.
  using Ways = uint32_t;
  static constexpr uint32_t kTurns = 3;

  explicit Fastest(uint32_t way_count) : ways_(way_count) {}

  // The way to take now, of those that `possible` has. Nothing: all of these are ruled out.
  // Of equally fast ones the lower number wins.
  [[nodiscard]] std::optional<Way> next(Ways possible = ~Ways{0}) const {
    std::optional<Way> best;
    for (Way way = 0; way < ways_.size(); ++way) {
      if (ways_[way].out || !(possible & (Ways{1} << way))) continue;
      if (ways_[way].turns < kTurns) return way;
      if (!best || ways_[way].shortest < ways_[*best].shortest) best = way;
    }
    return best;
  }
  void took(Way way, std::chrono::nanoseconds time) {
    Times& times = ways_[way];
    if (times.turns >= kTurns) return;
    if (times.turns == 0 || time < times.shortest) times.shortest = time;
    ++times.turns;
  }
  // It failed, or its result is wrong. For good.
  void rule_out(Way way) { ways_[way].out = true; }
  [[nodiscard]] bool is_out(Way way) const { return ways_[way].out; }
  // Whether next() would be the same from now on.
  [[nodiscard]] bool decided(Ways possible = ~Ways{0}) const {
    uint32_t left = 0;
    bool measured = true;
    for (Way way = 0; way < ways_.size(); ++way) {
      if (ways_[way].out || !(possible & (Ways{1} << way))) continue;
      ++left;
      measured &= ways_[way].turns >= kTurns;
    }
    return left < 2 || measured;
  }
  [[nodiscard]] std::chrono::nanoseconds shortest(Way way) const { return ways_[way].shortest; }

 private:
  struct Times {
    uint32_t turns = 0;
    std::chrono::nanoseconds shortest{0};
    bool out = false;
  };
  std::vector<Times> ways_;
};

}  // namespace dxva
