// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tools/doctor/json.hpp"
#include "tools/doctor/verdict.hpp"

namespace dxva::doctor {

// The findings for a person at a terminal, the verdict last.
[[nodiscard]] std::string text_report(const Json& findings, const Verdict& verdict);
// The same as one HTML file that needs nothing else, with the decoded picture beside the right
// one and the whole document at its end.
[[nodiscard]] std::string html_report(const Json& findings, const Verdict& verdict);

}  // namespace dxva::doctor
