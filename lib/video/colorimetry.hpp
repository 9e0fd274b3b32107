// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How Y'CbCr numbers become R'G'B': the one place that knows the constants of ITU-R BT.601, 709
// and 2020. The shader gets a 3x4 matrix for samples as GL delivers them, the reference
// conversion works on code values; both start from the luma weights here.

#include <array>
#include <cstdint>

namespace dxva::video {

enum class Matrix : uint8_t {
  Bt601,      // SD video; JPEG too, with full range
  Bt709,      // HD video
  Bt2020,     // UHD video, non-constant luminance
  Fcc,        // 1953 NTSC
  Smpte240m,  // early HD
};
enum class Range : uint8_t {
  Limited,  // 8 bit: luma 16…235, chroma 16…240 around 128
  Full,     // every code is a level; chroma around 128
};
struct Colorimetry {
  Matrix matrix = Matrix::Bt601;
  Range range = Range::Limited;

  friend bool operator==(const Colorimetry&, const Colorimetry&) = default;
};

// Where a chroma sample lies between the luma samples that it covers.
struct ChromaSiting {
  enum class Place : uint8_t {
    Unknown,
    Cosited,  // on the first of the two
    Between,
  };
  Place horizontal = Place::Unknown;
  Place vertical = Place::Unknown;
};

// Share of red and blue in luma (H.273 table 4); green has the rest.
struct LumaWeights {
  double red;
  double blue;
};
[[nodiscard]] LumaWeights luma_weights(Matrix matrix);

// rgb[i] = m[i][0] * y + m[i][1] * cb + m[i][2] * cr + m[i][3]
using YuvToRgb = std::array<std::array<float, 4>, 3>;

// For samples that GL normalised to 0…1 as it does for R8 (`bit_depth` 8) and R16 (9 to 16 bit
// in the high bits of a word, the lower bits 0, as in P010). The result is not clamped: limited
// range has codes below black and above white.
[[nodiscard]] YuvToRgb yuv_to_rgb(const Colorimetry& colorimetry, uint32_t bit_depth);

}  // namespace dxva::video
