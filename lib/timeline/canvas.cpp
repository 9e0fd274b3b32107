// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/timeline/canvas.hpp"

namespace dxva::timeline {
namespace {

// In the order of trace::Stage.
constexpr std::array<const char*, trace::kStages> kStageColours{
    "#4c78a8", "#c7ccd1", "#9ecae9", "#e8743b", "#76b7b2", "#e3b23c", "#a58fc0"};

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

}  // namespace

const char* colour_of(const char* step) {
  for (const Colour& one : kSteps)
    if (std::string_view(one.name) == step) return one.colour;
  return "#666666";
}

const char* colour_of(trace::Stage stage) {
  return kStageColours[static_cast<size_t>(stage)];
}

void Canvas::rect(double x, double y, double width, double height, const char* colour) {
  tag("rect")("x", x)("y", y)("width", width)("height", height)("fill", colour).end();
}

void Canvas::styled_rect(double x, double y, double width, double height, const char* style) {
  tag("rect")("x", x)("y", y)("width", width)("height", height)("class", style).end();
}

void Canvas::flag(double x, double y) {
  const std::string path = "M" + number(x - 4) + " " + number(y - 7) + "h8l-4 7z";
  tag("path")("d", path)("class", "flag").end();
}

void Canvas::line(double x1, double y1, double x2, double y2, const char* style) {
  tag("line")("x1", x1)("y1", y1)("x2", x2)("y2", y2)("class", style).end();
}

void Canvas::text(double x, double y, std::string_view content, const char* style) {
  Tag text = tag("text");
  text("x", x)("y", y);
  if (*style) text("class", std::string_view(style));
  text.text(content);
}

std::string Canvas::svg(double width, double height) const {
  Canvas page;
  page.out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  page.tag("svg")("xmlns", "http://www.w3.org/2000/svg")("width", width)("height", height)(
          "viewBox", "0 0 " + number(width) + " " + number(height))
      .open();
  page.tag("style").text(kStyle);
  page.rect(0, 0, width, height, "#ffffff");
  return page.out_ + out_ + "</svg>\n";
}

}  // namespace dxva::timeline
