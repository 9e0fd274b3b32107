// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What somebody can do who named a device that does not start.

#include <string>

#include "lib/drm/device_id.hpp"

namespace dxva::drm {

// A sentence; empty where neither the files nor the words of the failure tell. `device` is what
// people write ("/dev/dri/renderD128", "software", "cuda:1"), `error` why it does not start.
[[nodiscard]] std::string device_advice(const std::string& device, const std::string& error,
                                        const Roots& roots = {});

// The bundled driver's setting that `error` is about, "DXVASOFT_LAYOUT"; empty: about none.
[[nodiscard]] std::string bundled_driver_setting(const std::string& error);

}  // namespace dxva::drm
