// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/timeline/svg.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "lib/timeline/canvas.hpp"
#include "lib/timeline/columns.hpp"
#include "lib/timeline/look.hpp"
#include "lib/timeline/rows.hpp"

namespace dxva::timeline {
namespace {

constexpr double kNotes = 240;      // right of the plots
constexpr double kPlot = 960;       // at least
constexpr double kLeastColumn = 3;  // width

using Looks = std::vector<StreamLook>;

bool stands_out(const StreamLook& look) {
  return std::any_of(look.frames.begin(), look.frames.end(),
                     [](const FrameLook& frame) { return frame.bad; });
}

bool takes(const StreamLook& look, std::string_view step) {
  return std::any_of(look.frames.begin(), look.frames.end(),
                     [step](const FrameLook& frame) { return step == frame.frame->step(); });
}

TimeScale scale_of(const Looks& looks) {
  TimeScale out{.plot_width = kPlot};
  trace::Time end;
  bool first = true;
  for (const StreamLook& look : looks) {
    out.plot_width =
        std::max(out.plot_width, kLeastColumn * static_cast<double>(look.frames.size()));
    for (const FrameLook& frame : look.frames) {
      if (frame.frame->spans.empty()) continue;
      out.start = first ? frame.begin : std::min(out.start, frame.begin);
      end = first ? frame.end : std::max(end, frame.end);
      first = false;
    }
  }
  out.run_ms = std::max(ms_between(out.start, end), 0.001);
  return out;
}

// Returns where the next one can be.
double draw_swatch(Canvas& canvas, double x, double y, const char* colour, const char* name) {
  canvas.rect(x, y - 10, 12, 12, colour);
  canvas.text(x + 17, y, name);
  return x + 17 + 7.0 * static_cast<double>(std::string_view(name).size()) + 18;
}

double draw_legend(Canvas& canvas, const Looks& looks, double y) {
  double x = kLeft;
  canvas.text(kLeft - 10, y, "step", "end");
  for (const Colour& step : kSteps)
    if (std::any_of(looks.begin(), looks.end(),
                    [&step](const StreamLook& look) { return takes(look, step.name); }))
      x = draw_swatch(canvas, x, y, step.colour, step.name);
  if (std::any_of(looks.begin(), looks.end(), stands_out)) {
    canvas.styled_rect(x, y - 10, 12, 12, "wash");
    canvas.flag(x + 6, y - 5);
    canvas.text(x + 17, y, "worse than the stream can, or damaged");
  }
  y += kLine;
  x = kLeft;
  canvas.text(kLeft - 10, y, "time", "end");
  for (size_t i = 0; i < trace::kStages; ++i) {
    const auto stage = static_cast<trace::Stage>(i);
    x = draw_swatch(canvas, x, y, colour_of(stage), trace::stage_name(stage));
  }
  return y + kLine;
}

double draw_stream(Canvas& canvas, const StreamLook& look, const TimeScale& scale, double y) {
  canvas.text(kLeft, y, look.stream->name, "name");
  y += kLine;
  canvas.text(kLeft, y, look.summary, stands_out(look) ? "note" : "");
  const uint64_t counted = look.stream->frames_told - look.frames.size();
  if (counted > 0) {
    y += kLine;
    canvas.text(kLeft, y,
                "Drawn are the last " + std::to_string(look.frames.size()) + "; the " +
                    std::to_string(counted) + " before them are counted only.");
  }
  y = draw_columns(canvas, look, scale.plot_width, y);
  return draw_rows(canvas, look, scale, y);
}

}  // namespace

std::string draw(const Streams& streams) {
  Looks looks;
  for (const Stream& one : streams) looks.push_back(look_at(one));
  const TimeScale scale = scale_of(looks);
  Canvas canvas;
  double y = 30;
  canvas.text(kLeft, y, "Where the time of each frame went", "title");
  y += kLine + 8;
  if (looks.empty())
    canvas.text(kLeft, y, "No frame went through dxvadec or dxvaglupload.");
  else
    y = draw_legend(canvas, looks, y);
  y += 14;
  for (const StreamLook& look : looks) y = draw_stream(canvas, look, scale, y);
  return canvas.svg(kLeft + scale.plot_width + kNotes, y);
}

}  // namespace dxva::timeline
