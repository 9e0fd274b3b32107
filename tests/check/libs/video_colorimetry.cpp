// SPDX-License-Identifier: LGPL-2.1-or-later

// Two independent ways from Y'CbCr to RGB that must agree: the shader's matrix, and the slow
// reference conversion; and both must hit the points that the standards name.

#include "lib/video/colorimetry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/video/reference_conversion.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva::video;

namespace {

constexpr std::array kMatrices = {Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020, Matrix::Fcc,
                                  Matrix::Smpte240m};
constexpr std::array kRanges = {Range::Limited, Range::Full};
constexpr std::array kDepths = {8u, 10u};

// What the sampler returns for a code.
float sample(uint32_t code, uint32_t depth) {
  return depth == 8 ? static_cast<float>(code) / 255.0f
                    : static_cast<float>(code << (16 - depth)) / 65535.0f;
}

std::array<float, 3> convert(const YuvToRgb& m, std::array<uint32_t, 3> code, uint32_t depth) {
  std::array<float, 3> rgb;
  for (size_t i = 0; i < 3; ++i)
    rgb[i] = m[i][0] * sample(code[0], depth) + m[i][1] * sample(code[1], depth) +
             m[i][2] * sample(code[2], depth) + m[i][3];
  return rgb;
}

std::array<uint8_t, 4> reference_pixel(std::array<uint32_t, 3> code, uint32_t depth,
                                       const Colorimetry& colorimetry) {
  const uint32_t bytes = depth == 8 ? 1 : 2;
  std::array<uint8_t, 2> luma{};
  std::array<uint8_t, 4> chroma{};
  const auto put = [&](uint8_t* to, uint32_t value) {
    if (bytes == 2) value <<= 6;
    for (uint32_t b = 0; b < bytes; ++b) to[b] = static_cast<uint8_t>(value >> (8 * b));
  };
  put(luma.data(), code[0]);
  put(chroma.data(), code[1]);
  put(chroma.data() + bytes, code[2]);
  const FrameView frame{
      .fourcc = depth == 8 ? dxva::format::kNV12 : dxva::format::kP010,
      .width = 1,
      .height = 1,
      .plane_count = 2,
      .planes =
          {{{.data = luma.data(), .pitch_bytes = 64, .row_bytes = bytes, .rows = 1},
            {.data = chroma.data(), .pitch_bytes = 64, .row_bytes = 2 * bytes, .rows = 1}}},
  };
  auto rgba = reference_rgba(frame, colorimetry);
  fail_unless(bool(rgba));
  fail_unless_equals_int(rgba->size(), 4);
  return {(*rgba)[0], (*rgba)[1], (*rgba)[2], (*rgba)[3]};
}

GST_START_TEST(black_grey_and_white_are_where_the_standards_put_them) {
  for (Matrix matrix : kMatrices) {
    for (uint32_t depth : kDepths) {
      const uint32_t unit = 1u << (depth - 8);
      const uint32_t last = 256 * unit - 1;
      const auto limited = yuv_to_rgb({.matrix = matrix, .range = Range::Limited}, depth);
      const auto full = yuv_to_rgb({.matrix = matrix, .range = Range::Full}, depth);
      for (size_t i = 0; i < 3; ++i) {
        const auto near = [&](const YuvToRgb& m, uint32_t luma, float level) {
          const auto rgb = convert(m, {luma, 128 * unit, 128 * unit}, depth);
          return std::abs(rgb[i] - level) < 1e-5f;
        };
        fail_unless(near(limited, 16 * unit, 0.0f));
        fail_unless(near(limited, 235 * unit, 1.0f));
        fail_unless(near(full, 0, 0.0f));
        fail_unless(near(full, last, 1.0f));
      }
    }
  }
}
GST_END_TEST;

// 8-bit codes of the 75 % colour bars that SD (BT.801) and HD signals carry.
GST_START_TEST(colour_bars_give_their_colours) {
  struct Bar {
    Matrix matrix;
    std::array<uint32_t, 3> code;
    std::array<int, 3> rgb;
  };
  constexpr Bar bars[] = {
      {Matrix::Bt601, {162, 44, 142}, {191, 191, 0}},  // yellow
      {Matrix::Bt601, {112, 72, 58}, {0, 191, 0}},     // green
      {Matrix::Bt601, {65, 100, 212}, {191, 0, 0}},    // red
      {Matrix::Bt601, {35, 212, 114}, {0, 0, 191}},    // blue
      {Matrix::Bt709, {168, 44, 136}, {191, 191, 0}},  // yellow
      {Matrix::Bt709, {145, 147, 44}, {0, 191, 191}},  // cyan
      {Matrix::Bt709, {51, 109, 212}, {191, 0, 0}},    // red
      {Matrix::Bt709, {28, 212, 120}, {0, 0, 191}},    // blue
  };
  for (const Bar& bar : bars) {
    const Colorimetry colorimetry{.matrix = bar.matrix, .range = Range::Limited};
    const auto rgb = convert(yuv_to_rgb(colorimetry, 8), bar.code, 8);
    const auto reference = reference_pixel(bar.code, 8, colorimetry);
    for (size_t i = 0; i < 3; ++i) {
      // The codes are rounded, so the colours are off by up to two levels.
      fail_unless(std::abs(rgb[i] * 255.0f - static_cast<float>(bar.rgb[i])) < 2.5f);
      fail_unless(std::abs(int{reference[i]} - bar.rgb[i]) <= 2);
    }
    fail_unless_equals_int(reference[3], 255);
  }
}
GST_END_TEST;

GST_START_TEST(matrix_and_reference_agree_on_every_combination) {
  for (Matrix matrix : kMatrices) {
    for (Range range : kRanges) {
      for (uint32_t depth : kDepths) {
        const Colorimetry colorimetry{.matrix = matrix, .range = range};
        const auto m = yuv_to_rgb(colorimetry, depth);
        const uint32_t last = (1u << depth) - 1;
        for (uint32_t y = 0; y <= last; y += last / 15) {
          for (uint32_t cb = 0; cb <= last; cb += last / 15) {
            for (uint32_t cr = 0; cr <= last; cr += last / 15) {
              const auto rgb = convert(m, {y, cb, cr}, depth);
              const auto reference = reference_pixel({y, cb, cr}, depth, colorimetry);
              for (size_t i = 0; i < 3; ++i) {
                const float level = std::clamp(rgb[i], 0.0f, 1.0f) * 255.0f;
                // Half a level is the rounding, the rest float against double.
                fail_unless(std::abs(level - static_cast<float>(reference[i])) < 0.502f);
              }
            }
          }
        }
      }
    }
  }
}
GST_END_TEST;

GST_START_TEST(reference_reads_odd_sizes_and_padding) {
  // 3x3: the last column and row have chroma of their own.
  constexpr uint32_t kPitch = 8;
  std::vector<uint8_t> luma(kPitch * 3, 77);
  std::vector<uint8_t> chroma(kPitch + 4, 77);
  for (uint32_t row = 0; row < 3; ++row) std::fill_n(&luma[row * kPitch], 3, 126);
  for (uint32_t row = 0; row < 2; ++row) std::fill_n(&chroma[row * kPitch], 4, 128);
  chroma[kPitch + 3] = 240;  // Cr of the last block
  const FrameView frame{
      .fourcc = dxva::format::kNV12,
      .width = 3,
      .height = 3,
      .plane_count = 2,
      .planes = {{{.data = luma.data(), .pitch_bytes = kPitch, .row_bytes = 3, .rows = 3},
                  {.data = chroma.data(), .pitch_bytes = kPitch, .row_bytes = 4, .rows = 2}}},
  };
  auto rgba = reference_rgba(frame, {});
  fail_unless(bool(rgba));
  for (uint32_t pixel = 0; pixel < 8; ++pixel) {
    fail_unless_equals_int((*rgba)[pixel * 4], 128);
    fail_unless_equals_int((*rgba)[pixel * 4 + 1], 128);
    fail_unless_equals_int((*rgba)[pixel * 4 + 2], 128);
  }
  fail_unless_equals_int((*rgba)[8 * 4], 255);
  fail_unless_equals_int((*rgba)[8 * 4 + 2], 128);
}
GST_END_TEST;

GST_START_TEST(reference_refuses_what_it_cannot_read) {
  const uint8_t byte[4] = {};
  FrameView frame{
      .fourcc = dxva::format::kNV12,
      .width = 2,
      .height = 2,
      .plane_count = 2,
      .planes = {{{.data = byte, .pitch_bytes = 2, .row_bytes = 2, .rows = 2},
                  {.data = byte, .pitch_bytes = 2, .row_bytes = 1, .rows = 1}}},
  };
  fail_if(bool(reference_rgba(frame, {})));  // chroma row too short
  frame.planes[1].row_bytes = 2;
  fail_unless(bool(reference_rgb(frame, {}, 16)));
  fail_if(bool(reference_rgb(frame, {}, 0)));
  fail_if(bool(reference_rgb(frame, {}, 17)));
  frame.fourcc = dxva::fourcc('Y', 'U', 'Y', 'V');
  fail_if(bool(reference_rgba(frame, {})));
  fail_if(bool(reference_rgba({}, {})));
}
GST_END_TEST;

Suite* video_colorimetry_suite() {
  Suite* suite = suite_create("video_colorimetry");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, black_grey_and_white_are_where_the_standards_put_them);
  tcase_add_test(tcase, colour_bars_give_their_colours);
  tcase_add_test(tcase, matrix_and_reference_agree_on_every_combination);
  tcase_add_test(tcase, reference_reads_odd_sizes_and_padding);
  tcase_add_test(tcase, reference_refuses_what_it_cannot_read);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(video_colorimetry)
