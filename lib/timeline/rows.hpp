// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "lib/timeline/canvas.hpp"
#include "lib/timeline/look.hpp"

namespace dxva::timeline {

// From the first work on any frame to the end of the last.
struct TimeScale {
  trace::Time start;
  double run_ms = 1;
  double plot_width = 1;

  [[nodiscard]] double x_of(trace::Time time) const {
    return kLeft + ms_between(start, time) / run_ms * plot_width;
  }
};

// A row for each surface over the time of the run, from `y` down. Where the next thing can be
// drawn.
double draw_rows(Canvas& canvas, const StreamLook& look, const TimeScale& scale, double y);

}  // namespace dxva::timeline
