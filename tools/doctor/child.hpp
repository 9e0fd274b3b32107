// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tools/doctor/json.hpp"

namespace dxva::doctor {

// Runs this program again with `arguments` and reads the JSON object that it prints. Drivers
// run in such children only: one that crashes or hangs is what a doctor must be able to report.
// What comes back then has "error" ("crashed: Segmentation fault", "hangs in vaInitialize: …",
// …) and "log", the end of what the child wrote to stderr. A child sees itself that it hangs
// (hang_watch.hpp); who waits for `whom` for some seconds is told so on stderr.
[[nodiscard]] Json run_child(const std::vector<std::string>& arguments,
                             const std::string& whom);

}  // namespace dxva::doctor
