// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

namespace dxva::gst {

// Caps may say "9:9:9:9", of which GStreamer (1.22 to 1.26) makes enums with these numbers.
// Each part that this GStreamer has no name for is unknown afterwards.
void forget_unknown_parts(GstVideoColorimetry& colorimetry);

}  // namespace dxva::gst
