// SPDX-License-Identifier: LGPL-2.1-or-later

// Pixels by vaDeriveImage, vaGetImage and vaPutImage.

#include <cstring>
#include <vector>

#include "tests/check/softva/client.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva::softva::test;

namespace {

struct Size {
  uint32_t width, height;
};
constexpr Size kSizes[] = {{64, 48}, {1, 1}, {61, 47}, {1918, 1078}, {2, 3}};

// A sample of a mapped image of NV12, I420 or YV12; plane 0 is Y, 1 U, 2 V.
uint8_t sample(const MappedImage& image, uint32_t fourcc, uint32_t component, uint32_t x,
               uint32_t y) {
  if (component == 0) return image.row(0, y)[x];
  if (fourcc == VA_FOURCC_NV12) return image.row(1, y)[2 * x + component - 1];
  const uint32_t plane = fourcc == VA_FOURCC_YV12 ? 3 - component : component;
  return image.row(plane, y)[x];
}

void fill(const MappedImage& image, uint32_t planes, Size size, uint32_t row_cells[3],
          uint8_t seed) {
  for (uint32_t plane = 0; plane < planes; ++plane)
    for (uint32_t y = 0; y < rows(plane, size.height); ++y)
      for (uint32_t x = 0; x < row_cells[plane]; ++x)
        image.row(plane, y)[x] = static_cast<uint8_t>(x * 5 + y * 3 + plane * 40 + seed);
}

GST_START_TEST(derived_image_is_the_exported_memory) {
  for (const char* layout : {"tight", "padded", "gap", "dup-fds", "odd-pitch", "composed"}) {
    const ScopedEnvironment knob("DXVASOFT_LAYOUT", layout);
    Client client;
    const VASurfaceID surface = client.surface(61, 47);
    const FakeOrder order{.width = 61, .height = 47, .seed = 2};
    fail_unless_equals_int(client.decode(client.context(61, 47), surface, order),
                           VA_STATUS_SUCCESS);
    VAImage image{};
    fail_unless_equals_int(vaDeriveImage(client.display(), surface, &image), VA_STATUS_SUCCESS);
    fail_unless_equals_int(image.format.fourcc, VA_FOURCC_NV12);
    fail_unless_equals_int(image.width, 61);
    fail_unless_equals_int(image.height, 47);
    fail_unless_equals_int(image.num_planes, 2);
    const Export exported(client, surface);
    {
      const MappedImage mapped(client, image);
      fail_unless(shows(mapped, order, VA_FOURCC_NV12, 61, 47));
      fail_unless_equals_int(std::memcmp(mapped.row(0, 0), exported.row(0, 0), 61), 0);
      mapped.row(1, 5)[7] = 200;
      fail_unless_equals_int(exported.row(1, 5)[7], 200);
    }
    fail_unless_equals_int(vaDestroyImage(client.display(), image.image_id), VA_STATUS_SUCCESS);
  }
}
GST_END_TEST;

GST_START_TEST(planes_in_two_objects_cannot_be_derived) {
  const ScopedEnvironment knob("DXVASOFT_LAYOUT", "two-objects");
  Client client;
  VAImage image{};
  fail_unless_equals_int(vaDeriveImage(client.display(), client.surface(64, 48), &image),
                         VA_STATUS_ERROR_OPERATION_FAILED);
  fail_unless(image.image_id == VA_INVALID_ID && image.buf == VA_INVALID_ID);
}
GST_END_TEST;

GST_START_TEST(derived_image_outlives_its_surface) {
  Client client;
  VASurfaceID surface = client.surface(64, 48);
  const FakeOrder order{};
  fail_unless_equals_int(client.decode(client.context(64, 48), surface, order),
                         VA_STATUS_SUCCESS);
  VAImage image{};
  fail_unless_equals_int(vaDeriveImage(client.display(), surface, &image), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaDestroySurfaces(client.display(), &surface, 1), VA_STATUS_SUCCESS);
  const MappedImage mapped(client, image);
  fail_unless(shows(mapped, order, VA_FOURCC_NV12, 64, 48));
}
GST_END_TEST;

GST_START_TEST(get_image_reads_what_was_decoded_in_every_format_and_layout) {
  for (const char* layout : {"tight", "gap", "two-objects", "odd-pitch", "tiled"}) {
    const ScopedEnvironment knob("DXVASOFT_LAYOUT", layout);
    Client client;
    for (const Size size : kSizes) {
      const VASurfaceID surface = client.surface(size.width, size.height);
      const FakeOrder order{.width = size.width, .height = size.height, .seed = 8};
      fail_unless_equals_int(
          client.decode(client.context(size.width, size.height), surface, order),
          VA_STATUS_SUCCESS);
      for (const uint32_t fourcc : {VA_FOURCC_NV12, VA_FOURCC_I420, VA_FOURCC_YV12}) {
        const VAImage image = client.image(fourcc, size.width, size.height);
        fail_unless_equals_int(vaGetImage(client.display(), surface, 0, 0, size.width,
                                          size.height, image.image_id),
                               VA_STATUS_SUCCESS);
        const MappedImage mapped(client, image);
        uint64_t wrong = 0;  // a check of every sample would take minutes
        for (uint32_t component = 0; component < 3; ++component)
          for (uint32_t y = 0; y < rows(component, size.height); ++y)
            for (uint32_t x = 0; x < (component ? (size.width + 1) / 2 : size.width); ++x)
              wrong += sample(mapped, fourcc, component, x, y) !=
                       (fake_sample(order, component, x, y) & 0xff);
        fail_unless_equals_uint64(wrong, 0);
      }
    }
  }
}
GST_END_TEST;

GST_START_TEST(get_image_of_ten_bits) {
  Client client(VAProfileHEVCMain10);
  const VASurfaceID surface = client.surface(61, 47, VA_FOURCC_P010);
  const FakeOrder order{.width = 61, .height = 47, .bit_depth = 10};
  fail_unless_equals_int(client.decode(client.context(61, 47), surface, order),
                         VA_STATUS_SUCCESS);
  const VAImage image = client.image(VA_FOURCC_P010, 61, 47);
  fail_unless_equals_int(vaGetImage(client.display(), surface, 0, 0, 61, 47, image.image_id),
                         VA_STATUS_SUCCESS);
  const MappedImage mapped(client, image);
  fail_unless(shows(mapped, order, VA_FOURCC_P010, 61, 47));
}
GST_END_TEST;

GST_START_TEST(put_then_get_is_the_same_picture) {
  Client client;
  for (const Size size : kSizes) {
    const VASurfaceID surface = client.surface(size.width, size.height);
    uint32_t chroma = (size.width + 1) / 2;
    for (const uint32_t fourcc : {VA_FOURCC_NV12, VA_FOURCC_I420, VA_FOURCC_YV12}) {
      const bool planar = fourcc != VA_FOURCC_NV12;
      uint32_t cells[3] = {size.width, planar ? chroma : 2 * chroma, chroma};
      const VAImage in = client.image(fourcc, size.width, size.height);
      fill(MappedImage(client, in), planar ? 3 : 2, size, cells, static_cast<uint8_t>(fourcc));
      fail_unless_equals_int(vaPutImage(client.display(), surface, in.image_id, 0, 0,
                                        size.width, size.height, 0, 0, size.width, size.height),
                             VA_STATUS_SUCCESS);
      const VAImage out = client.image(fourcc, size.width, size.height);
      fail_unless_equals_int(
          vaGetImage(client.display(), surface, 0, 0, size.width, size.height, out.image_id),
          VA_STATUS_SUCCESS);
      const MappedImage sent(client, in), got(client, out);
      for (uint32_t plane = 0; plane < (planar ? 3u : 2u); ++plane)
        for (uint32_t y = 0; y < rows(plane, size.height); ++y)
          fail_unless_equals_int(
              std::memcmp(sent.row(plane, y), got.row(plane, y), cells[plane]), 0);
    }
  }
}
GST_END_TEST;

GST_START_TEST(rectangles_move_only_themselves) {
  Client client;
  const VASurfaceID surface = client.surface(32, 32);
  uint32_t cells[3] = {32, 32, 0};
  const VAImage background = client.image(VA_FOURCC_NV12, 32, 32);
  fill(MappedImage(client, background), 2, {32, 32}, cells, 1);
  fail_unless_equals_int(
      vaPutImage(client.display(), surface, background.image_id, 0, 0, 32, 32, 0, 0, 32, 32),
      VA_STATUS_SUCCESS);
  // An 8x6 piece from (4, 2) of another image to (10, 12).
  const VAImage patch = client.image(VA_FOURCC_NV12, 32, 32);
  fill(MappedImage(client, patch), 2, {32, 32}, cells, 100);
  fail_unless_equals_int(
      vaPutImage(client.display(), surface, patch.image_id, 4, 2, 8, 6, 10, 12, 8, 6),
      VA_STATUS_SUCCESS);

  const VAImage whole = client.image(VA_FOURCC_NV12, 32, 32);
  fail_unless_equals_int(vaGetImage(client.display(), surface, 0, 0, 32, 32, whole.image_id),
                         VA_STATUS_SUCCESS);
  const MappedImage old(client, background), piece(client, patch), now(client, whole);
  for (uint32_t plane = 0; plane < 2; ++plane)
    for (uint32_t y = 0; y < rows(plane, 32); ++y)
      for (uint32_t x = 0; x < 32; ++x) {
        const uint32_t top = plane ? 6 : 12, high = plane ? 3 : 6, from = plane ? 1 : 2;
        const bool inside = x >= 10 && x < 18 && y >= top && y < top + high;
        const uint8_t expected =
            inside ? piece.row(plane, y - top + from)[x - 10 + 4] : old.row(plane, y)[x];
        fail_unless_equals_int(now.row(plane, y)[x], expected);
      }

  // And a piece out of the middle lands at the image's corner.
  const VAImage small = client.image(VA_FOURCC_NV12, 16, 16);
  fail_unless_equals_int(vaGetImage(client.display(), surface, 10, 12, 8, 6, small.image_id),
                         VA_STATUS_SUCCESS);
  const MappedImage corner(client, small);
  fail_unless_equals_int(std::memcmp(corner.row(0, 5), now.row(0, 17) + 10, 8), 0);
  fail_unless_equals_int(std::memcmp(corner.row(1, 2), now.row(1, 8) + 10, 8), 0);
}
GST_END_TEST;

GST_START_TEST(odd_rectangles_take_the_chroma_that_covers_them) {
  Client client;
  const VASurfaceID surface = client.surface(33, 31);
  const FakeOrder order{.width = 33, .height = 31, .seed = 4};
  fail_unless_equals_int(client.decode(client.context(33, 31), surface, order),
                         VA_STATUS_SUCCESS);
  for (const uint32_t fourcc : {VA_FOURCC_NV12, VA_FOURCC_I420}) {
    const VAImage image = client.image(fourcc, 33, 31);
    fail_unless_equals_int(vaGetImage(client.display(), surface, 5, 3, 28, 28, image.image_id),
                           VA_STATUS_SUCCESS);
    const MappedImage mapped(client, image);
    fail_unless_equals_int(sample(mapped, fourcc, 0, 27, 27), fake_sample(order, 0, 32, 30));
    fail_unless_equals_int(sample(mapped, fourcc, 1, 0, 0), fake_sample(order, 1, 2, 1));
    fail_unless_equals_int(sample(mapped, fourcc, 2, 13, 13), fake_sample(order, 2, 15, 14));
  }
}
GST_END_TEST;

GST_START_TEST(surface_copied_to_its_own_derived_image_stays_itself) {
  Client client;
  const VASurfaceID surface = client.surface(64, 48);
  const FakeOrder order{};
  fail_unless_equals_int(client.decode(client.context(64, 48), surface, order),
                         VA_STATUS_SUCCESS);
  VAImage image{};
  fail_unless_equals_int(vaDeriveImage(client.display(), surface, &image), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaGetImage(client.display(), surface, 0, 0, 64, 48, image.image_id),
                         VA_STATUS_SUCCESS);
  fail_unless_equals_int(
      vaPutImage(client.display(), surface, image.image_id, 0, 0, 64, 48, 0, 0, 64, 48),
      VA_STATUS_SUCCESS);
  const MappedImage mapped(client, image);
  fail_unless(shows(mapped, order, VA_FOURCC_NV12, 64, 48));
}
GST_END_TEST;

GST_START_TEST(image_formats_can_all_be_made) {
  Client client;
  std::vector<VAImageFormat> formats(
      static_cast<size_t>(vaMaxNumImageFormats(client.display())));
  int count = 0;
  fail_unless_equals_int(vaQueryImageFormats(client.display(), formats.data(), &count),
                         VA_STATUS_SUCCESS);
  fail_unless(count > 0 && static_cast<size_t>(count) <= formats.size());
  fail_unless_equals_int(formats[0].fourcc, VA_FOURCC_NV12);
  for (int i = 0; i < count; ++i) {
    VAImage image{};
    fail_unless_equals_int(
        vaCreateImage(client.display(), &formats[static_cast<size_t>(i)], 61, 47, &image),
        VA_STATUS_SUCCESS);
    for (uint32_t plane = 0; plane < image.num_planes; ++plane)
      fail_unless(image.offsets[plane] + image.pitches[plane] * rows(plane, 47) <=
                  image.data_size);
    fail_unless_equals_int(vaDestroyImage(client.display(), image.image_id), VA_STATUS_SUCCESS);
  }
}
GST_END_TEST;

GST_START_TEST(image_whose_buffer_was_destroyed_first_still_goes) {
  Client client;
  const VAImage image = client.image(VA_FOURCC_NV12, 64, 48);
  fail_unless_equals_int(vaDestroyBuffer(client.display(), image.buf), VA_STATUS_SUCCESS);
  fail_unless_equals_int(
      vaGetImage(client.display(), client.surface(64, 48), 0, 0, 64, 48, image.image_id),
      VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaDestroyImage(client.display(), image.image_id), VA_STATUS_SUCCESS);
}
GST_END_TEST;

Suite* softva_images_suite() {
  Suite* suite = suite_create("softva_images");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, derived_image_is_the_exported_memory);
  tcase_add_test(tcase, planes_in_two_objects_cannot_be_derived);
  tcase_add_test(tcase, derived_image_outlives_its_surface);
  tcase_add_test(tcase, get_image_reads_what_was_decoded_in_every_format_and_layout);
  tcase_add_test(tcase, get_image_of_ten_bits);
  tcase_add_test(tcase, put_then_get_is_the_same_picture);
  tcase_add_test(tcase, rectangles_move_only_themselves);
  tcase_add_test(tcase, odd_rectangles_take_the_chroma_that_covers_them);
  tcase_add_test(tcase, surface_copied_to_its_own_derived_image_stays_itself);
  tcase_add_test(tcase, image_formats_can_all_be_made);
  tcase_add_test(tcase, image_whose_buffer_was_destroyed_first_still_goes);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(softva_images)
