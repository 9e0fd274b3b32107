// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>

namespace dxva::timeline {

// Numbers as SVG wants them, whatever the program's locale: at most `digits` behind the point.
[[nodiscard]] std::string number(double value, int digits = 2);
// Text for an element or an attribute: what XML cannot hold is replaced, UTF-8 that is none
// too.
[[nodiscard]] std::string escaped(std::string_view text);

// One element of SVG that is being written: `Tag(out, "rect")("x", 3.5)("class", "bad").end();`
// end() closes an element without content, open() leaves it to be closed by the caller.
class Tag {
 public:
  Tag(std::string& out, const char* name) : out_(out), name_(name) { (out_ += '<') += name; }
  Tag& operator()(const char* attribute, double value) {
    return (*this)(attribute, number(value));
  }
  Tag& operator()(const char* attribute, std::string_view value);
  void end() { out_ += "/>\n"; }
  void open() { out_ += ">\n"; }
  // With text inside.
  void text(std::string_view content);

 private:
  std::string& out_;
  const char* name_;
};

}  // namespace dxva::timeline
