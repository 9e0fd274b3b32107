// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/result.hpp"

namespace dxva::play {

// One frame as it is compared and hashed: the visible pixels only, rows without padding, and
// one form per kind of picture whoever decoded it. 8-bit 4:2:0 is NV12 (grey gets chroma 128),
// 10-bit 4:2:0 is P010; every other format stays as it is.
struct TightFrame {
  std::string pixel_format;  // FFmpeg's name of that form; empty when it has none
  int width = 0;
  int height = 0;
  std::vector<uint8_t> bytes;
};

// Where the visible pixels of a mapped frame are.
struct Crop {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

// A frame that is mapped for the CPU as long as this lives; for GLMemory the map is what reads
// the texture back.
class MappedFrame {
 public:
  [[nodiscard]] static Result<MappedFrame> map(GstSample* sample);
  MappedFrame(MappedFrame&& other) noexcept;
  MappedFrame& operator=(MappedFrame&&) = delete;
  ~MappedFrame();

  [[nodiscard]] const GstVideoFrame& frame() const { return frame_; }
  [[nodiscard]] const Crop& crop() const { return crop_; }

 private:
  MappedFrame() = default;

  GstVideoFrame frame_ = {};
  Crop crop_;
  bool mapped_ = false;
};

[[nodiscard]] TightFrame tighten(const MappedFrame& mapped);

}  // namespace dxva::play
