// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// GST_DXVA_…: what people set in the environment. A value that nobody knows changes nothing,
// and whoever set it believes that it does; so somebody has to say it.

#include <map>
#include <string>
#include <vector>

namespace dxva {

// A setting that is not taken as it was meant.
struct Misunderstood {
  std::string setting;  // "GST_DXVA_ZEROCOPY=no"
  std::string what;     // a sentence
  std::string remedy;   // a sentence
};

// Of variables by name; those of others are passed over. Pure.
[[nodiscard]] std::vector<Misunderstood> misunderstood(
    const std::map<std::string, std::string>& environment);
// Of this process.
[[nodiscard]] std::vector<Misunderstood> misunderstood_variables();

}  // namespace dxva
