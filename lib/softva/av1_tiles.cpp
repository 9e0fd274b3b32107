// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <span>

#include "lib/softva/av1_bits.hpp"
#include "lib/softva/av1_headers.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

constexpr uint32_t kMaxTileColumns = 64, kMaxTileRows = 64;
constexpr uint32_t kMaxTileWidth = 4096;  // pixels
constexpr uint32_t kMaxTileArea = 4096 * 2304;

// tile_log2(): the least k with size << k >= target.
unsigned tile_log2(uint32_t size, uint32_t target) {
  unsigned k = 0;
  while ((uint64_t{size} << k) < target) ++k;
  return k;
}

uint32_t uniform_count(uint32_t superblocks, unsigned log2) {
  const uint32_t size = (superblocks + (1u << log2) - 1) >> log2;
  return (superblocks + size - 1) / size;
}

// increment_tile_cols_log2 or increment_tile_rows_log2; false: not that many tiles.
bool put_uniform(BitWriter& out, uint32_t superblocks, uint32_t count, unsigned least,
                 unsigned most, unsigned& log2) {
  for (log2 = least; log2 < most && uniform_count(superblocks, log2) < count; ++log2)
    out.flag(true);
  if (log2 < most) out.flag(false);
  return uniform_count(superblocks, log2) == count;
}

// width_in_sbs_minus_1 or height_in_sbs_minus_1; false: they do not add up.
bool put_sizes(BitWriter& out, std::span<const uint16_t> sizes_minus1, uint32_t superblocks,
               uint32_t largest) {
  uint32_t start = 0;
  for (const uint16_t size_minus1 : sizes_minus1) {
    const uint32_t size = size_minus1 + 1U;
    if (start >= superblocks) return false;
    const uint32_t limit = std::min(superblocks - start, largest);
    if (size > limit) return false;
    put_non_symmetric(out, size_minus1, limit);
    start += size;
  }
  return start == superblocks;
}

}  // namespace

Status write_av1_tiles(BitWriter& out, const Av1Parameters& picture) {
  const Error wrong = bad_input("AV1 tiles that do not make up the frame");
  const bool large = picture.seq_info_fields.fields.use_128x128_superblock;
  const unsigned size_log2 = large ? 7 : 6;
  const auto superblocks = [size_log2](uint32_t pixels) {
    const uint32_t whole = (pixels + 7) / 8 * 8;  // MiCols and MiRows are even
    return (whole + (1u << size_log2) - 1) >> size_log2;
  };
  const uint32_t columns = superblocks(av1_coded_width(picture));
  const uint32_t rows = superblocks(picture.frame_height_minus1 + 1U);
  const uint32_t max_width = kMaxTileWidth >> size_log2;
  const uint32_t max_area = kMaxTileArea >> 2 * size_log2;
  const unsigned least_columns = tile_log2(max_width, columns);
  const unsigned least = std::max(least_columns, tile_log2(max_area, rows * columns));
  if (picture.tile_cols < 1 || picture.tile_cols > kMaxTileColumns || picture.tile_rows < 1 ||
      picture.tile_rows > kMaxTileRows)
    return wrong;

  const bool uniform = picture.pic_info_fields.bits.uniform_tile_spacing_flag;
  unsigned columns_log2 = 0, rows_log2 = 0;
  out.flag(uniform);
  if (uniform) {
    if (!put_uniform(out, columns, picture.tile_cols, least_columns,
                     tile_log2(1, std::min(columns, kMaxTileColumns)), columns_log2))
      return wrong;
    const unsigned least_rows = least > columns_log2 ? least - columns_log2 : 0;
    if (!put_uniform(out, rows, picture.tile_rows, least_rows,
                     tile_log2(1, std::min(rows, kMaxTileRows)), rows_log2))
      return wrong;
  } else {
    // VA's arrays have no room for a last tile number 64, whose size is what is left.
    const auto sizes = [](const uint16_t(&told)[63], uint32_t count, uint32_t all) {
      std::vector<uint16_t> out_sizes(told, told + std::min<uint32_t>(count, 63));
      if (count == 64) {
        uint32_t left = all;
        for (const uint16_t size : out_sizes) left -= std::min(left, size + 1U);
        out_sizes.push_back(static_cast<uint16_t>(std::max(left, 1u) - 1));
      }
      return out_sizes;
    };
    const auto widths = sizes(picture.width_in_sbs_minus_1, picture.tile_cols, columns);
    if (!put_sizes(out, widths, columns, max_width)) return wrong;
    const uint32_t widest = *std::max_element(widths.begin(), widths.end()) + 1U;
    const uint32_t area = least > 0 ? rows * columns >> (least + 1) : rows * columns;
    const auto heights = sizes(picture.height_in_sbs_minus_1, picture.tile_rows, rows);
    if (!put_sizes(out, heights, rows, std::max(area / widest, 1u))) return wrong;
    columns_log2 = tile_log2(1, picture.tile_cols);
    rows_log2 = tile_log2(1, picture.tile_rows);
  }
  if (columns_log2 > 0 || rows_log2 > 0) {
    if (picture.context_update_tile_id >= picture.tile_cols * picture.tile_rows)
      return bad_input("AV1 context of a tile that is not there");
    out.put(picture.context_update_tile_id, columns_log2 + rows_log2);
    out.put(kAv1TileSizeBytes - 1, 2);
  }
  return Done{};
}

}  // namespace dxva::softva
