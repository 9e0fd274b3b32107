// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/hevc_scaling_lists.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

// 6.5.3 up-right diagonal scan: the raster position of each coded coefficient.
template <int Side>
constexpr std::array<uint8_t, Side * Side> make_diagonals() {
  std::array<uint8_t, Side * Side> order{};
  size_t n = 0;
  for (int diagonal = 0; diagonal < 2 * Side - 1; ++diagonal) {
    for (int y = diagonal; y >= 0; --y) {
      const int x = diagonal - y;
      if (x < Side && y < Side) order[n++] = static_cast<uint8_t>(y * Side + x);
    }
  }
  return order;
}
constexpr auto kDiagonals4x4 = make_diagonals<4>();
constexpr auto kDiagonals8x8 = make_diagonals<8>();

// `first`: what the first coefficient is coded against.
bool write_list(BitWriter& out, std::span<const uint8_t> raster,
                std::span<const uint8_t> diagonals, int first) {
  if (std::find(raster.begin(), raster.end(), 0) != raster.end()) return false;
  int last = first;
  for (const uint8_t position : diagonals) {
    const int value = raster[position];
    out.se(static_cast<int8_t>(value - last));  // the decoder adds modulo 256
    last = value;
  }
  return true;
}

}  // namespace

Status write_hevc_scaling_lists(BitWriter& out, const VAIQMatrixBufferHEVC& matrix) {
  // Large transforms have an 8x8 list, scaled up, and a coefficient of its own for DC.
  bool sane = true;
  const auto small = [&](std::span<const uint8_t> raster, std::span<const uint8_t> diagonals) {
    out.flag(true);  // scaling_list_pred_mode_flag: coded
    sane = write_list(out, raster, diagonals, 8) && sane;
  };
  const auto large = [&](std::span<const uint8_t> raster, uint8_t dc) {
    out.flag(true);
    out.se(dc - 8);  // scaling_list_dc_coef_minus8
    sane = dc != 0 && write_list(out, raster, kDiagonals8x8, dc) && sane;
  };
  for (const auto& list : matrix.ScalingList4x4) small(list, kDiagonals4x4);
  for (const auto& list : matrix.ScalingList8x8) small(list, kDiagonals8x8);
  for (size_t i = 0; i < std::size(matrix.ScalingList16x16); ++i)
    large(matrix.ScalingList16x16[i], matrix.ScalingListDC16x16[i]);
  // One list for intra and one for inter blocks: chroma has no 32x32 transform in 4:2:0.
  for (size_t i = 0; i < std::size(matrix.ScalingList32x32); ++i)
    large(matrix.ScalingList32x32[i], matrix.ScalingListDC32x32[i]);
  if (!sane) return bad_input("zero in a scaling list");
  return Done{};
}

}  // namespace dxva::softva
