// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/video/frame_view.hpp"

#include <cstring>

namespace dxva::video {

namespace {

const uint8_t* row_of(const PlaneView& plane, uint32_t row) {
  return plane.data + size_t{row} * plane.pitch_bytes;
}

// Both along its rows and from row to row there is something to see.
bool shows_its_layout(const PlaneView& plane) {
  bool along = false;
  bool down = false;
  for (uint32_t row = 0; row < plane.rows && !(along && down); ++row) {
    const uint8_t* bytes = row_of(plane, row);
    // Four bytes apart: chroma is interleaved, and samples may be words.
    for (uint32_t x = 4; x < plane.row_bytes && !along; ++x) along = bytes[x] != bytes[x - 4];
    down |= row > 0 && std::memcmp(bytes, row_of(plane, row - 1), plane.row_bytes) != 0;
  }
  return along && down;
}

}  // namespace

bool same_pixels(const FrameView& a, const FrameView& b) {
  if (a.fourcc != b.fourcc || a.width != b.width || a.height != b.height ||
      a.plane_count != b.plane_count)
    return false;
  for (uint32_t p = 0; p < a.plane_count; ++p) {
    const PlaneView& one = a.planes[p];
    const PlaneView& other = b.planes[p];
    if (one.row_bytes != other.row_bytes || one.rows != other.rows) return false;
    for (uint32_t row = 0; row < one.rows; ++row)
      if (std::memcmp(row_of(one, row), row_of(other, row), one.row_bytes) != 0) return false;
  }
  return true;
}

bool shows_its_layout(const FrameView& view) {
  for (uint32_t p = 0; p < view.plane_count; ++p)
    if (!shows_its_layout(view.planes[p])) return false;
  return true;
}

void copy_plane(const PlaneView& from, uint8_t* to, uint32_t to_pitch_bytes) {
  copy_plane_by(std::memcpy, from, to, to_pitch_bytes);
}

}  // namespace dxva::video
