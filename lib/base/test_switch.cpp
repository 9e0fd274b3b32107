// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/test_switch.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace dxva {

namespace {

struct Word {
  std::string_view word;
  bool TestSwitch::*on;
};
constexpr Word kWords[] = {
    {"memfd", &TestSwitch::memfd},
    {"software-import", &TestSwitch::software_import},
    {"upload-ring", &TestSwitch::upload_ring},
    {"read-in-place", &TestSwitch::read_in_place},
    {"verify", &TestSwitch::verify},
};

}  // namespace

std::string TestSwitch::words() {
  std::string out;
  for (const Word& one : kWords) out += (out.empty() ? "" : ",") + std::string(one.word);
  return out;
}

TestSwitch TestSwitch::parse(const char* list) {
  TestSwitch out;
  std::string_view rest = list ? list : "";
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    const auto* known = std::find_if(std::begin(kWords), std::end(kWords),
                                     [&](const Word& one) { return one.word == word; });
    if (known != std::end(kWords))
      out.*known->on = true;
    else if (!word.empty())
      out.unknown.emplace_back(word);
  }
  return out;
}

const TestSwitch& test_switch() {
  static const TestSwitch value = TestSwitch::parse(std::getenv("GST_DXVA_TEST"));
  return value;
}

}  // namespace dxva
