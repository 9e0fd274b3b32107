// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <array>
#include <functional>

#include "lib/decode/bitstream_decoder.hpp"
#include "lib/video/frame_view.hpp"

namespace dxva::gst {

// Planes of a decoded picture as the CPU sees them, in the plane order of `format`.
struct PictureView {
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;
  struct Plane {
    const uint8_t* data = nullptr;
    uint32_t pitch_bytes = 0;
  };
  uint32_t plane_count = 0;
  std::array<Plane, 4> planes{};
  // What reads this memory best.
  std::function<void(const video::PlaneView& from, uint8_t* to, uint32_t to_pitch_bytes)>
      plane_copy = &video::copy_plane;
};

// The part of one plane that `visible` covers, which lies inside the picture. Odd sizes round
// chroma up, odd offsets down.
[[nodiscard]] video::PlaneView crop_plane(const PictureView& from, uint32_t plane,
                                          const decode::Rect& visible);

// Copies the rectangle `visible` into `to`, which has that size and either the view's format or
// its rearranged(). False for any other pair. The rectangle lies inside the picture.
[[nodiscard]] bool copy_picture(const PictureView& from, const decode::Rect& visible,
                                GstVideoFrame& to);

}  // namespace dxva::gst
