// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <chrono>

namespace dxva::surface {

// Whether to wait for a surface that a consumer may be about to give back, by how the waits
// before ended. Who gives one back while somebody waits (a GPU that is behind, a sink with a
// clock) is waited for: that takes nothing from a stream that cannot be faster, and saves a
// copy. Who gives one back only for the next picture (analysis, frame interpolation, an encoder
// that looks ahead: they keep the last so many) is waited for in vain; and each picture that he
// has let go of gives new hope, so that he may get few pictures a second. So waits in vain are
// paid for: two in advance, the others with a part of the time that goes by, and with the time
// of the waits that were none. Not shorter ones in their place: what a sink with a clock gives
// back takes nearly as long, and would not come in time then.
// Plain data, guarded by whoever owns it.
class Patience {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::milliseconds;
  // A picture of a film, the fence behind it, and a turn on a busy machine.
  static constexpr Duration kLongest{100};
  static constexpr Duration kInAdvance = 2 * kLongest;
  // Of the time that goes by may be spent in vain.
  static constexpr int kPart = 20;

  // One is needed and not there: whether to wait, kLongest at the most.
  [[nodiscard]] bool is_worth_it(Clock::time_point now) {
    if (last_ != Clock::time_point{}) earn((now - last_) / kPart);
    last_ = now;
    return !kept_ && credit_ >= kLongest;
  }
  // The wait's end, unless somebody broke it off.
  void in_vain() {
    kept_ = true;
    credit_ -= kLongest;
  }
  void in_time(Clock::duration took) { earn(took); }
  // Whether a wait may last as long as copies come back, each within kLongest: they are none of
  // the surfaces that were waited for, but who gives them back while nothing comes to him goes
  // on by himself, and the surfaces are behind them. A queue in front of a sink with a clock is
  // like that, when a pause has filled it. Who ends up with surfaces that he keeps has run dry
  // by then, for kLongest; so the next such wait is far off, and the one after it farther.
  [[nodiscard]] bool may_follow_copies(Clock::time_point now) const {
    return now >= next_follow_;
  }
  void followed_in_vain(Clock::time_point now) {
    next_follow_ = now + follow_pause_;
    follow_pause_ *= 2;
  }
  // One came back, whenever. Before that nobody need wait again: some keep what they have for
  // ever.
  void returned() { kept_ = false; }

 private:
  void earn(Clock::duration time) { credit_ = std::min(credit_ + time, kMostCredit); }

  static constexpr Clock::duration kMostCredit = kInAdvance;
  Clock::duration credit_ = kMostCredit;
  Clock::time_point last_;  // occasion
  bool kept_ = false;       // nothing has come back since the last wait in vain
  Clock::time_point next_follow_;
  Clock::duration follow_pause_ = std::chrono::seconds{10};
};

}  // namespace dxva::surface
