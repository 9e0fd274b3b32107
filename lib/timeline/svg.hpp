// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "lib/timeline/timeline.hpp"

namespace dxva::timeline {

// An SVG picture for people, which programs can read as well. For each stream: a column for
// each frame, as high as the time that it took, in the colours of its stages, above the colour
// of its step; and below it a row for each surface over the time of the run. A frame on a worse
// step than the stream's best, or a damaged one, stands out in both. Pointing at a frame tells
// all about it.
//
// Elements <g class="frame"> have data-stream, data-frame (from 0), data-surface, data-step,
// data-reason, and data-bad="yes" where the frame stands out; times as data-decode, …, in
// milliseconds.
[[nodiscard]] std::string draw(const Streams& streams);

}  // namespace dxva::timeline
