// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/test_switch.hpp"

#include <cstdlib>
#include <string_view>

namespace dxva {

TestSwitch TestSwitch::parse(const char* list) {
  TestSwitch out;
  std::string_view rest = list ? list : "";
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    if (word == "memfd")
      out.memfd = true;
    else if (word == "software-import")
      out.software_import = true;
    else if (word == "upload-ring")
      out.upload_ring = true;
    else if (word == "read-in-place")
      out.read_in_place = true;
    else if (word == "verify")
      out.verify = true;
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
