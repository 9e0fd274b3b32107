// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <span>

namespace dxva::decode {

// Whether a JPEG picture has more than one scan (ITU-T T.81 B.2.1). libavcodec gives each of
// them to VA-API with all tables again, and its array of buffers for one picture has room for
// 16: the next one ends the process (an assertion, FFmpeg 5.1 to 7.1). Such a picture is not
// for the device. Thread rules: reentrant.
[[nodiscard]] bool has_several_jpeg_scans(std::span<const uint8_t> picture);

}  // namespace dxva::decode
