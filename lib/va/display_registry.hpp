// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lib/base/result.hpp"

namespace dxva::va {

class Display;

// One display per device and process: surfaces can be shared only inside one, and some drivers
// take a second start on the same GPU badly. `key` names the device; `start` runs when nobody
// holds its display now, with other callers of any key waiting, because drivers are not written
// for being started twice at the same time. Thread-safe.
[[nodiscard]] Result<std::shared_ptr<Display>> find_or_start(
    const std::string& key, const std::function<Result<std::shared_ptr<Display>>()>& start);

}  // namespace dxva::va
