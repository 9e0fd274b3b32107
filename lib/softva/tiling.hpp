// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace dxva::softva {

// A tiling nobody has, for tests of clients: GPUs keep pictures in an order of their own, and
// whoever maps such memory as if it had rows gets a wrong picture without an error. Tiles of 64
// bytes by 8 rows, one behind the other, row of tiles by row of tiles; in a tile's odd rows the
// halves change places, so that a picture no wider than one tile is scrambled too.
inline constexpr uint32_t kTileBytes = 64;
inline constexpr uint32_t kTileRows = 8;
// drm_fourcc.h has no vendor of this number.
inline constexpr uint64_t kTiledModifier = uint64_t{0x7f} << 56 | 1;

// Both work on whole tiles: `pitch` is a multiple of kTileBytes, `row_count` of kTileRows.
// `rows` and `tiled` do not overlap.
void tile(const uint8_t* rows, uint32_t pitch, uint32_t row_count, uint8_t* tiled);
void untile(const uint8_t* tiled, uint32_t pitch, uint32_t row_count, uint8_t* rows);

}  // namespace dxva::softva
