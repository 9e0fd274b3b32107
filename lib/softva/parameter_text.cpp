// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/parameter_text.hpp"

namespace dxva::softva {

void ParameterText::line(std::string_view name, std::string_view value) {
  text_ += section_;
  text_ += '.';
  for (const std::string_view between : {".bits.", ".fields."}) {
    if (const size_t at = name.find(between); at != std::string_view::npos) {
      text_ += name.substr(0, at + 1);
      name.remove_prefix(at + between.size());
      break;
    }
  }
  text_ += name;
  text_ += '=';
  text_ += value;
  text_ += '\n';
}

}  // namespace dxva::softva
