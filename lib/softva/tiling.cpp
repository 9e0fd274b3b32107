// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/tiling.hpp"

#include <cstddef>
#include <cstring>

namespace dxva::softva {
namespace {

constexpr uint32_t kHalf = kTileBytes / 2;

// Where the half row at `x` (a multiple of kHalf), `y` lies in tiled memory.
size_t place(uint32_t x, uint32_t y, uint32_t pitch) {
  const size_t tile_start = size_t{y / kTileRows} * kTileRows * pitch +
                            size_t{x / kTileBytes} * kTileBytes * kTileRows;
  const uint32_t swap = y % 2 ? kHalf : 0;
  return tile_start + size_t{y % kTileRows} * kTileBytes + (x % kTileBytes ^ swap);
}

}  // namespace

void tile(const uint8_t* rows, uint32_t pitch, uint32_t row_count, uint8_t* tiled) {
  for (uint32_t y = 0; y < row_count; ++y)
    for (uint32_t x = 0; x < pitch; x += kHalf)
      std::memcpy(tiled + place(x, y, pitch), rows + size_t{y} * pitch + x, kHalf);
}

void untile(const uint8_t* tiled, uint32_t pitch, uint32_t row_count, uint8_t* rows) {
  for (uint32_t y = 0; y < row_count; ++y)
    for (uint32_t x = 0; x < pitch; x += kHalf)
      std::memcpy(rows + size_t{y} * pitch + x, tiled + place(x, y, pitch), kHalf);
}

}  // namespace dxva::softva
