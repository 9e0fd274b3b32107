// SPDX-License-Identifier: LGPL-2.1-or-later

// H.265 from rendered buffers to pixels.

#include <algorithm>
#include <random>

#include "lib/softva/hevc_decoder.hpp"
#include "tests/check/support/hevc_pictures.hpp"
#include "tests/check/support/pixel_sum.hpp"
// Last: check's macros have names that the standard library uses too.
#include "tests/check/support/check.hpp"

using namespace dxva;
using namespace dxva::softva;
using namespace dxva::test;

namespace {

constexpr uint32_t kBefore = VA_PICTURE_HEVC_RPS_ST_CURR_BEFORE;
constexpr uint32_t kAfter = VA_PICTURE_HEVC_RPS_ST_CURR_AFTER;
constexpr uint32_t kLongTerm =
    VA_PICTURE_HEVC_RPS_LT_CURR | VA_PICTURE_HEVC_LONG_TERM_REFERENCE;

int luma_at(const Pixels& pixels, uint32_t x, uint32_t y) {
  return pixels.planes[0][y * pixels.pitches[0] + x];
}

// A stream of one-block pictures, each of one value.
class Stream {
 public:
  struct Reference {
    VASurfaceID surface;
    int32_t order_count;
    uint32_t role;
  };

  Stream() {
    auto decoder = FrameDecoder::create(VAProfileHEVCMain);
    fail_unless(bool(decoder));
    decoder_ = std::move(*decoder);
  }

  // The value of a picture that has one; -1 where it was refused.
  int pcm(uint8_t nal_type, VASurfaceID target, int32_t order_count, uint16_t luma,
          const std::vector<Reference>& references = {}) {
    return value_of(decoder_->decode(pcm_picture(parameters(order_count, references), target,
                                                 {.nal_type = nal_type}, luma)));
  }
  // A copy of the first picture in the list of references.
  int skip(VASurfaceID target, int32_t order_count, const std::vector<Reference>& references) {
    return value_of(decoder_->decode(skip_picture(parameters(order_count, references), target,
                                                  {.nal_type = kTrailR, .own_set = {1}})));
  }
  int long_term_skip(VASurfaceID target, int32_t order_count,
                     const std::vector<Reference>& references, uint8_t first) {
    Picture picture = skip_picture(parameters(order_count, references), target,
                                   {.nal_type = kTrailR, .own_set = {1}});
    auto* slice = reinterpret_cast<SliceParameters*>(picture.buffers[1].bytes.data());
    slice->RefPicList[0][0] = first;
    return value_of(decoder_->decode(picture));
  }

 private:
  static PictureParameters parameters(int32_t order_count,
                                      const std::vector<Reference>& references) {
    PictureParameters out = plain_picture(16, 16);
    out.CurrPic.pic_order_cnt = order_count;
    for (const auto& [surface, count, role] : references)
      add_reference(out, surface, count, role);
    return out;
  }
  static int value_of(const Result<Pixels>& pixels) {
    if (!pixels) return -1;
    const int value = luma_at(*pixels, 0, 0);
    for (uint32_t y = 0; y < 16; ++y) {
      for (uint32_t x = 0; x < 16; ++x) fail_unless_equals_int(luma_at(*pixels, x, y), value);
    }
    return value;
  }

  std::unique_ptr<FrameDecoder> decoder_;
};

}  // namespace

GST_START_TEST(a_picture_comes_out_as_it_was_coded) {
  auto decoder = HevcDecoder::create(8);
  fail_unless(bool(decoder));
  const auto pixels = (*decoder)->decode(pcm_picture(plain_picture(16, 16), 1, {}, 77));
  fail_unless(bool(pixels));
  fail_unless(pixels->layout == Pixels::Layout::Yuv420);
  fail_unless_equals_int(pixels->bit_depth, 8);
  fail_unless_equals_int(pixels->width, 16);
  fail_unless_equals_int(pixels->height, 16);
  fail_unless_equals_int(luma_at(*pixels, 0, 0), 77);
  fail_unless_equals_int(luma_at(*pixels, 15, 15), 77);
  fail_unless_equals_int(pixels->planes[1][0], 128);
  fail_unless_equals_int(pixels->planes[2][7 * pixels->pitches[2] + 7], 128);
}
GST_END_TEST;

GST_START_TEST(ten_bits_come_out_in_sixteen) {
  auto decoder = FrameDecoder::create(VAProfileHEVCMain10);
  fail_unless(bool(decoder));
  const PictureParameters deep = plain_picture(16, 16, 10);
  const auto pixels = (*decoder)->decode(pcm_picture(deep, 1, {}, 1001));
  fail_unless(bool(pixels));
  fail_unless_equals_int(pixels->bit_depth, 10);
  uint16_t sample;
  std::memcpy(&sample, pixels->planes[0] + 15 * pixels->pitches[0] + 30, sizeof sample);
  fail_unless_equals_int(sample, 1001);
  // A Main 10 stream may have 8 bits, and change between the two.
  const auto shallow = (*decoder)->decode(pcm_picture(plain_picture(16, 16), 2, {}, 101));
  fail_unless(bool(shallow));
  fail_unless_equals_int(shallow->bit_depth, 8);
  fail_unless_equals_int(luma_at(*shallow, 3, 3), 101);
  // Main's surfaces hold 8.
  auto main = FrameDecoder::create(VAProfileHEVCMain);
  fail_unless(bool(main));
  fail_if(bool((*main)->decode(pcm_picture(deep, 1, {}, 1001))));
}
GST_END_TEST;

GST_START_TEST(pictures_refer_to_what_va_says) {
  Stream stream;
  fail_unless_equals_int(stream.pcm(kIdrNLp, 1, 0, 10), 10);
  fail_unless_equals_int(stream.pcm(kTrailR, 2, 4, 20, {{1, 0, 0}}), 20);
  fail_unless_equals_int(stream.pcm(kTrailR, 3, 2, 30, {{1, 0, 0}, {2, 4, 0}}), 30);
  // The nearest one before is the first in the list, in whichever order VA has them.
  fail_unless_equals_int(stream.skip(4, 3, {{2, 4, kAfter}, {1, 0, kBefore}, {3, 2, kBefore}}),
                         30);
  fail_unless_equals_int(stream.skip(5, 5, {{1, 0, 0}, {2, 4, kBefore}, {3, 2, kBefore}}), 20);
  // A picture that is only kept is in no list, and is there later.
  fail_unless_equals_int(stream.skip(6, 6, {{1, 0, kBefore}, {2, 4, 0}, {5, 5, 0}}), 10);
  fail_unless_equals_int(stream.skip(7, 7, {{2, 4, kBefore}, {5, 5, 0}}), 20);
}
GST_END_TEST;

GST_START_TEST(a_missing_reference_is_grey_and_never_the_picture_itself) {
  Stream stream;
  fail_unless_equals_int(stream.pcm(kIdrNLp, 1, 0, 10), 10);
  fail_unless_equals_int(stream.skip(2, 2, {{1, 0, 0}, {9, 1, kBefore}}), 128);
  fail_unless_equals_int(stream.pcm(kTrailR, 3, 3, 33, {{8, 1, kBefore}}), 33);
}
GST_END_TEST;

GST_START_TEST(long_term_pictures_are_found) {
  Stream stream;
  fail_unless_equals_int(stream.pcm(kIdrNLp, 1, 0, 10), 10);
  fail_unless_equals_int(stream.pcm(kTrailR, 2, 1, 20, {{1, 0, 0}}), 20);
  const std::vector<Stream::Reference> kept = {{1, 0, kLongTerm}, {2, 1, kLongTerm}};
  fail_unless_equals_int(stream.pcm(kTrailR, 3, 2, 30, kept), 30);
  // Farther than any short term reference may be.
  fail_unless_equals_int(stream.pcm(kTrailR, 3, 30000, 30, kept), 30);
  fail_unless_equals_int(stream.pcm(kTrailR, 3, 60000, 30, kept), 30);
  // VA's list decides which is the first.
  fail_unless_equals_int(stream.long_term_skip(4, 60001, kept, 1), 20);
  fail_unless_equals_int(stream.long_term_skip(4, 60002, kept, 0), 10);
}
GST_END_TEST;

GST_START_TEST(order_counts_may_be_anywhere) {
  Stream stream;
  // A recovery point that has its reference made up, below zero.
  fail_unless_equals_int(stream.pcm(kCra, 1, -5, 10, {{9, -13, 0}}), 10);
  fail_unless_equals_int(stream.skip(2, -4, {{1, -5, kBefore}}), 10);
  fail_unless_equals_int(stream.skip(3, 0, {{2, -4, kBefore}}), 10);
  int32_t count = 0;
  VASurfaceID last = 3;
  // Over the end of 16 bits.
  for (int i = 0; i < 10; ++i) {
    const VASurfaceID next = last == 3 ? 4 : 3;
    fail_unless_equals_int(stream.skip(next, count + 20000, {{last, count, kBefore}}), 10);
    count += 20000;
    last = next;
  }
}
GST_END_TEST;

// A client that seeks tells its driver nothing.
GST_START_TEST(a_seek_leaves_nothing_behind) {
  Stream stream;
  fail_unless_equals_int(stream.pcm(kIdrNLp, 1, 0, 10), 10);
  for (int i = 1; i < 8; ++i)
    fail_unless_equals_int(stream.skip(static_cast<VASurfaceID>(1 + i), i,
                                       {{static_cast<VASurfaceID>(i), i - 1, kBefore}}),
                           10);
  // Back to before: the same order counts, other pictures.
  fail_unless_equals_int(stream.pcm(kCra, 20, 2, 60, {{19, 1, 0}}), 60);
  fail_unless_equals_int(stream.skip(21, 3, {{20, 2, kBefore}}), 60);
  fail_unless_equals_int(stream.skip(22, 4, {{21, 3, kBefore}}), 60);
  // Into the middle of pictures: what the first one refers to is not here.
  fail_unless_equals_int(stream.skip(30, 4, {{29, 3, kBefore}}), 128);
  fail_unless_equals_int(stream.pcm(kTrailR, 31, 5, 70, {{30, 4, kBefore}}), 70);
  fail_unless_equals_int(stream.skip(32, 6, {{31, 5, kBefore}}), 70);
}
GST_END_TEST;

GST_START_TEST(a_refused_picture_does_not_disturb_the_next) {
  Stream stream;
  fail_unless_equals_int(stream.pcm(kIdrNLp, 1, 0, 10), 10);
  fail_unless_equals_int(stream.skip(2, 1, {{1, 0, kAfter}}), -1);
  fail_unless_equals_int(stream.skip(2, 1, {}), -1);  // P without references
  fail_unless_equals_int(stream.pcm(kIdrNLp, 1, 0, 11), 11);
  fail_unless_equals_int(stream.skip(2, 1, {{1, 0, kBefore}}), 11);
}
GST_END_TEST;

GST_START_TEST(pixels_outlive_later_pictures_and_the_decoder) {
  std::vector<Pixels> kept;
  {
    auto decoder = HevcDecoder::create(8);
    fail_unless(bool(decoder));
    for (uint8_t luma = 10; luma < 60; ++luma) {
      auto pixels = (*decoder)->decode(pcm_picture(plain_picture(16, 16), 1, {}, luma));
      fail_unless(bool(pixels), "picture of %d", luma);
      kept.push_back(std::move(*pixels));
    }
  }
  for (size_t i = 0; i < kept.size(); ++i)
    fail_unless_equals_int(luma_at(kept[i], 9, 9), static_cast<int>(10 + i));
}
GST_END_TEST;

// Whatever a client renders, decoding ends, and a picture that comes out can be read.
GST_START_TEST(random_damage_never_hurts) {
  std::mt19937 random(11);
  Result<std::unique_ptr<FrameDecoder>> decoder = HevcDecoder::create(10);
  for (int round = 0; round < 3000; ++round) {
    if (round % 100 == 0) decoder = HevcDecoder::create(10);
    fail_unless(bool(decoder));
    PictureParameters parameters = plain_picture(16, 16, random() % 8 ? 8 : 10);
    const auto now = static_cast<int32_t>(random() % 32);
    parameters.CurrPic.pic_order_cnt = now;
    parameters.slice_parsing_fields.bits.long_term_ref_pics_present_flag = random() % 2;
    for (int n = static_cast<int>(random() % 4); n > 0; --n)
      add_reference(parameters, 1 + random() % 4, now - n,
                    random() % 3   ? kBefore
                    : random() % 2 ? kLongTerm
                                   : 0);
    const uint8_t types[] = {kTrailR, kTrailR, kTrailR, kIdrNLp, kCra, kBlaWLp};
    const SliceSyntax syntax{.nal_type = types[random() % 6], .own_set = {1}};
    const VASurfaceID target = 1 + random() % 4;
    Picture picture = random() % 2 ? pcm_picture(parameters, target, syntax, 100)
                                   : skip_picture(parameters, target, syntax);
    // Damage mostly where it matters: the structs, and the start of the slice.
    for (unsigned n = random() % 4; n > 0; --n) {
      ParameterBuffer& buffer = picture.buffers[random() % picture.buffers.size()];
      const size_t reach =
          random() % 4 ? std::min<size_t>(buffer.bytes.size(), 64) : buffer.bytes.size();
      buffer.bytes[random() % reach] ^= static_cast<uint8_t>(1U << random() % 8);
    }
    if (random() % 50 == 0) picture.buffers.erase(picture.buffers.begin() + random() % 3);
    const auto pixels = (*decoder)->decode(picture);
    if (!pixels) continue;
    const uint64_t sum = pixel_sum(*pixels);
    fail_unless(sum != 1);  // keeps the reads
  }
}
GST_END_TEST;

static Suite* softva_hevc_decode_suite() {
  Suite* suite = suite_create("softva-hevc-decode");
  TCase* chain = tcase_create("decode");
  suite_add_tcase(suite, chain);
  tcase_add_test(chain, a_picture_comes_out_as_it_was_coded);
  tcase_add_test(chain, ten_bits_come_out_in_sixteen);
  tcase_add_test(chain, pictures_refer_to_what_va_says);
  tcase_add_test(chain, a_missing_reference_is_grey_and_never_the_picture_itself);
  tcase_add_test(chain, long_term_pictures_are_found);
  tcase_add_test(chain, order_counts_may_be_anywhere);
  tcase_add_test(chain, a_seek_leaves_nothing_behind);
  tcase_add_test(chain, a_refused_picture_does_not_disturb_the_next);
  tcase_add_test(chain, pixels_outlive_later_pictures_and_the_decoder);
  tcase_add_test(chain, random_damage_never_hurts);
  return suite;
}

GST_CHECK_MAIN(softva_hevc_decode);
