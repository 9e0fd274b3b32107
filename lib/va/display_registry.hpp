// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <functional>
#include <memory>
#include <string>

#include "lib/base/result.hpp"

namespace dxva::va {

class Display;

// One display per device and process: surfaces can be shared only inside one, and some drivers
// take a second start on the same GPU badly. Thread-safe.
//
// Starting and stopping happen one at a time, with all other callers waiting: drivers are not
// written for being started twice at once, or started while the last user's vaTerminate still
// runs. So the last user of a display may wait for somebody who opens one; and nobody may open
// a display, or let one go, inside `make`.
//
// A forked child begins with an empty registry: what it opens is its own (ForkGuard).
using MakeDisplay = std::function<Result<std::unique_ptr<Display>>()>;

// `key` names the device; `make` runs when nobody has its display now.
[[nodiscard]] Result<std::shared_ptr<Display>> find_or_start(const std::string& key,
                                                             const MakeDisplay& make);

// The display around a VADisplay that may be somebody else's. A new one is also found under
// `key`, unless that is empty or its device has a display already.
[[nodiscard]] Result<std::shared_ptr<Display>> find_or_adopt(VADisplay handle,
                                                             const std::string& key,
                                                             const MakeDisplay& make);

// Nobody finds this display by its device any more: who opens that gets a new start, although
// others still hold the old one.
void forget_device_of(const Display& display);

}  // namespace dxva::va
