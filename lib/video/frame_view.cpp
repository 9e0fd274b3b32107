// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/video/frame_view.hpp"

#include <cstring>

namespace dxva::video {

void copy_plane(const PlaneView& from, uint8_t* to, uint32_t to_pitch_bytes) {
  // Without padding on either side the rows are one block. With padding the last row must not
  // bring its own along: it may end outside the memory.
  if (from.pitch_bytes == from.row_bytes && to_pitch_bytes == from.row_bytes) {
    std::memcpy(to, from.data, size_t{from.row_bytes} * from.rows);
    return;
  }
  for (uint32_t row = 0; row < from.rows; ++row)
    std::memcpy(to + size_t{row} * to_pitch_bytes, from.data + size_t{row} * from.pitch_bytes,
                from.row_bytes);
}

}  // namespace dxva::video
