// SPDX-License-Identifier: LGPL-2.1-or-later

// H.264 from rendered buffers to pixels.

#include <unistd.h>

#include <random>

#include "lib/softva/h264_decoder.hpp"
#include "tests/check/support/h264_pictures.hpp"
// Last: check's macros have names that the standard library uses too.
#include "tests/check/support/check.hpp"

using namespace dxva;
using namespace dxva::softva;
using namespace dxva::test;

namespace {

std::unique_ptr<FrameDecoder> create_decoder() {
  auto decoder = FrameDecoder::create(VAProfileH264High);
  fail_unless(bool(decoder));
  return std::move(*decoder);
}

uint8_t luma_at(const Pixels& pixels, uint32_t x, uint32_t y) {
  return pixels.planes[0][y * pixels.pitches[0] + x];
}

PictureParameters interlaced_field(bool bottom) {
  PictureParameters picture = plain_picture(1, 2);
  picture.seq_fields.bits.frame_mbs_only_flag = 0;
  picture.pic_fields.bits.field_pic_flag = 1;
  picture.CurrPic.flags = bottom ? VA_PICTURE_H264_BOTTOM_FIELD : VA_PICTURE_H264_TOP_FIELD;
  return picture;
}

PictureParameters refer_to(PictureParameters picture, VASurfaceID surface) {
  picture.ReferenceFrames[0] = {.picture_id = surface,
                                .flags = VA_PICTURE_H264_SHORT_TERM_REFERENCE};
  return picture;
}

}  // namespace

GST_START_TEST(the_profiles_are_those_that_open) {
  const auto profiles = FrameDecoder::profiles();
  fail_unless(profiles.size() >= 3);
  for (const VAProfile profile : profiles) fail_unless(bool(FrameDecoder::create(profile)));
  const auto none = FrameDecoder::create(VAProfileNone);
  fail_unless(!none && none.error().code == ErrorCode::Unsupported);
}
GST_END_TEST;

GST_START_TEST(a_picture_comes_out_as_it_was_coded) {
  const auto decoder = create_decoder();
  const auto pixels = decoder->decode(pcm_picture(plain_picture(3, 2), 1, {}, 77));
  fail_unless(bool(pixels));
  fail_unless(pixels->layout == Pixels::Layout::Yuv420);
  fail_unless_equals_int(pixels->bit_depth, 8);
  fail_unless_equals_int(pixels->width, 48);
  fail_unless_equals_int(pixels->height, 32);
  for (uint32_t y = 0; y < 32; ++y) {
    for (uint32_t x = 0; x < 48; ++x) fail_unless_equals_int(luma_at(*pixels, x, y), 77);
  }
  fail_unless_equals_int(pixels->planes[1][0], 128);
  fail_unless_equals_int(pixels->planes[2][15 * pixels->pitches[2] + 23], 128);
}
GST_END_TEST;

GST_START_TEST(ten_bits_come_out_in_sixteen) {
  auto decoder = H264Decoder::create(10);
  fail_unless(bool(decoder));
  PictureParameters picture = plain_picture(1, 1);
  picture.bit_depth_luma_minus8 = picture.bit_depth_chroma_minus8 = 2;
  const auto pixels = (*decoder)->decode(pcm_picture(picture, 1, {}, 1001));
  fail_unless(bool(pixels));
  fail_unless_equals_int(pixels->bit_depth, 10);
  uint16_t sample;
  std::memcpy(&sample, pixels->planes[0] + 15 * pixels->pitches[0] + 30, sizeof sample);
  fail_unless_equals_int(sample, 1001);
  // The profiles of 8-bit surfaces refuse them.
  fail_if(bool(create_decoder()->decode(pcm_picture(picture, 1, {}, 1001))));
}
GST_END_TEST;

GST_START_TEST(a_picture_without_colour_has_none) {
  const auto decoder = create_decoder();
  PictureParameters picture = plain_picture(1, 1);
  picture.seq_fields.bits.chroma_format_idc = 0;
  const auto pixels = decoder->decode(pcm_picture(picture, 1, {}, 33));
  fail_unless(bool(pixels));
  fail_unless_equals_int(luma_at(*pixels, 15, 15), 33);
  // Versions of libavcodec differ in whether there are planes to say so.
  for (int plane = 1; plane < 3 && pixels->layout != Pixels::Layout::Gray; ++plane) {
    fail_unless(pixels->layout == Pixels::Layout::Yuv420);
    for (uint32_t y = 0; y < 8; ++y)
      fail_unless_equals_int(pixels->planes[plane][y * pixels->pitches[plane] + 7], 128);
  }
}
GST_END_TEST;

GST_START_TEST(pixels_outlive_later_pictures_and_the_decoder) {
  auto decoder = create_decoder();
  std::vector<Pixels> kept;
  for (uint8_t luma = 10; luma < 60; ++luma) {
    auto pixels = decoder->decode(pcm_picture(plain_picture(1, 1), 1, {}, luma));
    fail_unless(bool(pixels));
    kept.push_back(std::move(*pixels));
  }
  decoder.reset();
  for (uint8_t luma = 10; luma < 60; ++luma)
    fail_unless_equals_int(luma_at(kept[luma - 10U], 15, 15), luma);
}
GST_END_TEST;

GST_START_TEST(pictures_come_in_coded_order_with_their_references) {
  // The second picture is shown long before the first; matching must not care.
  const auto decoder = create_decoder();
  PictureParameters picture = plain_picture(1, 1);
  picture.seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 = 4;
  fail_unless(bool(decoder->decode(pcm_picture(picture, 1, {.poc_lsb = 0}, 50))));
  picture = refer_to(picture, 1);
  picture.frame_num = 1;
  auto later = decoder->decode(pcm_picture(picture, 2, {.idr = false, .poc_lsb = 80}, 90));
  fail_unless(later && luma_at(*later, 0, 0) == 90);
  picture.frame_num = 2;
  auto copy = decoder->decode(skip_picture(refer_to(picture, 2), 3, {.poc_lsb = 40}));
  fail_unless(copy && luma_at(*copy, 15, 15) == 90);
}
GST_END_TEST;

GST_START_TEST(frames_made_up_for_a_gap_are_not_the_picture) {
  const auto decoder = create_decoder();
  PictureParameters picture = plain_picture(1, 1);
  picture.num_ref_frames = 3;
  picture.seq_fields.bits.gaps_in_frame_num_value_allowed_flag = 1;
  fail_unless(bool(decoder->decode(pcm_picture(picture, 1, {}, 50))));
  picture = refer_to(picture, 1);
  picture.frame_num = 3;
  const auto pixels =
      decoder->decode(pcm_picture(picture, 2, {.idr = false, .poc_lsb = 6}, 90));
  fail_unless(pixels && luma_at(*pixels, 8, 8) == 90);
}
GST_END_TEST;

GST_START_TEST(the_second_field_lands_in_the_first_ones_frame) {
  const auto decoder = create_decoder();
  auto lone = decoder->decode(pcm_picture(interlaced_field(false), 7, {}, 20));
  fail_unless(bool(lone));
  fail_unless_equals_int(lone->height, 32);
  // Until the other field comes, the first one is all there is to see.
  for (uint32_t y = 0; y < 32; ++y) fail_unless_equals_int(luma_at(*lone, 3, y), 20);

  const auto both = decoder->decode(
      pcm_picture(refer_to(interlaced_field(true), 7), 7, {.idr = false, .poc_lsb = 1}, 40));
  fail_unless(bool(both));
  for (uint32_t y = 0; y < 32; ++y)
    fail_unless_equals_int(luma_at(*both, 3, y), y % 2 ? 40 : 20);
}
GST_END_TEST;

GST_START_TEST(two_fields_without_references_are_still_one_frame) {
  // Non-reference fields name no reference frames, which elsewhere is the sign of a seek.
  const auto decoder = create_decoder();
  fail_unless(bool(decoder->decode(pcm_picture(interlaced_field(false), 6, {}, 9))));
  for (const uint8_t luma : {100, 110}) {
    PictureParameters top = interlaced_field(false);
    PictureParameters bottom = interlaced_field(true);
    top.pic_fields.bits.reference_pic_flag = bottom.pic_fields.bits.reference_pic_flag = 0;
    top.frame_num = bottom.frame_num = 1;
    fail_unless(
        bool(decoder->decode(pcm_picture(bottom, 7, {.idr = false, .poc_lsb = 2}, luma))));
    const auto frame = decoder->decode(
        pcm_picture(top, 7, {.idr = false, .poc_lsb = 3}, static_cast<uint8_t>(luma + 1)));
    fail_unless(bool(frame));
    for (uint32_t y = 0; y < 32; ++y)
      fail_unless_equals_int(luma_at(*frame, 3, y), y % 2 ? luma : luma + 1);
  }
}
GST_END_TEST;

GST_START_TEST(a_refused_picture_leaves_the_decoder_usable) {
  const auto decoder = create_decoder();
  fail_unless(bool(decoder->decode(pcm_picture(plain_picture(1, 1), 1, {}, 5))));
  PictureParameters huge = plain_picture(1, 1);
  huge.picture_width_in_mbs_minus1 = 65535;
  const auto refused = decoder->decode(pcm_picture(huge, 2, {}, 6));
  fail_unless(!refused && refused.error().code == ErrorCode::BadInput);

  Picture noise = begin_picture(plain_picture(1, 1), 2);
  render_slice(noise, SliceParameters{}, Bytes(40, 0xff), 8);
  fail_if(bool(decoder->decode(noise)));

  const auto pixels = decoder->decode(pcm_picture(plain_picture(1, 1), 3, {}, 7));
  fail_unless(pixels && luma_at(*pixels, 8, 8) == 7);
}
GST_END_TEST;

GST_START_TEST(a_new_size_needs_no_new_decoder) {
  const auto decoder = create_decoder();
  for (const uint16_t side : {1, 4, 2}) {
    const auto pixels = decoder->decode(pcm_picture(plain_picture(side, side), 1, {}, 30));
    fail_unless(bool(pixels));
    fail_unless_equals_int(pixels->width, side * 16);
    fail_unless_equals_int(luma_at(*pixels, pixels->width - 1, pixels->height - 1), 30);
  }
}
GST_END_TEST;

GST_START_TEST(a_picture_cut_short_is_concealed) {
  const auto decoder = create_decoder();
  PictureParameters picture = plain_picture(4, 4);
  fail_unless(bool(decoder->decode(pcm_picture(picture, 1, {}, 60))));
  picture = refer_to(picture, 1);
  picture.frame_num = 1;
  Picture cut = pcm_picture(picture, 2, {.idr = false, .type = 0, .poc_lsb = 2}, 200);
  SliceParameters slice;
  std::memcpy(&slice, cut.buffers[1].bytes.data(), sizeof slice);
  slice.slice_data_size /= 2;
  cut.buffers[1] = parameter_buffer(VASliceParameterBufferType, slice);
  const auto pixels = decoder->decode(cut);
  fail_unless(bool(pixels));
  fail_unless_equals_int(luma_at(*pixels, 63, 63), 60);  // from the reference
}
GST_END_TEST;

GST_START_TEST(a_dump_holds_the_stream_that_was_decoded) {
  char path[] = "/tmp/softva-dump-XXXXXX";
  const int fd = mkstemp(path);
  fail_unless(fd >= 0);
  close(fd);
  g_setenv("DXVASOFT_DUMP", path, TRUE);
  const auto decoder = create_decoder();
  g_unsetenv("DXVASOFT_DUMP");
  fail_unless(bool(decoder->decode(pcm_picture(plain_picture(1, 1), 1, {}, 5))));
  fail_unless(bool(decoder->decode(pcm_picture(plain_picture(1, 1), 1, {}, 6))));
  gchar* contents = nullptr;
  gsize length = 0;
  fail_unless(g_file_get_contents(path, &contents, &length, nullptr));
  fail_unless(length > 2 * 384);
  fail_unless(std::memcmp(contents, "\0\0\0\1\x67\x64", 6) == 0);
  g_free(contents);
  unlink(path);
}
GST_END_TEST;

// Whatever a client renders, decoding ends, and a picture that comes out can be read.
GST_START_TEST(random_damage_never_hurts) {
  std::mt19937 random(11);
  auto decoder = create_decoder();
  for (int round = 0; round < 3000; ++round) {
    if (round % 100 == 0) decoder = create_decoder();
    PictureParameters parameters =
        random() % 2 ? plain_picture(2, 2) : interlaced_field(random() % 2);
    if (random() % 2) parameters = refer_to(parameters, 1);
    parameters.seq_fields.bits.pic_order_cnt_type = random() % 3;
    parameters.frame_num = static_cast<uint16_t>(random() % 4);
    const SliceSyntax syntax{.idr = random() % 4 == 0,
                             .poc_lsb = static_cast<uint32_t>(random() % 16)};
    Picture picture = random() % 2 ? pcm_picture(parameters, 1 + random() % 3, syntax, 100)
                                   : skip_picture(parameters, 1 + random() % 3, syntax);
    // Damage mostly where it matters: the structs, and the start of the slice.
    for (unsigned n = random() % 4; n > 0; --n) {
      ParameterBuffer& buffer = picture.buffers[random() % picture.buffers.size()];
      const size_t reach =
          random() % 4 ? std::min<size_t>(buffer.bytes.size(), 64) : buffer.bytes.size();
      buffer.bytes[random() % reach] ^= static_cast<uint8_t>(1U << random() % 8);
    }
    if (random() % 50 == 0) picture.buffers.erase(picture.buffers.begin() + random() % 3);
    const auto pixels = decoder->decode(picture);
    if (!pixels) continue;
    unsigned sum = 0;
    for (uint32_t y = 0; y < pixels->height; ++y)
      for (uint32_t x = 0; x < pixels->width; x += 16) sum += luma_at(*pixels, x, y);
    for (int plane = 1; plane < 3; ++plane)
      sum += pixels->planes[plane][(pixels->height / 2 - 1) * pixels->pitches[plane] +
                                   pixels->width / 2 - 1];
    fail_unless(sum != 1);  // keeps the reads
  }
}
GST_END_TEST;

static Suite* softva_h264_decode_suite() {
  Suite* suite = suite_create("softva-h264-decode");
  TCase* chain = tcase_create("decode");
  suite_add_tcase(suite, chain);
  tcase_add_test(chain, the_profiles_are_those_that_open);
  tcase_add_test(chain, a_picture_comes_out_as_it_was_coded);
  tcase_add_test(chain, ten_bits_come_out_in_sixteen);
  tcase_add_test(chain, a_picture_without_colour_has_none);
  tcase_add_test(chain, pixels_outlive_later_pictures_and_the_decoder);
  tcase_add_test(chain, pictures_come_in_coded_order_with_their_references);
  tcase_add_test(chain, frames_made_up_for_a_gap_are_not_the_picture);
  tcase_add_test(chain, the_second_field_lands_in_the_first_ones_frame);
  tcase_add_test(chain, two_fields_without_references_are_still_one_frame);
  tcase_add_test(chain, a_refused_picture_leaves_the_decoder_usable);
  tcase_add_test(chain, a_new_size_needs_no_new_decoder);
  tcase_add_test(chain, a_picture_cut_short_is_concealed);
  tcase_add_test(chain, a_dump_holds_the_stream_that_was_decoded);
  tcase_add_test(chain, random_damage_never_hurts);
  return suite;
}

GST_CHECK_MAIN(softva_h264_decode);
