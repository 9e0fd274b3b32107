// SPDX-License-Identifier: LGPL-2.1-or-later

// The check that stands between hostile numbers and drivers. The tables are the inputs that
// kill, hang or fool drivers; the random test holds classify() against 128-bit arithmetic.

#include "lib/video/nv12_layout.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/video/frame_view.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;
using namespace dxva::video;

namespace {

constexpr uint64_t kTiled = 0x0100000000000002;  // Intel's Y tiling

// 64x64, tight: luma 4096 bytes, chroma 2048.
ImageDescription tight_nv12() {
  return {
      .fourcc = format::kNV12,
      .width = 64,
      .height = 64,
      .object_count = 1,
      .plane_count = 2,
      .objects = {{{.size_bytes = 6144, .identity = {1, 1}}}},
      .planes = {{{.offset = 0, .pitch_bytes = 64, .format = format::kR8},
                  {.offset = 4096, .pitch_bytes = 64, .format = format::kGR88}}},
  };
}

ImageDescription tight_p010() {
  return {
      .fourcc = format::kP010,
      .width = 64,
      .height = 64,
      .object_count = 1,
      .plane_count = 2,
      .objects = {{{.size_bytes = 12288, .identity = {1, 1}}}},
      .planes = {{{.offset = 0, .pitch_bytes = 128, .format = format::kR16},
                  {.offset = 8192, .pitch_bytes = 128, .format = format::kGR1616}}},
  };
}

ImageDescription two_objects() {
  ImageDescription image = tight_nv12();
  image.object_count = 2;
  image.objects[1] = {.size_bytes = 6144, .identity = {1, 2}};
  image.planes[1].object = 1;
  image.planes[1].offset = 0;
  return image;
}

ImageDescription two_dups() {
  ImageDescription image = tight_nv12();
  image.object_count = 2;
  image.objects[1] = image.objects[0];
  image.planes[1].object = 1;
  return image;
}

using Change = std::function<void(ImageDescription&)>;

struct Bad {
  const char* what;
  Reason reason;
  Change change;
};

void expect_refused(const Bad& bad, ImageDescription image, LayoutRule rule) {
  bad.change(image);
  const auto layout = classify(image, rule);
  fail_if(bool(layout), "%s: accepted", bad.what);
  fail_unless(layout.error().reason == bad.reason, "%s: %s", bad.what,
              layout.error().describe().c_str());
}

LayoutClass class_of(const ImageDescription& image, LayoutRule rule = LayoutRule::Any) {
  const auto layout = classify(image, rule);
  fail_unless(bool(layout), "%s", layout ? "" : layout.error().describe().c_str());
  return layout->layout_class;
}

GST_START_TEST(tight_images_are_tight_linear) {
  for (const auto& image : {tight_nv12(), tight_p010(), two_dups()}) {
    fail_unless(class_of(image, LayoutRule::Any) == LayoutClass::TightLinear);
    fail_unless(class_of(image, LayoutRule::TightLinear) == LayoutClass::TightLinear);
  }
  // Plane formats need not be told: the image's fourcc implies them.
  ImageDescription untold = tight_nv12();
  untold.planes[0].format = untold.planes[1].format = 0;
  fail_unless(class_of(untold, LayoutRule::TightLinear) == LayoutClass::TightLinear);
}
GST_END_TEST;

const std::vector<Bad>& hostile_table() {
  using enum Reason;
  static const std::vector<Bad> table = {
      // These pass eglCreateImage on a software renderer and crash at the next draw.
      {"offset 1 MiB", OffsetOutOfRange, [](auto& i) { i.planes[0].offset = 1 << 20; }},
      {"offset 2^31-1", OffsetOutOfRange, [](auto& i) { i.planes[0].offset = 0x7fffffff; }},
      {"offset -64", OffsetOutOfRange, [](auto& i) { i.planes[0].offset = -64; }},
      {"offset -4096", OffsetOutOfRange, [](auto& i) { i.planes[0].offset = -4096; }},
      {"chroma offset -64", OffsetOutOfRange, [](auto& i) { i.planes[1].offset = -64; }},
      {"pitch 1 MiB", ObjectTooSmall, [](auto& i) { i.planes[0].pitch_bytes = 1 << 20; }},
      {"pitch 2^31-1", PitchOutOfRange, [](auto& i) { i.planes[0].pitch_bytes = 0x7fffffff; }},
      {"height 4096", ObjectTooSmall, [](auto& i) { i.height = 4096; }},
      {"empty buffer", BadDescriptor, [](auto& i) { i.objects[0].size_bytes = 0; }},
      // These show other memory of the process.
      {"offset = size", OffsetOutOfRange, [](auto& i) { i.planes[1].offset = 6144; }},
      {"luma half out", ObjectTooSmall, [](auto& i) { i.planes[0].offset = 4096; }},
      {"chroma half out", ObjectTooSmall, [](auto& i) { i.planes[1].offset = 5120; }},
      {"height x4", ObjectTooSmall, [](auto& i) { i.height = 256; }},
      {"buffer of 100 bytes", ObjectTooSmall,
       [](auto& i) {
         i.objects[0].size_bytes = 100;
         i.planes[1].offset = 50;
       }},
      {"one byte short", ObjectTooSmall, [](auto& i) { i.objects[0].size_bytes = 6143; }},
      // These show overlapping rows.
      {"pitch < width", PitchTooSmall, [](auto& i) { i.planes[0].pitch_bytes = 63; }},
      {"chroma pitch < width", PitchTooSmall, [](auto& i) { i.planes[1].pitch_bytes = 63; }},
      {"pitch 1", PitchTooSmall, [](auto& i) { i.planes[0].pitch_bytes = 1; }},
      {"pitch 0", PitchTooSmall, [](auto& i) { i.planes[0].pitch_bytes = 0; }},
      {"pitch -64", PitchOutOfRange, [](auto& i) { i.planes[0].pitch_bytes = -64; }},
      {"odd pitch without room", ObjectTooSmall, [](auto& i) { i.planes[0].pitch_bytes = 97; }},
      // Sizes that no texture has.
      {"width 20000", SizeOutOfRange, [](auto& i) { i.width = 20000; }},
      {"width 65536", SizeOutOfRange, [](auto& i) { i.width = 65536; }},
      {"height 100000", SizeOutOfRange, [](auto& i) { i.height = 100000; }},
      {"width 0", SizeOutOfRange, [](auto& i) { i.width = 0; }},
      {"height 0", SizeOutOfRange, [](auto& i) { i.height = 0; }},
      {"height 2^32-1", SizeOutOfRange, [](auto& i) { i.height = UINT32_MAX; }},
      // Descriptions that are none.
      {"unknown fourcc", FormatUnsupported,
       [](auto& i) { i.fourcc = fourcc('X', 'Y', 'Z', '0'); }},
      {"no fourcc", FormatUnsupported, [](auto& i) { i.fourcc = 0; }},
      {"wrong plane format", FormatUnsupported,
       [](auto& i) { i.planes[1].format = format::kR8; }},
      {"chroma bytes swapped", FormatUnsupported,
       [](auto& i) { i.planes[1].format = format::kRG88; }},
      {"missing plane", PlaneCount, [](auto& i) { i.plane_count = 1; }},
      {"no plane", PlaneCount, [](auto& i) { i.plane_count = 0; }},
      {"three planes", AuxPlane, [](auto& i) { i.plane_count = 3; }},
      {"four planes", AuxPlane, [](auto& i) { i.plane_count = 4; }},
      {"2^32-1 planes", PlaneCount, [](auto& i) { i.plane_count = UINT32_MAX; }},
      {"no buffer", BadDescriptor, [](auto& i) { i.object_count = 0; }},
      {"2^32-1 buffers", DescriptorInvalid, [](auto& i) { i.object_count = UINT32_MAX; }},
      {"plane in no buffer", DescriptorInvalid, [](auto& i) { i.planes[1].object = 1; }},
      {"plane in buffer 2^32-1", DescriptorInvalid,
       [](auto& i) { i.planes[0].object = UINT32_MAX; }},
  };
  return table;
}

GST_START_TEST(hostile_numbers_are_refused_with_their_reason) {
  for (const Bad& bad : hostile_table()) {
    expect_refused(bad, tight_nv12(), LayoutRule::Any);
    expect_refused(bad, tight_nv12(), LayoutRule::TightLinear);
  }
}
GST_END_TEST;

GST_START_TEST(planes_with_different_modifiers_are_refused) {
  expect_refused({"tiled chroma", Reason::ModifierMismatch,
                  [](auto& i) { i.objects[1].modifier = kTiled; }},
                 two_objects(), LayoutRule::Any);
}
GST_END_TEST;

GST_START_TEST(each_part_of_the_tight_rule_has_its_reason) {
  using enum Reason;
  const std::vector<Bad> table = {
      {"tiled", ModifierNotLinear, [](auto& i) { i.objects[0].modifier = kTiled; }},
      {"modifier not given", ModifierNotLinear,
       [](auto& i) { i.objects[0].modifier = kModifierInvalid; }},
      {"two buffers", ObjectsDiffer, [](auto& i) { i = two_objects(); }},
      {"unused second buffer", ObjectsDiffer,
       [](auto& i) {
         i.object_count = 2;
         i.objects[1] = {.size_bytes = 6144, .identity = {1, 2}};
       }},
      {"chroma pitch larger", PitchMismatch,
       [](auto& i) {
         i.objects[0].size_bytes = 65536;
         i.planes[1].pitch_bytes = 128;
       }},
      {"gap above chroma", ChromaNotAdjacent,
       [](auto& i) {
         i.objects[0].size_bytes = 65536;
         i.planes[1].offset = 4160;
       }},
      {"luma not at the start", ChromaNotAdjacent,
       [](auto& i) {
         i.objects[0].size_bytes = 65536;
         i.planes[0].offset = 64;
         i.planes[1].offset = 4160;
       }},
      {"luma not at the start, chroma where it would be", ChromaNotAdjacent,
       [](auto& i) {
         i.objects[0].size_bytes = 65536;
         i.planes[0].offset = 64;
       }},
      {"chroma over luma", ChromaNotAdjacent, [](auto& i) { i.planes[1].offset = 0; }},
      {"no padding behind the last row", ObjectTooSmall,
       [](auto& i) {
         i.width = 60;
         i.objects[0].size_bytes = 6144 - 4;
       }},
      {"second descriptor of the buffer measures less", ObjectTooSmall,
       [](auto& i) {
         i = two_dups();
         i.width = 60;
         i.objects[1].size_bytes = 6144 - 4;
       }},
  };
  for (const Bad& bad : table) {
    expect_refused(bad, tight_nv12(), LayoutRule::TightLinear);
    // None of them is a reason against other ways of reading it.
    ImageDescription image = tight_nv12();
    bad.change(image);
    fail_unless(class_of(image) != LayoutClass::TightLinear, "%s", bad.what);
  }
}
GST_END_TEST;

GST_START_TEST(padded_and_split_images_are_linear) {
  ImageDescription padded = tight_nv12();
  padded.width = 60;
  padded.planes[0].pitch_bytes = padded.planes[1].pitch_bytes = 97;  // odd pitches are legal
  padded.planes[1].offset = 97 * 64 + 5120;
  padded.objects[0].size_bytes = 97 * 64 + 5120 + 97 * 31 + 60;
  fail_unless(class_of(padded) == LayoutClass::Linear);
  --padded.objects[0].size_bytes;
  fail_if(bool(classify(padded, LayoutRule::Any)));

  fail_unless(class_of(two_objects()) == LayoutClass::Linear);
}
GST_END_TEST;

GST_START_TEST(tiled_images_keep_their_modifier) {
  for (uint64_t modifier : {kTiled, kModifierInvalid}) {
    ImageDescription image = tight_nv12();
    image.objects[0].modifier = modifier;
    const auto layout = classify(image, LayoutRule::Any);
    fail_unless(bool(layout));
    fail_unless(layout->layout_class == LayoutClass::Tiled);
    fail_unless(layout->modifier == modifier);
  }
}
GST_END_TEST;

GST_START_TEST(odd_sizes_round_chroma_up) {
  fail_unless_equals_uint64(plane_row_bytes(format::kNV12, 0, 61), 61);
  fail_unless_equals_uint64(plane_row_bytes(format::kNV12, 1, 61), 62);
  fail_unless_equals_uint64(plane_row_bytes(format::kP010, 0, 61), 122);
  fail_unless_equals_uint64(plane_row_bytes(format::kP010, 1, 61), 124);
  fail_unless_equals_uint64(plane_row_bytes(format::kP010, 1, UINT32_MAX), 4ull * (1ull << 31));
  fail_unless_equals_int(plane_rows(0, 47), 47);
  fail_unless_equals_int(plane_rows(1, 47), 24);
  fail_unless(plane_rows(1, UINT32_MAX) == 1u << 31);

  ImageDescription image = tight_nv12();
  image.width = 61;
  image.height = 47;
  image.planes[1].offset = 64 * 47;
  image.objects[0].size_bytes = 64 * (47 + 24);
  fail_unless(class_of(image, LayoutRule::TightLinear) == LayoutClass::TightLinear);
  // height x 3/2 alone would leave out half of the last chroma row.
  image.objects[0].size_bytes = 64 * 47 * 3 / 2;
  fail_if(bool(classify(image, LayoutRule::TightLinear)));

  image.planes[1].pitch_bytes = 61;  // luma's width, one short of a chroma row
  image.objects[0].size_bytes = 65536;
  fail_if(bool(classify(image, LayoutRule::Any)));

  ImageDescription pixel = tight_nv12();
  pixel.width = pixel.height = 1;
  pixel.planes[0].pitch_bytes = 1;
  pixel.planes[1].offset = 1;
  pixel.planes[1].pitch_bytes = 2;
  pixel.objects[0].size_bytes = 3;
  fail_unless(class_of(pixel) == LayoutClass::Linear);
}
GST_END_TEST;

GST_START_TEST(the_largest_image_still_counts_right) {
  ImageDescription image = tight_p010();
  image.width = image.height = kMaxDimension;
  image.planes[0].pitch_bytes = image.planes[1].pitch_bytes = kMaxPitchBytes;
  image.planes[1].offset = INT32_MAX;
  const uint64_t row = 2 * uint64_t{kMaxDimension};
  const uint64_t end = std::max(kMaxPitchBytes * (kMaxDimension - 1) + row,
                                INT32_MAX + kMaxPitchBytes * (kMaxDimension / 2 - 1) + row);
  image.objects[0].size_bytes = end;
  fail_unless(class_of(image) == LayoutClass::Linear);
  --image.objects[0].size_bytes;
  fail_if(bool(classify(image, LayoutRule::Any)));
  // EGL's attribute is a signed 32-bit number.
  image.objects[0].size_bytes = UINT64_MAX;
  image.planes[1].offset = uint64_t{INT32_MAX} + 1;
  expect_refused({"offset 2^31", Reason::OffsetOutOfRange, [](auto&) {}}, image,
                 LayoutRule::Any);
}
GST_END_TEST;

// --- random descriptions

class Random {
 public:
  uint64_t next() {  // xorshift64*, Vigna 2014
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dull;
  }
  uint64_t below(uint64_t limit) { return next() % limit; }
  // Where mistakes live: near 0, near powers of two, near the top, and anything.
  uint64_t number() {
    const uint64_t power = uint64_t{1} << below(64);
    switch (below(5)) {
      case 0:
        return below(130);
      case 1:
        return power + below(3) - 1;
      case 2:
        return UINT64_MAX - below(5000);
      case 3:
        return below(20000);
      default:
        return next() >> below(64);
    }
  }

 private:
  uint64_t state_ = 88172645463325252ull;
};

ImageDescription random_valid_image(Random& random) {
  const bool ten_bit = random.below(2);
  ImageDescription image = ten_bit ? tight_p010() : tight_nv12();
  image.width = static_cast<uint32_t>(1 + random.below(300));
  image.height = static_cast<uint32_t>(1 + random.below(300));
  image.object_count = static_cast<uint32_t>(1 + random.below(2));
  for (uint32_t p = 0; p < 2; ++p) {
    PlaneDescription& plane = image.planes[p];
    const uint64_t row = (image.width + 1) * (ten_bit ? 2 : 1);
    const uint64_t rows = p == 0 ? image.height : (image.height + 1) / 2;
    plane.object = p == 1 && image.object_count == 2 ? 1 : 0;
    plane.pitch_bytes = row + random.below(70);
    plane.offset = p * random.below(200000);
    ObjectDescription& object = image.objects[plane.object];
    object.identity = {1, plane.object};
    object.size_bytes = std::max(plane.object == 1 ? 0 : p * object.size_bytes,
                                 plane.offset + plane.pitch_bytes * rows + random.below(2));
  }
  return image;
}

void spoil(ImageDescription& image, Random& random) {
  PlaneDescription& plane = image.planes[random.below(2)];
  ObjectDescription& object = image.objects[random.below(2)];
  const auto value = random.number();
  const auto small = static_cast<uint32_t>(value);
  switch (random.below(10)) {
    case 0:
      plane.offset = value;
      break;
    case 1:
      plane.pitch_bytes = value;
      break;
    case 2:
      object.size_bytes = value;
      break;
    case 3:
      image.width = small;
      break;
    case 4:
      image.height = small;
      break;
    case 5:
      plane.object = small;
      break;
    case 6:
      image.object_count = small;
      break;
    case 7:
      object.modifier = random.below(2) ? kTiled : 0;
      break;
    case 8:  // just at, or around, the end
      object.size_bytes -= random.below(200);
      break;
    default:
      break;
  }
}

// Every byte that a reader of `image` touches lies inside a buffer.
bool stays_inside(const ImageDescription& image) {
  if (image.plane_count != 2 || image.object_count > kMaxPlanes) return false;
  for (uint32_t p = 0; p < 2; ++p) {
    const PlaneDescription& plane = image.planes[p];
    if (plane.object >= image.object_count) return false;
    const __int128 sample = image.fourcc == format::kP010 ? 2 : 1;
    const __int128 width = image.width, height = image.height;
    const __int128 row = (p == 0 ? width : width + width % 2) * sample;
    const __int128 rows = p == 0 ? height : (height + 1) / 2;
    const __int128 last =
        __int128{plane.offset} + (rows - 1) * __int128{plane.pitch_bytes} + row;
    if (rows < 1 || row < 1 || __int128{plane.pitch_bytes} < row ||
        last > __int128{image.objects[plane.object].size_bytes})
      return false;
  }
  return true;
}

bool within_limits(const ImageDescription& image) {
  for (uint32_t p = 0; p < 2; ++p)
    if (image.planes[p].pitch_bytes > kMaxPitchBytes || image.planes[p].offset > INT32_MAX)
      return false;
  return image.width <= kMaxDimension && image.height <= kMaxDimension &&
         image.objects[image.planes[0].object].modifier ==
             image.objects[image.planes[1].object].modifier;
}

GST_START_TEST(random_images_are_accepted_exactly_when_they_stay_inside) {
  Random random;
  int accepted = 0;
  int tight = 0;
  for (int i = 0; i < 100000; ++i) {
    ImageDescription image = random_valid_image(random);
    if (random.below(8) == 0) {  // make it tight, so that this rule is met at times
      image.object_count = 1;
      image.planes[1].object = 0;
      image.planes[1].pitch_bytes = image.planes[0].pitch_bytes;
      image.planes[1].offset = image.planes[0].pitch_bytes * image.height;
      image.objects[0].size_bytes = image.planes[0].pitch_bytes * image.height * 2;
    }
    for (uint64_t n = random.below(3); n > 0; --n) spoil(image, random);

    const auto any = classify(image, LayoutRule::Any);
    const bool expected = stays_inside(image) && within_limits(image);
    fail_unless(bool(any) == expected, "image %d: %s", i,
                any ? "accepted" : any.error().describe().c_str());
    if (!any) fail_unless(any.error().reason != Reason::None);
    accepted += any ? 1 : 0;

    const auto strict = classify(image, LayoutRule::TightLinear);
    const bool is_tight = any && any->layout_class == LayoutClass::TightLinear;
    fail_unless(bool(strict) == is_tight, "image %d", i);
    tight += is_tight ? 1 : 0;
  }
  // The test means something only when all three answers come.
  fail_unless(accepted > 20000 && accepted < 90000, "%d accepted", accepted);
  fail_unless(tight > 2000, "%d tight", tight);
}
GST_END_TEST;

GST_START_TEST(copied_planes_leave_padding_alone) {
  // 3 rows of 4 bytes in a pitch of 6, the last row without padding.
  const std::vector<uint8_t> from = {1, 2, 3, 4, 0, 0, 5, 6, 7, 8, 0, 0, 9, 10, 11, 12};
  const PlaneView plane{.data = from.data(), .pitch_bytes = 6, .row_bytes = 4, .rows = 3};
  std::vector<uint8_t> to(5 * 3 - 1, 99);
  copy_plane(plane, to.data(), 5);
  fail_unless(to == std::vector<uint8_t>({1, 2, 3, 4, 99, 5, 6, 7, 8, 99, 9, 10, 11, 12}));

  const PlaneView packed{.data = from.data(), .pitch_bytes = 4, .row_bytes = 4, .rows = 4};
  std::vector<uint8_t> whole(16, 99);
  copy_plane(packed, whole.data(), 4);
  fail_unless(whole == from);
}
GST_END_TEST;

Suite* video_nv12_layout_suite() {
  Suite* suite = suite_create("video_nv12_layout");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_set_timeout(tcase, 60);  // the random test under sanitizers
  tcase_add_test(tcase, tight_images_are_tight_linear);
  tcase_add_test(tcase, hostile_numbers_are_refused_with_their_reason);
  tcase_add_test(tcase, planes_with_different_modifiers_are_refused);
  tcase_add_test(tcase, each_part_of_the_tight_rule_has_its_reason);
  tcase_add_test(tcase, padded_and_split_images_are_linear);
  tcase_add_test(tcase, tiled_images_keep_their_modifier);
  tcase_add_test(tcase, odd_sizes_round_chroma_up);
  tcase_add_test(tcase, the_largest_image_still_counts_right);
  tcase_add_test(tcase, random_images_are_accepted_exactly_when_they_stay_inside);
  tcase_add_test(tcase, copied_planes_leave_padding_alone);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(video_nv12_layout)
