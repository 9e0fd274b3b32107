// SPDX-License-Identifier: LGPL-2.1-or-later

// The row loops, over sizes that end in the middle of a vector register, between guard bytes.

#include "lib/softva/convert.hpp"

#include <cstring>
#include <vector>

#include "tests/check/support/check.hpp"

using namespace dxva::softva;

namespace {

constexpr uint8_t kGuard = 0xa5;

// Planes with room around every row, all of it guarded.
class Planes {
 public:
  Planes(uint32_t fourcc, uint32_t width, uint32_t height) {
    view_.format = find_format(fourcc);
    view_.width = width;
    view_.height = height;
    for (uint32_t plane = 0; plane < view_.format->plane_count; ++plane) {
      view_.pitches[plane] = view_.format->row_bytes(plane, width) + kMargin;
      bytes_[plane].assign(
          size_t{view_.pitches[plane]} * view_.format->rows(plane, height) + kMargin, kGuard);
      view_.planes[plane] = bytes_[plane].data();
    }
  }

  [[nodiscard]] const PixelView& view() const { return view_; }
  [[nodiscard]] uint8_t& at(uint32_t plane, uint32_t x, uint32_t y) {
    return bytes_[plane][size_t{y} * view_.pitches[plane] + x];
  }
  // Bytes outside of the picture that are no longer what they were.
  [[nodiscard]] uint64_t spoiled() const {
    uint64_t count = 0;
    for (uint32_t plane = 0; plane < view_.format->plane_count; ++plane)
      for (size_t i = 0; i < bytes_[plane].size(); ++i) {
        const bool inside =
            i % view_.pitches[plane] < view_.format->row_bytes(plane, view_.width) &&
            i / view_.pitches[plane] < view_.format->rows(plane, view_.height);
        count += !inside && bytes_[plane][i] != kGuard;
      }
    return count;
  }

 private:
  static constexpr uint32_t kMargin = 6;  // even, for formats of two-byte samples
  PixelView view_;
  std::vector<uint8_t> bytes_[kMaxPlanes];
};

// A decoded picture with odd pitches, as decoders have.
struct Decoded {
  std::vector<uint8_t> bytes[3];
  Pixels pixels;

  Decoded(uint32_t width, uint32_t height, int depth) {
    pixels = {.bit_depth = depth, .width = width, .height = height};
    const uint32_t sample_bytes = depth > 8 ? 2 : 1;
    for (uint32_t plane = 0; plane < 3; ++plane) {
      const uint32_t columns = plane ? (width + 1) / 2 : width;
      const uint32_t rows = plane ? (height + 1) / 2 : height;
      pixels.pitches[plane] = (columns + 3) * sample_bytes;
      bytes[plane].resize(size_t{pixels.pitches[plane]} * rows);
      for (uint32_t y = 0; y < rows; ++y)
        for (uint32_t x = 0; x < columns; ++x) {
          const uint16_t value = sample(plane, x, y);
          std::memcpy(&bytes[plane][size_t{y} * pixels.pitches[plane] + x * sample_bytes],
                      &value, sample_bytes);
        }
      pixels.planes[plane] = bytes[plane].data();
    }
  }

  [[nodiscard]] uint16_t sample(uint32_t plane, uint32_t x, uint32_t y) const {
    return static_cast<uint16_t>((x * 13 + y * 29 + plane * 77) &
                                 ((1u << pixels.bit_depth) - 1));
  }
};

GST_START_TEST(every_width_becomes_nv12_and_nothing_else_is_touched) {
  for (uint32_t width = 1; width < 150; ++width) {
    const uint32_t height = 1 + width % 5;
    const Decoded picture(width, height, 8);
    Planes surface(VA_FOURCC_NV12, width, height);
    fail_unless(bool(store_picture(picture.pixels, surface.view())));
    uint64_t wrong = surface.spoiled();
    for (uint32_t y = 0; y < height; ++y)
      for (uint32_t x = 0; x < width; ++x) {
        wrong += surface.at(0, x, y) != picture.sample(0, x, y);
        wrong += surface.at(1, x / 2 * 2, y / 2) != picture.sample(1, x / 2, y / 2);
        wrong += surface.at(1, x / 2 * 2 + 1, y / 2) != picture.sample(2, x / 2, y / 2);
      }
    fail_unless(wrong == 0, "width %u", width);
  }
}
GST_END_TEST;

GST_START_TEST(every_width_and_depth_becomes_p010) {
  for (const int depth : {9, 10})
    for (uint32_t width = 1; width < 100; ++width) {
      const uint32_t height = 1 + width % 5;
      const Decoded picture(width, height, depth);
      Planes surface(VA_FOURCC_P010, width, height);
      fail_unless(bool(store_picture(picture.pixels, surface.view())));
      uint64_t wrong = surface.spoiled();
      const auto word = [&](uint32_t plane, uint32_t x, uint32_t y) {
        return surface.at(plane, 2 * x, y) | surface.at(plane, 2 * x + 1, y) << 8;
      };
      for (uint32_t y = 0; y < height; ++y)
        for (uint32_t x = 0; x < width; ++x) {
          wrong += word(0, x, y) != picture.sample(0, x, y) << (16 - depth);
          wrong += word(1, x / 2 * 2, y / 2) != picture.sample(1, x / 2, y / 2) << (16 - depth);
          wrong += word(1, x / 2 * 2 + 1, y / 2) != picture.sample(2, x / 2, y / 2)
                                                        << (16 - depth);
        }
      fail_unless(wrong == 0, "width %u, depth %d", width, depth);
    }
}
GST_END_TEST;

GST_START_TEST(pictures_that_do_not_fit_the_format_are_refused) {
  Planes nv12(VA_FOURCC_NV12, 16, 16), p010(VA_FOURCC_P010, 16, 16);
  Decoded eight(16, 16, 8), ten(16, 16, 10), twelve(16, 16, 12);
  fail_if(bool(store_picture(ten.pixels, nv12.view())));
  fail_if(bool(store_picture(eight.pixels, p010.view())));
  fail_if(bool(store_picture(twelve.pixels, p010.view())));
  using Layout = Pixels::Layout;
  for (const Layout layout : {Layout::Yuv422, Layout::Yuv440, Layout::Yuv444}) {
    eight.pixels.layout = layout;
    fail_if(bool(store_picture(eight.pixels, nv12.view())));
  }
}
GST_END_TEST;

GST_START_TEST(planar_surfaces_take_the_picture_of_their_layout_and_no_other) {
  using Layout = Pixels::Layout;
  const struct {
    uint32_t fourcc;
    Layout layout;
    uint32_t halves_width;
  } kCases[] = {{VA_FOURCC_422H, Layout::Yuv422, 1},
                {VA_FOURCC_444P, Layout::Yuv444, 0},
                {VA_FOURCC_Y800, Layout::Gray, 0}};
  for (const auto& one : kCases)
    for (uint32_t width = 1; width < 40; ++width) {
      const uint32_t height = 1 + width % 5;
      Planes surface(one.fourcc, width, height);
      // Large enough for chroma of every layout.
      std::vector<uint8_t> bytes(3 * size_t{width} * height);
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7);
      Pixels picture{.layout = one.layout, .width = width, .height = height};
      for (uint32_t plane = 0; plane < 3; ++plane) {
        picture.planes[plane] = &bytes[plane * size_t{width} * height];
        picture.pitches[plane] = width;
      }
      fail_unless(bool(store_picture(picture, surface.view())));
      uint64_t wrong = surface.spoiled();
      for (uint32_t plane = 0; plane < find_format(one.fourcc)->plane_count; ++plane) {
        const uint32_t columns = plane ? (width + one.halves_width) >> one.halves_width : width;
        for (uint32_t y = 0; y < height; ++y)
          for (uint32_t x = 0; x < columns; ++x)
            wrong += surface.at(plane, x, y) != picture.planes[plane][y * width + x];
      }
      fail_unless(wrong == 0, "width %u", width);
      for (const Layout other :
           {Layout::Gray, Layout::Yuv420, Layout::Yuv422, Layout::Yuv440, Layout::Yuv444}) {
        picture.layout = other;
        fail_unless(bool(store_picture(picture, surface.view())) == (other == one.layout));
      }
    }
}
GST_END_TEST;

GST_START_TEST(areas_keep_to_themselves) {
  // Every start and size inside a small picture, both ways of converting.
  for (const uint32_t fourcc : {VA_FOURCC_NV12, VA_FOURCC_I420, VA_FOURCC_YV12}) {
    Planes source(VA_FOURCC_NV12, 9, 7);
    const Decoded picture(9, 7, 8);
    fail_unless(bool(store_picture(picture.pixels, source.view())));
    for (uint32_t x = 0; x < 9; ++x)
      for (uint32_t y = 0; y < 7; ++y)
        for (uint32_t width = 1; x + width <= 9; ++width)
          for (uint32_t height = 1; y + height <= 7; ++height) {
            Planes piece(fourcc, width, height), whole(VA_FOURCC_NV12, 9, 7);
            fail_unless(
                bool(copy_area(source.view(), {x, y, width, height}, piece.view(), 0, 0)));
            fail_unless_equals_uint64(piece.spoiled(), 0);
            fail_unless(
                bool(copy_area(piece.view(), {0, 0, width, height}, whole.view(), x, y)));
            fail_unless_equals_uint64(whole.spoiled(), 0);
            fail_unless_equals_int(whole.at(0, x, y), picture.sample(0, x, y));
            fail_unless_equals_int(whole.at(1, x / 2 * 2, y / 2),
                                   picture.sample(1, x / 2, y / 2));
          }
  }
}
GST_END_TEST;

GST_START_TEST(areas_outside_are_refused) {
  Planes source(VA_FOURCC_NV12, 16, 16), target(VA_FOURCC_NV12, 8, 8);
  const auto copied = [&](PixelArea area, uint32_t x, uint32_t y) {
    return bool(copy_area(source.view(), area, target.view(), x, y));
  };
  fail_unless(copied({8, 8, 8, 8}, 0, 0));
  fail_if(copied({9, 8, 8, 8}, 0, 0));
  fail_if(copied({8, 9, 8, 8}, 0, 0));
  fail_if(copied({8, 8, 8, 8}, 1, 0));
  fail_if(copied({8, 8, 8, 8}, 0, 1));
  fail_if(copied({0, 0, 0, 8}, 0, 0));
  fail_if(copied({0, 0, 8, 0}, 0, 0));
  fail_if(copied({UINT32_MAX, 0, 8, 8}, 0, 0));
  fail_if(copied({8, 8, 8, 8}, UINT32_MAX, UINT32_MAX));
  fail_if(copied({8, 8, UINT32_MAX, UINT32_MAX}, 0, 0));
}
GST_END_TEST;

GST_START_TEST(other_pairs_of_formats_are_refused) {
  Planes nv12(VA_FOURCC_NV12, 8, 8), p010(VA_FOURCC_P010, 8, 8), i420(VA_FOURCC_I420, 8, 8),
      yv12(VA_FOURCC_YV12, 8, 8);
  const PixelArea all{0, 0, 8, 8};
  fail_if(bool(copy_area(nv12.view(), all, p010.view(), 0, 0)));
  fail_if(bool(copy_area(p010.view(), all, nv12.view(), 0, 0)));
  fail_if(bool(copy_area(p010.view(), all, i420.view(), 0, 0)));
  fail_if(bool(copy_area(i420.view(), all, yv12.view(), 0, 0)));
}
GST_END_TEST;

Suite* softva_convert_suite() {
  Suite* suite = suite_create("softva_convert");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, every_width_becomes_nv12_and_nothing_else_is_touched);
  tcase_add_test(tcase, every_width_and_depth_becomes_p010);
  tcase_add_test(tcase, pictures_that_do_not_fit_the_format_are_refused);
  tcase_add_test(tcase, planar_surfaces_take_the_picture_of_their_layout_and_no_other);
  tcase_add_test(tcase, areas_keep_to_themselves);
  tcase_add_test(tcase, areas_outside_are_refused);
  tcase_add_test(tcase, other_pairs_of_formats_are_refused);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(softva_convert)
