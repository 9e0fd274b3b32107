// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/timeline/columns.hpp"

#include <algorithm>
#include <string>

namespace dxva::timeline {
namespace {

constexpr double kHeight = 150;
constexpr double kStrip = 8;  // of the step, below the columns

// One frame: what it did, from below in the order of stages, and the colour of its step.
void draw_column(Canvas& canvas, const StreamLook& look, const FrameLook& frame, double x,
                 double width, double top_ms, double bottom) {
  const Frame& told = *frame.frame;
  Tag group = canvas.tag("g");
  group("class", "frame")("data-stream", look.stream->name)(
      "data-frame", std::to_string(told.index))("data-surface", std::to_string(told.surface))(
      "data-step", told.step())("data-reason", told.reason());
  if (frame.bad) group("data-bad", "yes");
  for (size_t i = 0; i < trace::kStages; ++i)
    if (frame.ms[i] > 0)
      group((std::string("data-") + trace::stage_name(static_cast<trace::Stage>(i))).c_str(),
            number(frame.ms[i], 4));
  group.open();
  canvas.tip(frame.tip);
  const double top = bottom - kHeight;
  if (frame.bad) {
    canvas.styled_rect(x, top - 8, width, kHeight + 8, "wash");
    canvas.flag(x + width / 2, top - 7);
  }
  const double gap = width > 5 ? 1 : 0;
  double height = 0;
  for (size_t i = 0; i < trace::kStages; ++i) {
    const double part = std::min(frame.ms[i] / top_ms * kHeight, kHeight - height);
    if (part <= 0) continue;
    height += part;
    canvas.rect(x, bottom - height, width - gap, part, colour_of(static_cast<trace::Stage>(i)));
  }
  // Cut: a gap in the column says that it goes on.
  if (frame.total_ms > top_ms * 1.001) canvas.rect(x, top + 6, width - gap, 3, "#ffffff");
  canvas.rect(x, bottom + 2, width - gap, kStrip, colour_of(told.step()));
  canvas.styled_rect(x, top, width, kHeight + kStrip + 2, "hit");
  canvas.end_group();
}

void draw_frame_numbers(Canvas& canvas, const StreamLook& look, double width, double y) {
  const double count = static_cast<double>(look.frames.size());
  const auto step = static_cast<uint64_t>(
      std::max(1.0, line_distance(count, static_cast<int>(count * width / 60) + 1)));
  for (size_t i = 0; i < look.frames.size(); ++i) {
    const uint64_t index = look.frames[i].frame->index;
    if (index % step == 0)
      canvas.text(kLeft + (static_cast<double>(i) + 0.5) * width, y, std::to_string(index),
                  "small middle");
  }
  canvas.text(kLeft - 10, y, "frame", "small end");
}

}  // namespace

double draw_columns(Canvas& canvas, const StreamLook& look, double plot_width, double y) {
  const double top_ms = fair_top(look.frames);
  const double width =
      std::min(18.0, plot_width / static_cast<double>(std::max<size_t>(look.frames.size(), 1)));
  const double top = y + 24;
  const double bottom = top + kHeight;
  const double distance = line_distance(top_ms, 4);
  const double end = kLeft + width * static_cast<double>(look.frames.size());
  for (int i = 0; i * distance <= top_ms * 1.0001; ++i) {
    const double at = bottom - i * distance / top_ms * kHeight;
    canvas.line(kLeft, at, end, at, i == 0 ? "axis" : "line");
    canvas.text(kLeft - 10, at + 4, number(i * distance, 3) + " ms", "small end");
  }
  double cut_label_until = 0;
  for (size_t i = 0; i < look.frames.size(); ++i) {
    const double x = kLeft + static_cast<double>(i) * width;
    draw_column(canvas, look, look.frames[i], x, width, top_ms, bottom);
    if (look.frames[i].total_ms > top_ms * 1.001 && x >= cut_label_until) {
      const std::string height = number(look.frames[i].total_ms, 1) + " ms";
      canvas.text(x + width + 2, top + 9, height, "small");
      cut_label_until = x + 8.0 * static_cast<double>(height.size());
    }
  }
  const double numbers = bottom + kStrip + 14;
  draw_frame_numbers(canvas, look, width, numbers);
  return numbers + kLine;
}

}  // namespace dxva::timeline
