// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tools/doctor/json.hpp"

namespace dxva::doctor {

// Runs this program again with `arguments` and reads the JSON object that it prints. Drivers
// run in such children only: one that crashes or hangs is what a doctor must be able to report.
// What comes back then has "error" ("crashed: Segmentation fault", "hangs", …) and "log", the
// end of what the child wrote to stderr.
[[nodiscard]] Json run_child(const std::vector<std::string>& arguments);

}  // namespace dxva::doctor
