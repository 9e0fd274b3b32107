// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "lib/base/trace.hpp"
#include "lib/timeline/svg_text.hpp"

namespace dxva::timeline {

// Units of the picture, that is pixels.
inline constexpr double kLeft = 135;  // of the plots: names of rows stand there
inline constexpr double kLine = 18;   // of text

struct Colour {
  const char* name;
  const char* colour;
};
// Green where nothing is copied, warm where something is; told apart also by those who do not
// see red beside green, because they differ in lightness.
inline constexpr std::array<Colour, 7> kSteps{{{"egl", "#2a9d5c"},
                                               {"memory-object", "#1f9e9e"},
                                               {"exported", "#8fd3a8"},
                                               {"gpu-copy", "#f2b705"},
                                               {"cpu-copy", "#d7301f"},
                                               {"software", "#7b3294"},
                                               {"dropped", "#000000"}}};
[[nodiscard]] const char* colour_of(const char* step);
[[nodiscard]] const char* colour_of(trace::Stage stage);

// The shapes that the picture consists of, written one after the other. `style` is a class of
// the picture's style sheet.
class Canvas {
 public:
  void rect(double x, double y, double width, double height, const char* colour);
  void styled_rect(double x, double y, double width, double height, const char* style);
  // Points down at (x, y).
  void flag(double x, double y);
  void line(double x1, double y1, double x2, double y2, const char* style);
  void text(double x, double y, std::string_view content, const char* style = "");
  // <title>, which browsers show at the pointer.
  void tip(std::string_view content) { Tag(out_, "title").text(content); }
  [[nodiscard]] Tag tag(const char* name) { return Tag(out_, name); }
  void end_group() { out_ += "</g>\n"; }

  // The whole file.
  [[nodiscard]] std::string svg(double width, double height) const;

 private:
  std::string out_;
};

}  // namespace dxva::timeline
