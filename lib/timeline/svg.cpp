// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/timeline/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "lib/timeline/look.hpp"
#include "lib/timeline/svg_text.hpp"

namespace dxva::timeline {
namespace {

// Units of the picture, that is pixels.
constexpr double kLeft = 135;     // names of rows
constexpr double kRight = 240;    // notes on rows
constexpr double kPlot = 960;     // at least
constexpr double kColumns = 150;  // height
constexpr double kStrip = 8;      // of the step, below the columns
constexpr double kRow = 14;
constexpr double kLine = 18;  // of text

struct Colour {
  const char* name;
  const char* colour;
};
// Green where nothing is copied, warm where something is; told apart also by those who do not
// see red beside green, because they differ in lightness.
constexpr std::array<Colour, 7> kSteps{{{"egl", "#2a9d5c"},
                                        {"memory-object", "#1f9e9e"},
                                        {"exported", "#8fd3a8"},
                                        {"gpu-copy", "#f2b705"},
                                        {"cpu-copy", "#d7301f"},
                                        {"software", "#7b3294"},
                                        {"dropped", "#000000"}}};
// In the order of trace::Stage.
constexpr std::array<const char*, trace::kStages> kStageColours{
    "#4c78a8", "#c7ccd1", "#9ecae9", "#e8743b", "#76b7b2", "#e3b23c", "#a58fc0"};

const char* colour_of(const char* step) {
  for (const Colour& one : kSteps)
    if (std::string_view(one.name) == step) return one.colour;
  return "#666666";
}

const char* colour_of(trace::Stage stage) {
  return kStageColours[static_cast<size_t>(stage)];
}

constexpr const char* kStyle =
    "text{font:12px sans-serif;fill:#333}"
    ".title{font-size:17px;font-weight:bold}"
    ".name{font-size:14px;font-weight:bold}"
    ".end{text-anchor:end}.middle{text-anchor:middle}"
    ".small{font-size:10px;fill:#666}"
    ".note{fill:#b3190c;font-weight:bold}"
    ".line{stroke:#e4e4e4}.axis{stroke:#888}"
    ".wash{fill:#d7301f;fill-opacity:.16}.flag{fill:#b3190c}"
    ".outlined{stroke:#7a0f06;stroke-width:1.5}"
    ".hit{fill:#fff;fill-opacity:0}g.frame:hover .hit{fill:#888;fill-opacity:.25}";

class Page {
 public:
  explicit Page(const Streams& streams);
  std::string draw();

 private:
  void legend();
  void stream(const StreamLook& look);
  void columns(const StreamLook& look);
  void column(const StreamLook& look, const FrameLook& frame, double x, double width,
              double top_ms, double bottom);
  void frame_numbers(const StreamLook& look, double width, double y);
  void rows(const StreamLook& look);
  void life(const FrameLook& frame, double y);
  void time_axis(double y);

  void rect(double x, double y, double width, double height, const char* colour,
            double opacity = 1) {
    Tag tag(out_, "rect");
    tag("x", x)("y", y)("width", width)("height", height)("fill", colour);
    if (opacity < 1) tag("fill-opacity", opacity);
    tag.end();
  }
  void line(double x1, double y1, double x2, double y2, const char* style) {
    Tag(out_, "line")("x1", x1)("y1", y1)("x2", x2)("y2", y2)("class", style).end();
  }
  void text(double x, double y, std::string_view content, const char* style = "") {
    Tag tag(out_, "text");
    tag("x", x)("y", y);
    if (*style) tag("class", std::string_view(style));
    tag.text(content);
  }
  void swatch(double& x, const char* colour, const char* name) {
    rect(x, y_ - 10, 12, 12, colour);
    text(x + 17, y_, name);
    x += 17 + 7.0 * static_cast<double>(std::string_view(name).size()) + 18;
  }
  [[nodiscard]] double x_of(trace::Time time) const {
    return kLeft + ms_between(start_, time) / run_ms_ * plot_;
  }

  std::vector<StreamLook> looks_;
  bool any_bad_ = false;
  trace::Time start_;
  double run_ms_ = 1;
  double plot_ = kPlot;  // width
  std::string out_;
  double y_ = 0;
};

Page::Page(const Streams& streams) {
  size_t most = 0;
  trace::Time end;
  bool first = true;
  for (const Stream& one : streams) {
    looks_.push_back(look_at(one));
    most = std::max(most, one.frames.size());
    for (const FrameLook& frame : looks_.back().frames) {
      any_bad_ |= frame.bad;
      if (frame.frame->spans.empty()) continue;
      start_ = first ? frame.begin : std::min(start_, frame.begin);
      end = first ? frame.end : std::max(end, frame.end);
      first = false;
    }
  }
  run_ms_ = std::max(ms_between(start_, end), 0.001);
  plot_ = std::max(kPlot, 3.0 * static_cast<double>(most));
}

void Page::legend() {
  double x = kLeft;
  text(kLeft - 10, y_, "step", "end");
  for (const Colour& step : kSteps) {
    bool seen = false;
    for (const StreamLook& look : looks_)
      for (const FrameLook& frame : look.frames)
        seen |= std::string_view(step.name) == frame.frame->step();
    if (seen) swatch(x, step.colour, step.name);
  }
  if (any_bad_) {
    Tag(out_, "rect")("x", x)("y", y_ - 10)("width", 12)("height", 12)("class", "wash").end();
    Tag(out_, "path")("d", "M" + number(x) + " " + number(y_ - 12) + "h12l-6 8z")("class",
                                                                                  "flag")
        .end();
    text(x + 17, y_, "worse than the stream can, or damaged");
  }
  y_ += kLine;
  x = kLeft;
  text(kLeft - 10, y_, "time", "end");
  for (size_t i = 0; i < trace::kStages; ++i)
    swatch(x, kStageColours[i], trace::stage_name(static_cast<trace::Stage>(i)));
  y_ += kLine;
}

// One frame: what it did, from below in the order of stages, and the colour of its step.
void Page::column(const StreamLook& look, const FrameLook& frame, double x, double width,
                  double top_ms, double bottom) {
  const Frame& told = *frame.frame;
  Tag group(out_, "g");
  group("class", "frame")("data-stream", look.stream->name)(
      "data-frame", std::to_string(told.index))("data-surface", std::to_string(told.surface))(
      "data-step", told.step())("data-reason", told.reason());
  if (frame.bad) group("data-bad", "yes");
  for (size_t i = 0; i < trace::kStages; ++i)
    if (frame.ms[i] > 0)
      group((std::string("data-") + trace::stage_name(static_cast<trace::Stage>(i))).c_str(),
            number(frame.ms[i], 4));
  group.open();
  Tag(out_, "title").text(frame.tip);
  const double top = bottom - kColumns;
  if (frame.bad) {
    Tag(out_, "rect")("x", x)("y", top - 8)("width", width)("height", kColumns + 8)("class",
                                                                                    "wash")
        .end();
    const double middle = x + width / 2;
    Tag(out_, "path")("d", "M" + number(middle - 4) + " " + number(top - 14) + "h8l-4 7z")(
        "class", "flag")
        .end();
  }
  const double gap = width > 5 ? 1 : 0;
  double height = 0;
  for (size_t i = 0; i < trace::kStages; ++i) {
    const double part = std::min(frame.ms[i] / top_ms * kColumns, kColumns - height);
    if (part <= 0) continue;
    height += part;
    rect(x, bottom - height, width - gap, part, kStageColours[i]);
  }
  // Cut: a gap in the column says that it goes on.
  if (frame.total_ms > top_ms * 1.001) rect(x, top + 6, width - gap, 3, "#ffffff");
  rect(x, bottom + 2, width - gap, kStrip, colour_of(told.step()));
  Tag(out_, "rect")("x", x)("y", top)("width", width)("height", kColumns + kStrip + 2)("class",
                                                                                       "hit")
      .end();
  out_ += "</g>\n";
}

void Page::frame_numbers(const StreamLook& look, double width, double y) {
  const double count = static_cast<double>(look.frames.size());
  const auto step = static_cast<uint64_t>(
      std::max(1.0, line_distance(count, static_cast<int>(count * width / 60) + 1)));
  for (size_t i = 0; i < look.frames.size(); ++i) {
    const uint64_t index = look.frames[i].frame->index;
    if (index % step == 0)
      text(kLeft + (static_cast<double>(i) + 0.5) * width, y, std::to_string(index),
           "small middle");
  }
  text(kLeft - 10, y, "frame", "small end");
}

void Page::columns(const StreamLook& look) {
  const double top_ms = fair_top(look.frames);
  const double width =
      std::min(18.0, plot_ / static_cast<double>(std::max<size_t>(look.frames.size(), 1)));
  y_ += 24;
  const double bottom = y_ + kColumns;
  const double distance = line_distance(top_ms, 4);
  const double end = kLeft + width * static_cast<double>(look.frames.size());
  for (int i = 0; i * distance <= top_ms * 1.0001; ++i) {
    const double y = bottom - i * distance / top_ms * kColumns;
    line(kLeft, y, end, y, i == 0 ? "axis" : "line");
    text(kLeft - 10, y + 4, number(i * distance, 3) + " ms", "small end");
  }
  double cut_label_until = 0;
  for (size_t i = 0; i < look.frames.size(); ++i) {
    const double x = kLeft + static_cast<double>(i) * width;
    column(look, look.frames[i], x, width, top_ms, bottom);
    if (look.frames[i].total_ms > top_ms * 1.001 && x >= cut_label_until) {
      const std::string height = number(look.frames[i].total_ms, 1) + " ms";
      text(x + width + 2, y_ + 9, height, "small");
      cut_label_until = x + 8.0 * static_cast<double>(height.size());
    }
  }
  y_ = bottom + kStrip + 14;
  frame_numbers(look, width, y_);
  y_ += kLine;
}

// From the first work on the frame until the last reader was done with it.
void Page::life(const FrameLook& frame, double y) {
  if (frame.frame->spans.empty()) return;
  Tag(out_, "g")("class", "life")("data-frame", std::to_string(frame.frame->index)).open();
  Tag(out_, "title").text(frame.tip);
  const double x = x_of(frame.begin);
  const double width = std::max(x_of(frame.end) - x, 1.0);
  Tag bar(out_, "rect");
  bar("x", x)("y", y)("width", width)("height", kRow - 3)("fill",
                                                          colour_of(frame.frame->step()));
  if (frame.bad)
    bar("class", "outlined");
  else
    bar("fill-opacity", 0.45);
  bar.end();
  for (const trace::Span& span : frame.frame->spans)
    rect(x_of(span.begin), y + kRow - 8, std::max(x_of(span.end) - x_of(span.begin), 0.4), 4,
         colour_of(span.stage));
  out_ += "</g>\n";
}

void Page::time_axis(double y) {
  const double distance = line_distance(run_ms_, static_cast<int>(plot_ / 90));
  for (int i = 0; i * distance <= run_ms_ * 1.0001; ++i) {
    const double x = kLeft + i * distance / run_ms_ * plot_;
    line(x, y_, x, y, "line");
    text(x, y + 12, number(i * distance, 3) + (i == 0 ? " ms" : ""), "small middle");
  }
}

void Page::rows(const StreamLook& look) {
  const auto all = rows_of(look);
  const double bottom = y_ + kRow * static_cast<double>(all.size());
  time_axis(bottom);
  for (const Row& row : all) {
    text(kLeft - 10, y_ + 10, row.name, row.note.empty() ? "small end" : "small end note");
    for (const FrameLook* frame : row.frames) life(*frame, y_);
    if (!row.note.empty()) text(kLeft + plot_ + 8, y_ + 10, row.note, "small note");
    y_ += kRow;
  }
  line(kLeft, bottom, kLeft + plot_, bottom, "axis");
  y_ = bottom + 34;
}

void Page::stream(const StreamLook& look) {
  text(kLeft, y_, look.stream->name, "name");
  y_ += kLine;
  const bool bad = std::any_of(look.frames.begin(), look.frames.end(),
                               [](const FrameLook& frame) { return frame.bad; });
  text(kLeft, y_, look.summary, bad ? "note" : "");
  const uint64_t counted = look.stream->frames_told - look.frames.size();
  if (counted > 0) {
    y_ += kLine;
    text(kLeft, y_,
         "Drawn are the last " + std::to_string(look.frames.size()) + "; the " +
             std::to_string(counted) + " before them are counted only.");
  }
  columns(look);
  rows(look);
}

std::string Page::draw() {
  y_ = 30;
  text(kLeft, y_, "Where the time of each frame went", "title");
  y_ += kLine + 8;
  if (looks_.empty())
    text(kLeft, y_, "No frame went through dxvadec or dxvaglupload.");
  else
    legend();
  y_ += 14;
  for (const StreamLook& look : looks_) stream(look);
  const double width = kLeft + plot_ + kRight;
  const std::string body = std::move(out_);
  out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  Tag(out_, "svg")("xmlns", "http://www.w3.org/2000/svg")("width", width)("height", y_)(
      "viewBox", "0 0 " + number(width) + " " + number(y_))
      .open();
  Tag(out_, "style").text(kStyle);
  rect(0, 0, width, y_, "#ffffff");
  return out_ + body + "</svg>\n";
}

}  // namespace

std::string draw(const Streams& streams) {
  return Page(streams).draw();
}

}  // namespace dxva::timeline
