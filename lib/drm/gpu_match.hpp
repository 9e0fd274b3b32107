// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Which GPU decodes for which GPU that draws, and what to tell people when they are not the
// same. Nobody reads another maker's tiling, and even two GPUs of one maker have memories of
// their own: between two of them only linear memory can be shared, often not even that. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/drm/device_id.hpp"

namespace dxva::drm {

// Why the decoder is on the GPU where it is.
enum class Cause {
  Asked,     // somebody named it
  NoDriver,  // OpenGL's GPU was tried first, and no VA-API driver decodes there
  Late,      // decoding had begun before OpenGL's GPU was known
};

struct Placement {
  Device decoder;
  // Nothing: not known, or OpenGL draws without a GPU.
  std::optional<Device> renderer;
  Cause cause = Cause::Late;
  std::string_view asked_by;   // of Cause::Asked: "device=/dev/dri/card1"
  std::string_view va_driver;  // LIBVA_DRIVER_NAME; empty: not set
};

// Whether frames must go from one GPU to another.
[[nodiscard]] bool crosses_gpus(const Placement& placement);

// "Pictures are decoded on … and drawn on …", why, and what helps. Empty when both are one GPU.
[[nodiscard]] std::string describe_mismatch(const Placement& placement);

// LIBVA_DRIVER_NAME makes libva load that driver on every GPU: a sentence when the kernel's
// driver of this one is known to need another. Empty: nothing to say.
[[nodiscard]] std::string driver_contradiction(const Device& device,
                                               std::string_view va_driver);

// Where `device=auto` looks for a decoder: OpenGL's GPU before all others, the others in the
// order of their numbers.
[[nodiscard]] std::vector<std::string> order_of_trial(std::vector<std::string> render_nodes,
                                                      const std::string& preferred);

}  // namespace dxva::drm
