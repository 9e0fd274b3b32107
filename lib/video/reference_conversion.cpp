// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/video/reference_conversion.hpp"

#include <algorithm>
#include <cmath>

#include "lib/base/fourcc.hpp"
#include "lib/video/nv12_layout.hpp"

namespace dxva::video {
namespace {

// Code number `index` of a row: a byte, or the upper 10 bits of a little-endian word.
double code_at(const PlaneView& plane, uint32_t row, uint32_t index, bool ten_bit) {
  const uint8_t* bytes = plane.data + uint64_t{row} * plane.pitch_bytes;
  if (!ten_bit) return bytes[index];
  return (bytes[2 * index] | bytes[2 * index + 1] << 8) >> 6;
}

uint16_t to_code(double level, double last_code) {
  return static_cast<uint16_t>(std::lround(std::clamp(level, 0.0, 1.0) * last_code));
}

bool covers(const FrameView& frame) {
  if (frame.plane_count != 2 || frame.width == 0 || frame.height == 0) return false;
  for (uint32_t p = 0; p < 2; ++p) {
    const PlaneView& plane = frame.planes[p];
    if (!plane.data || plane.row_bytes < plane_row_bytes(frame.fourcc, p, frame.width) ||
        plane.rows < plane_rows(p, frame.height))
      return false;
  }
  return true;
}

}  // namespace

Result<std::vector<uint16_t>> reference_rgb(const FrameView& frame,
                                            const Colorimetry& colorimetry, uint32_t bits) {
  const bool ten_bit = frame.fourcc == format::kP010;
  if ((!ten_bit && frame.fourcc != format::kNV12) || !covers(frame) || bits < 1 || bits > 16)
    return Error{.code = ErrorCode::BadInput, .call = "reference_rgb"};

  const double unit = ten_bit ? 4.0 : 1.0;
  const double last_code = ten_bit ? 1023.0 : 255.0;
  const bool limited = colorimetry.range == Range::Limited;
  const auto [kr, kb] = luma_weights(colorimetry.matrix);

  const double white = (1u << bits) - 1;

  std::vector<uint16_t> out;
  out.reserve(uint64_t{frame.width} * frame.height * 3);
  for (uint32_t row = 0; row < frame.height; ++row) {
    for (uint32_t column = 0; column < frame.width; ++column) {
      const double y_code = code_at(frame.planes[0], row, column, ten_bit);
      const uint32_t pair = column / 2 * 2;
      const double cb_code = code_at(frame.planes[1], row / 2, pair, ten_bit);
      const double cr_code = code_at(frame.planes[1], row / 2, pair + 1, ten_bit);

      const double y = limited ? (y_code - 16 * unit) / (219 * unit) : y_code / last_code;
      const double chroma_span = limited ? 224 * unit : last_code;
      const double cb = (cb_code - 128 * unit) / chroma_span;
      const double cr = (cr_code - 128 * unit) / chroma_span;

      const double red = y + 2 * (1 - kr) * cr;
      const double blue = y + 2 * (1 - kb) * cb;
      const double green = (y - kr * red - kb * blue) / (1 - kr - kb);
      for (const double level : {red, green, blue}) out.push_back(to_code(level, white));
    }
  }
  return out;
}

Result<std::vector<uint8_t>> reference_rgba(const FrameView& frame,
                                            const Colorimetry& colorimetry) {
  const auto rgb = reference_rgb(frame, colorimetry, 8);
  if (!rgb) return rgb.error();
  std::vector<uint8_t> out;
  out.reserve(rgb->size() / 3 * 4);
  for (size_t i = 0; i < rgb->size(); ++i) {
    out.push_back(static_cast<uint8_t>((*rgb)[i]));
    if (i % 3 == 2) out.push_back(255);
  }
  return out;
}

}  // namespace dxva::video
