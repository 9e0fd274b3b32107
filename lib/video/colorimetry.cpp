// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/video/colorimetry.hpp"

#include <cassert>

namespace dxva::video {
namespace {

// level = scale * sample + offset
struct Line {
  double scale;
  double offset;
};

struct Normalisation {
  Line luma;    // to 0…1
  Line chroma;  // to -0.5…0.5
};

Normalisation normalisation(Range range, uint32_t bit_depth) {
  // Codes per unit of the sample that GL delivers. A 10-bit code stands in the high bits of its
  // word, so the last one is 0xffc0 / 0xffff and not 1.0; taking it for 1.0 shifts all levels
  // by 0.1 %, enough to round some 8-bit results wrongly.
  const double sample_to_code =
      bit_depth == 8 ? 255.0 : 65535.0 / static_cast<double>(1u << (16 - bit_depth));
  const double unit =
      static_cast<double>(1u << (bit_depth - 8));  // of an 8-bit level, in codes
  const double last_code = 256.0 * unit - 1.0;

  const bool limited = range == Range::Limited;
  const double luma_zero = limited ? 16.0 * unit : 0.0;
  const double luma_span = limited ? 219.0 * unit : last_code;
  const double chroma_zero = 128.0 * unit;
  const double chroma_span = limited ? 224.0 * unit : last_code;
  return {
      .luma = {.scale = sample_to_code / luma_span, .offset = -luma_zero / luma_span},
      .chroma = {.scale = sample_to_code / chroma_span, .offset = -chroma_zero / chroma_span},
  };
}

}  // namespace

LumaWeights luma_weights(Matrix matrix) {
  switch (matrix) {
    using enum Matrix;
    case Bt601:
      return {.red = 0.299, .blue = 0.114};
    case Bt709:
      return {.red = 0.2126, .blue = 0.0722};
    case Bt2020:
      return {.red = 0.2627, .blue = 0.0593};
    case Fcc:
      return {.red = 0.30, .blue = 0.11};
    case Smpte240m:
      return {.red = 0.212, .blue = 0.087};
  }
  return {.red = 0.299, .blue = 0.114};
}

YuvToRgb yuv_to_rgb(const Colorimetry& colorimetry, uint32_t bit_depth) {
  assert(bit_depth >= 8 && bit_depth <= 16);
  const auto [red, blue] = luma_weights(colorimetry.matrix);
  const double green = 1.0 - red - blue;
  const auto [luma, chroma] = normalisation(colorimetry.range, bit_depth);

  // H.273 equations 38 to 40 turned round: Cb = (B - Y) / (2 (1 - Kb)), Cr = (R - Y) / (2 (1 -
  // Kr)).
  const double cb_to_blue = 2.0 * (1.0 - blue);
  const double cr_to_red = 2.0 * (1.0 - red);
  const double cb_to_green = -cb_to_blue * blue / green;
  const double cr_to_green = -cr_to_red * red / green;

  const auto row = [&](double cb, double cr) {
    return std::array<float, 4>{static_cast<float>(luma.scale),
                                static_cast<float>(cb * chroma.scale),
                                static_cast<float>(cr * chroma.scale),
                                static_cast<float>(luma.offset + (cb + cr) * chroma.offset)};
  };
  return {row(0.0, cr_to_red), row(cb_to_green, cr_to_green), row(cb_to_blue, 0.0)};
}

}  // namespace dxva::video
