// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "lib/timeline/canvas.hpp"
#include "lib/timeline/look.hpp"

namespace dxva::timeline {

// A column for each frame, from `y` down. Where the next thing can be drawn.
double draw_columns(Canvas& canvas, const StreamLook& look, double plot_width, double y);

}  // namespace dxva::timeline
