// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>
#include <span>

namespace dxva::softva {

inline constexpr uint32_t kMaxPlanes = 3;

// One plane's share of a format. A "cell" is the smallest thing a plane repeats: one luma
// sample, or a Cb/Cr pair.
struct PlaneFormat {
  uint8_t cell_bytes;
  uint8_t shift_x, shift_y;  // subsampling, powers of two
  uint32_t drm_fourcc;       // of the plane exported as a layer of its own
};

// What the driver knows about a pixel format; adding one starts with a row in format.cpp.
struct Format {
  uint32_t fourcc;      // VA's
  uint32_t drm_fourcc;  // of all planes exported as one layer
  uint32_t rt_format;   // VA_RT_FORMAT_*
  uint8_t bit_depth;
  uint8_t bits_per_pixel;
  uint8_t sample_bytes;  // alignment that pitches and offsets need
  bool surface;          // images come in all formats, surfaces only in these
  uint8_t plane_count;
  PlaneFormat planes[kMaxPlanes];

  [[nodiscard]] uint32_t row_bytes(uint32_t plane, uint32_t width) const;
  [[nodiscard]] uint32_t rows(uint32_t plane, uint32_t height) const;
  [[nodiscard]] VAImageFormat image_format() const;
};

// All of them; surfaces' first, best first.
[[nodiscard]] std::span<const Format> formats();
// Null when there is none. Formats live for ever.
[[nodiscard]] const Format* find_format(uint32_t va_fourcc);
// The format of surfaces created without a pixel format; `rt_format` is one bit.
[[nodiscard]] const Format* default_surface_format(uint32_t rt_format);

}  // namespace dxva::softva
