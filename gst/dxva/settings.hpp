// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lib/video/nv12_layout.hpp"

namespace dxva::gst {

enum class ZeroCopy { Auto, Require, Off };

// The element's properties as a value; a decoder takes a copy when it starts.
struct Settings {
  std::string device = default_device();
  ZeroCopy zero_copy = is_zero("GST_DXVA_ZEROCOPY") ? ZeroCopy::Off : ZeroCopy::Auto;
  video::LayoutRule layout = video::LayoutRule::Any;
  bool software_fallback = !is_zero("GST_DXVA_SOFTWARE_FALLBACK");
  bool low_latency = false;
  uint32_t extra_surfaces = kDefaultExtraSurfaces;

  // What a few elements and a short queue hold. More than that is copied, so it is not a limit
  // for the pipeline.
  static constexpr uint32_t kDefaultExtraSurfaces = 8;

  [[nodiscard]] static std::string default_device() {
    const char* device = std::getenv("GST_DXVA_DEVICE");
    return device && *device ? device : "auto";
  }
  [[nodiscard]] static bool is_zero(const char* variable) {
    const char* value = std::getenv(variable);
    return value && std::string_view(value) == "0";
  }
};

}  // namespace dxva::gst
