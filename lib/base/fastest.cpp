// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fastest.hpp"

namespace dxva {

// Of two whose turns are over; `other` has the lower number.
bool Fastest::beats(Way way, Way other) const {
  const int64_t time = ways_[way].shortest.count();
  const int64_t least = ways_[other].shortest.count();
  return other == 0 && rules_.worthwhile_percent < 100
             ? time <= least / 100 * rules_.worthwhile_percent
             : time < least;
}

std::optional<Fastest::Way> Fastest::next(Ways possible) const {
  std::optional<Way> fewest;
  std::optional<Way> best;
  for (Way way = 0; way < ways_.size(); ++way) {
    if (!counts(way, possible)) continue;
    if (ways_[way].turns < rules_.turns && (!fewest || ways_[way].turns < ways_[*fewest].turns))
      fewest = way;
    if (!best || beats(way, *best)) best = way;
  }
  return fewest ? fewest : best;
}

bool Fastest::took(Way way, std::chrono::nanoseconds time) {
  if (!wants(way)) return false;
  Standing& standing = ways_[way];
  if (standing.turns == 0 || time < standing.shortest) standing.shortest = time;
  ++standing.turns;
  return standing.turns == rules_.turns;
}

bool Fastest::decided(Ways possible) const {
  uint32_t left = 0;
  bool measured = true;
  for (Way way = 0; way < ways_.size(); ++way) {
    if (!counts(way, possible)) continue;
    ++left;
    measured &= ways_[way].turns >= rules_.turns;
  }
  return left < 2 || measured;
}

}  // namespace dxva
