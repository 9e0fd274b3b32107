// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dxva::video {

// Pixels that the CPU can read: lent, not owned. Planes are those of the DRM fourcc.
struct PlaneView {
  const uint8_t* data = nullptr;
  uint32_t pitch_bytes = 0;
  uint32_t row_bytes = 0;
  uint32_t rows = 0;
};

struct FrameView {
  uint32_t fourcc = 0;
  uint32_t width = 0;  // pixels
  uint32_t height = 0;
  uint32_t plane_count = 0;
  std::array<PlaneView, 4> planes{};
};

// Whether both show the same picture, wherever their rows lie. Both views are whole.
[[nodiscard]] bool same_pixels(const FrameView& a, const FrameView& b);
// Whether a picture would differ if its rows were read from wrong places: false for flat
// colours, which look the same in every layout.
[[nodiscard]] bool shows_its_layout(const FrameView& view);

// Copies the rows of `from`; `to` has `to_pitch_bytes` >= from.row_bytes and room for all rows.
void copy_plane(const PlaneView& from, uint8_t* to, uint32_t to_pitch_bytes);

// The same by `copy`, which is memcpy()'s kind: to, from, bytes.
template <typename Copy>
void copy_plane_by(const Copy& copy, const PlaneView& from, uint8_t* to,
                   uint32_t to_pitch_bytes) {
  // Without padding on either side the rows are one block. With padding the last row must not
  // bring its own along: it may end outside the memory.
  if (from.pitch_bytes == from.row_bytes && to_pitch_bytes == from.row_bytes) {
    copy(to, from.data, size_t{from.row_bytes} * from.rows);
    return;
  }
  for (uint32_t row = 0; row < from.rows; ++row)
    copy(to + size_t{row} * to_pitch_bytes, from.data + size_t{row} * from.pitch_bytes,
         from.row_bytes);
}

}  // namespace dxva::video
