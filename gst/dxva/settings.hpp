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
  ZeroCopy zero_copy = default_zero_copy();
  video::LayoutRule layout = video::LayoutRule::Any;
  bool software_fallback = true;
  bool low_latency = false;
  uint32_t extra_surfaces = kDefaultExtraSurfaces;

  // What a few elements and a short queue hold. More than that is copied, so it is not a limit
  // for the pipeline.
  static constexpr uint32_t kDefaultExtraSurfaces = 8;

  [[nodiscard]] static std::string default_device() {
    const char* device = std::getenv("GST_DXVA_DEVICE");
    return device && *device ? device : "auto";
  }
  [[nodiscard]] static ZeroCopy default_zero_copy() {
    const char* zero_copy = std::getenv("GST_DXVA_ZEROCOPY");
    return zero_copy && std::string_view(zero_copy) == "0" ? ZeroCopy::Off : ZeroCopy::Auto;
  }
};

}  // namespace dxva::gst
