// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What is to be seen of a stream, worked out before any of it is drawn.

#include <array>
#include <string>
#include <vector>

#include "lib/timeline/timeline.hpp"

namespace dxva::timeline {

[[nodiscard]] double ms_between(trace::Time from, trace::Time to);

struct FrameLook {
  const Frame* frame = nullptr;
  std::array<double, trace::kStages> ms{};  // of each stage, without what lies inside it
  double total_ms = 0;
  trace::Time begin;  // of its first stage; the epoch where it has none
  trace::Time end;    // of its last one, or when its surface was home again
  bool bad = false;   // to stand out
  std::string tip;    // all about it, in lines
};

struct StreamLook {
  const Stream* stream = nullptr;
  std::vector<FrameLook> frames;
  std::string summary;  // "64 frames: egl 55, cpu-copy 9 (export-failed 9)"
};

[[nodiscard]] StreamLook look_at(const Stream& stream);

// A surface's row; those of frames without one are counted from 0, as few as hold them side by
// side.
struct Row {
  std::string name;
  std::vector<const FrameLook*> frames;
  std::string note;  // "7 of 8: export-failed"; empty where nothing stands out
};
[[nodiscard]] std::vector<Row> rows_of(const StreamLook& look);

// Where a scale that ends near `top` has its lines: 1, 2 or 5 of some power of ten apart, about
// `lines` of them.
[[nodiscard]] double line_distance(double top, int lines);
// The end of the scale for heights of which a few may be far above all others: those are cut.
[[nodiscard]] double fair_top(const std::vector<FrameLook>& frames);

}  // namespace dxva::timeline
