// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace dxva {

// Which step a stream is on, told from the steps of its frames. A frame on a lower step counts
// at once; frames on a better one count when enough came in a row, and after each time that was
// wrong, more are needed. One surface of many that cannot be exported would else make the
// stream change its step at every turn of the pool, and an application would be told each time.
// `Step` is an enum with the best step first. Plain data, guarded by whoever owns it.
template <typename Step>
class StepWatch {
 public:
  struct Change {
    Step from;
    Step to;
  };
  static constexpr uint32_t kSteadyFrames = 32;
  static constexpr uint32_t kMostSteadyFrames = 1024;

  // The next frame took `step`.
  [[nodiscard]] std::optional<Change> next(Step step) {
    if (!on_) {
      on_ = step;
      return std::nullopt;
    }
    if (step == *on_) {
      better_frames_ = 0;
      return std::nullopt;
    }
    if (step > *on_) return change_to(step);
    worst_of_better_ = better_frames_ == 0 ? step : std::max(worst_of_better_, step);
    if (++better_frames_ < needed_) return std::nullopt;
    needed_ = std::min(needed_ * 2, kMostSteadyFrames);
    return change_to(worst_of_better_);
  }

 private:
  Change change_to(Step step) {
    better_frames_ = 0;
    const Change change{.from = *on_, .to = step};
    on_ = step;
    return change;
  }

  std::optional<Step> on_;
  uint32_t better_frames_ = 0;
  Step worst_of_better_{};  // of those
  uint32_t needed_ = kSteadyFrames;
};

}  // namespace dxva
