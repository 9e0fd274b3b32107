// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/timeline/rows.hpp"

#include <algorithm>
#include <string>

namespace dxva::timeline {
namespace {

constexpr double kRow = 14;

// From the first work on the frame until the last reader was done with it.
void draw_life(Canvas& canvas, const TimeScale& scale, const FrameLook& frame, double y) {
  if (frame.frame->spans.empty()) return;
  canvas.tag("g")("class", "life")("data-frame", std::to_string(frame.frame->index)).open();
  canvas.tip(frame.tip);
  const double x = scale.x_of(frame.begin);
  const double width = std::max(scale.x_of(frame.end) - x, 1.0);
  Tag bar = canvas.tag("rect");
  bar("x", x)("y", y)("width", width)("height", kRow - 3)("fill",
                                                          colour_of(frame.frame->step()));
  if (frame.bad)
    bar("class", "outlined");
  else
    bar("fill-opacity", 0.45);
  bar.end();
  for (const trace::Span& span : frame.frame->spans)
    canvas.rect(scale.x_of(span.begin), y + kRow - 8,
                std::max(scale.x_of(span.end) - scale.x_of(span.begin), 0.4), 4,
                colour_of(span.stage));
  canvas.end_group();
}

void draw_axis(Canvas& canvas, const TimeScale& scale, double top, double y) {
  const double distance = line_distance(scale.run_ms, static_cast<int>(scale.plot_width / 90));
  for (int i = 0; i * distance <= scale.run_ms * 1.0001; ++i) {
    const double x = kLeft + i * distance / scale.run_ms * scale.plot_width;
    canvas.line(x, top, x, y, "line");
    canvas.text(x, y + 12, number(i * distance, 3) + (i == 0 ? " ms" : ""), "small middle");
  }
}

}  // namespace

double draw_rows(Canvas& canvas, const StreamLook& look, const TimeScale& scale, double y) {
  const auto all = rows_of(look);
  const double bottom = y + kRow * static_cast<double>(all.size());
  draw_axis(canvas, scale, y, bottom);
  for (const Row& row : all) {
    canvas.text(kLeft - 10, y + 10, row.name,
                row.note.empty() ? "small end" : "small end note");
    for (const FrameLook* frame : row.frames) draw_life(canvas, scale, *frame, y);
    if (!row.note.empty())
      canvas.text(kLeft + scale.plot_width + 8, y + 10, row.note, "small note");
    y += kRow;
  }
  canvas.line(kLeft, bottom, kLeft + scale.plot_width, bottom, "axis");
  return bottom + 34;
}

}  // namespace dxva::timeline
