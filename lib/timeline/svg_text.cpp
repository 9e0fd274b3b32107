// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/timeline/svg_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace dxva::timeline {
namespace {

// Bytes of the UTF-8 character that `text` starts with; 0: it starts with none that XML takes.
size_t character_at(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 || lead == '\n' || lead == '\t' ? 1 : 0;
  const size_t size = lead >= 0xc2 && lead < 0xe0   ? 2
                      : lead >= 0xe0 && lead < 0xf0 ? 3
                      : lead >= 0xf0 && lead < 0xf5 ? 4
                                                    : 0;
  if (size == 0 || size > text.size()) return 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Overlong forms, surrogates, what is above Unicode, and U+FFFE and U+FFFF.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) >= 0xa0) ||
      (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) >= 0x90) ||
      (lead == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe))
    return 0;
  return size;
}

}  // namespace

std::string number(double value, int digits) {
  std::array<char, 64> text{};
  if (!std::isfinite(value)) value = 0;
  const auto done = std::to_chars(text.data(), text.data() + text.size(), value,
                                  std::chars_format::fixed, digits);
  if (done.ec != std::errc()) return "0";
  std::string out(text.data(), done.ptr);
  if (out.find('.') == std::string::npos) return out;
  while (out.back() == '0') out.pop_back();
  if (out.back() == '.') out.pop_back();
  return out == "-0" ? "0" : out;
}

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t size = character_at(text);
    const char first = text.front();
    if (size == 0)
      out += "\xef\xbf\xbd";
    else if (first == '&')
      out += "&amp;";
    else if (first == '<')
      out += "&lt;";
    else if (first == '>')
      out += "&gt;";
    else if (first == '"')
      out += "&quot;";
    else
      out += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

Tag& Tag::operator()(const char* attribute, std::string_view value) {
  ((((out_ += ' ') += attribute) += "=\"") += escaped(value)) += '"';
  return *this;
}

void Tag::text(std::string_view content) {
  ((((out_ += '>') += escaped(content)) += "</") += name_) += ">\n";
}

}  // namespace dxva::timeline
