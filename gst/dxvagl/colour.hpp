// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "lib/video/colorimetry.hpp"

namespace dxva::gst {

// What the caps say of the pixels; where they say nothing, what GStreamer itself guesses.
[[nodiscard]] video::Colorimetry colorimetry_of(const GstVideoInfo& info);
[[nodiscard]] video::ChromaSiting siting_of(const GstVideoInfo& info);

}  // namespace dxva::gst
