// SPDX-License-Identifier: LGPL-2.1-or-later

// VP8 and VP9 from rendered buffers to their streams' frames and to pixels.

#include <gst/codecparsers/gstvp8parser.h>
#include <gst/codecparsers/gstvp9parser.h>

#include <random>

#include "lib/softva/frame_decoder.hpp"
#include "lib/softva/vp8_frame.hpp"
#include "lib/softva/vp9_frame.hpp"
#include "tests/check/support/pixel_sum.hpp"
#include "tests/check/support/vpx_pictures.hpp"
// Last: check's macros have names that the standard library uses too.
#include "tests/check/support/check.hpp"

using namespace dxva;
using namespace dxva::softva;
using namespace dxva::test;

namespace {

std::unique_ptr<FrameDecoder> create_decoder(VAProfile profile) {
  auto decoder = FrameDecoder::create(profile);
  fail_unless(bool(decoder));
  return std::move(*decoder);
}

Bytes noise(std::mt19937& random, size_t bytes) {
  Bytes out(bytes);
  for (uint8_t& byte : out) byte = static_cast<uint8_t>(random());
  return out;
}

// RFC 6386 9.1, written here a second time.
Bytes vp8_stream_frame(bool key, uint32_t width, uint32_t height, uint32_t version,
                       uint32_t first_bytes, const Bytes& payload) {
  const uint32_t tag = (key ? 0u : 1u) + version * 2 + 16 + first_bytes * 32;
  Bytes frame = {static_cast<uint8_t>(tag), static_cast<uint8_t>(tag / 256),
                 static_cast<uint8_t>(tag / 65536)};
  if (key)
    for (const uint32_t byte :
         {0x9du, 0x01u, 0x2au, width % 256, width / 256, height % 256, height / 256})
      frame.push_back(static_cast<uint8_t>(byte));
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

Picture plain_vp8(bool key, uint32_t width = 64, uint32_t height = 48) {
  return vp8_picture(key, width, height, Bytes(600, 0), 300, 80);
}

template <typename Parameters>
void patch(Picture& picture, size_t buffer, void (*change)(Parameters&)) {
  Parameters parameters;
  std::memcpy(&parameters, picture.buffers[buffer].bytes.data(), sizeof parameters);
  change(parameters);
  picture.buffers[buffer] = parameter_buffer(picture.buffers[buffer].type, parameters);
}

}  // namespace

// The values that a client renders are what GStreamer's parser reads in the stream's frame.
GST_START_TEST(a_vp8_frame_is_that_of_the_stream) {
  std::mt19937 random(1);
  GstVp8Parser parser;
  gst_vp8_parser_init(&parser);
  int compared = 0;
  for (int round = 0; round < 500; ++round) {
    const bool key = round % 3 == 0;
    const uint32_t width = random() % 16383 + 1, height = random() % 16383 + 1;
    const uint32_t first_bytes = 1200 + random() % 5000;
    const Bytes payload = noise(random, first_bytes + 100);
    const uint32_t version = random() % 4;
    const Bytes frame = vp8_stream_frame(key, width, height, version, first_bytes, payload);
    GstVp8FrameHdr header{};
    // Noise may promise partitions that it does not have.
    if (gst_vp8_parser_parse_frame_header(&parser, &header, frame.data(), frame.size()) !=
        GST_VP8_PARSER_OK)
      continue;
    ++compared;
    const Picture picture =
        vp8_picture(header.key_frame, key ? header.width : 1, key ? header.height : 1,
                    Bytes(frame.begin() + header.data_chunk_size, frame.end()),
                    header.first_part_size, header.header_size, header.version);
    const auto rebuilt = rebuild_vp8_frame(picture);
    fail_unless(bool(rebuilt));
    fail_unless(*rebuilt == frame);
  }
  fail_unless(compared > 100, "only %d frames", compared);
}
GST_END_TEST;

// As GStreamer's vavp8dec does; softva_gstva has the client itself.
GST_START_TEST(a_vp8_slice_may_be_counted_with_the_tag_before_it) {
  const auto plain = rebuild_vp8_frame(plain_vp8(true));
  fail_unless(bool(plain));
  Picture tagged = plain_vp8(true);
  patch(
      tagged, 1, +[](VASliceParameterBufferVP8& slice) {
        slice.slice_data_offset = 10;
        slice.slice_data_size += 10;
      });
  ParameterBuffer& data = tagged.buffers.back();
  fail_unless(data.type == VASliceDataBufferType);
  data.bytes.insert(data.bytes.begin(), 10, 0xff);
  data.element_bytes += 10;
  const auto rebuilt = rebuild_vp8_frame(tagged);
  fail_unless(bool(rebuilt));
  fail_unless(*rebuilt == *plain);
}
GST_END_TEST;

GST_START_TEST(vp8_values_that_no_tag_can_say_are_refused) {
  using Slice = VASliceParameterBufferVP8;
  using Parameters = VAPictureParameterBufferVP8;
  const auto refused = [](auto change, size_t buffer) {
    Picture picture = plain_vp8(true);
    patch(picture, buffer, +change);
    const auto rebuilt = rebuild_vp8_frame(picture);
    return !rebuilt && rebuilt.error().code == ErrorCode::BadInput;
  };
  fail_unless(bool(rebuild_vp8_frame(plain_vp8(true))));
  fail_unless(refused([](Parameters& p) { p.frame_width = 0; }, 0));
  fail_unless(refused([](Parameters& p) { p.frame_height = 16384; }, 0));
  fail_unless(refused([](Parameters& p) { p.pic_fields.bits.version = 4; }, 0));
  fail_unless(refused([](Slice& s) { s.partition_size[0] = UINT32_MAX; }, 1));
  fail_unless(refused([](Slice& s) { s.partition_size[0] = 700; }, 1));
  fail_unless(refused([](Slice& s) { s.macroblock_offset = UINT32_MAX; }, 1));
  fail_unless(refused([](Slice& s) { s.slice_data_size = 601; }, 1));
  fail_unless(refused([](Slice& s) { s.slice_data_flag = VA_SLICE_DATA_FLAG_BEGIN; }, 1));
  Picture without = plain_vp8(true);
  without.buffers.erase(without.buffers.begin());
  fail_if(bool(rebuild_vp8_frame(without)));
}
GST_END_TEST;

GST_START_TEST(a_vp8_picture_has_its_size_and_the_next_refers_to_it) {
  const auto decoder = create_decoder(VAProfileVP8Version0_3);
  // Nothing to refer to yet.
  fail_if(bool(decoder->decode(plain_vp8(false))));
  for (const uint32_t side : {33u, 160u, 16u}) {
    const auto key = decoder->decode(plain_vp8(true, side, side + 7));
    fail_unless(bool(key));
    fail_unless_equals_int(key->width, side);
    fail_unless_equals_int(key->height, side + 7);
    fail_unless_equals_int(key->bit_depth, 8);
    const auto next = decoder->decode(plain_vp8(false, side, side + 7));
    fail_unless(next && next->width == side);
  }
}
GST_END_TEST;

GST_START_TEST(a_vp9_frame_is_read_like_the_parameters) {
  GstVp9Parser* parser = gst_vp9_parser_new();
  for (const uint32_t side : {1u, 64u, 161u, 700u}) {
    for (const bool key : {true, false}) {
      const auto frame = rebuild_vp9_frame(vp9_picture(side, side + 1, {.key = key}));
      fail_unless(bool(frame));
      GstVp9FrameHdr header{};
      fail_unless_equals_int(
          gst_vp9_parser_parse_frame_header(parser, &header, frame->data(), frame->size()),
          GST_VP9_PARSER_OK);
      fail_unless_equals_int(header.width, side);
      fail_unless_equals_int(header.height, side + 1);
      fail_unless_equals_int(header.frame_type, key ? GST_VP9_KEY_FRAME : GST_VP9_INTER_FRAME);
      fail_unless_equals_int(header.first_partition_size, 32);
    }
  }
  gst_vp9_parser_free(parser);
}
GST_END_TEST;

GST_START_TEST(vp9_frames_that_are_not_what_va_says_are_refused) {
  using Parameters = VADecPictureParameterBufferVP9;
  const auto refused = [](const Picture& picture) {
    const auto frame = rebuild_vp9_frame(picture);
    return !frame && frame.error().code == ErrorCode::BadInput;
  };
  Picture picture = vp9_picture(64, 64, {});
  patch(
      picture, 0, +[](Parameters& p) { p.profile = 1; });
  fail_unless(refused(picture));
  picture = vp9_picture(64, 64, {});
  patch(
      picture, 0, +[](Parameters& p) { p.pic_fields.bits.frame_type = 1; });
  fail_unless(refused(picture));
  fail_unless(refused(vp9_picture(64, 64, {.shows_existing = true})));
  picture = vp9_picture(64, 64, {});
  picture.buffers[2].bytes[0] = 0;
  fail_unless(refused(picture));
  // One frame and its index: libavcodec would take it apart.
  Bytes superframe = vp9_frame(64, 64, {});
  const auto size = static_cast<uint8_t>(superframe.size());
  for (const uint8_t byte : {uint8_t{0xc0}, size, uint8_t{0xc0}}) superframe.push_back(byte);
  picture = vp9_picture(64, 64, {});
  picture.buffers.resize(1);
  render_whole_slice(picture, VASliceParameterBufferVP9{}, superframe);
  fail_unless(refused(picture));
}
GST_END_TEST;

GST_START_TEST(a_vp9_frame_may_have_another_size_than_its_reference) {
  const auto decoder = create_decoder(VAProfileVP9Profile0);
  fail_if(bool(decoder->decode(vp9_picture(64, 64, {.key = false}))));
  fail_unless(bool(decoder->decode(vp9_picture(64, 64, {}))));
  for (const uint32_t side : {96u, 80u, 119u}) {
    const auto pixels =
        decoder->decode(vp9_picture(side, side, {.key = false, .size_of_reference = false}));
    fail_unless(bool(pixels));
    fail_unless_equals_int(pixels->width, side);
    fail_unless_equals_int(pixels->height, side);
  }
}
GST_END_TEST;

GST_START_TEST(ten_bits_of_vp9_come_out_in_sixteen) {
  const auto decoder = create_decoder(VAProfileVP9Profile2);
  const auto pixels = decoder->decode(vp9_picture(40, 24, {.profile = 2}));
  fail_unless(bool(pixels));
  fail_unless_equals_int(pixels->bit_depth, 10);
  uint16_t sample;
  std::memcpy(&sample, pixels->planes[0] + 23 * pixels->pitches[0] + 78, sizeof sample);
  fail_unless_equals_int(sample, 512);
}
GST_END_TEST;

GST_START_TEST(only_vp9_inter_frames_name_references) {
  const auto vp9 = create_decoder(VAProfileVP9Profile0);
  fail_unless(vp9->references(vp9_picture(64, 64, {})).empty());
  fail_unless(vp9->references(vp9_picture(64, 64, {.key = false})).size() == 8);
  fail_unless(vp9->can_be_taken_over());
  fail_if(create_decoder(VAProfileVP8Version0_3)->can_be_taken_over());
}
GST_END_TEST;

// Whatever a client renders, decoding ends, and a picture that comes out can be read.
GST_START_TEST(random_damage_never_hurts) {
  std::mt19937 random(5);
  for (const VAProfile profile :
       {VAProfileVP8Version0_3, VAProfileVP9Profile0, VAProfileVP9Profile2}) {
    auto decoder = create_decoder(profile);
    unsigned decoded = 0;
    for (int round = 0; round < 3000; ++round) {
      if (round % 100 == 0) decoder = create_decoder(profile);
      const bool key = random() % 4 == 0;
      const uint32_t width = random() % 100 + 1, height = random() % 100 + 1;
      Picture picture =
          profile == VAProfileVP8Version0_3
              ? vp8_picture(key, width, height, noise(random, 900), 600, 80, random() % 4)
              : vp9_picture(width, height,
                            {.key = key,
                             .profile = profile == VAProfileVP9Profile2 ? 2u : 0u,
                             .refresh = static_cast<uint8_t>(random()),
                             .size_of_reference = random() % 2 == 0,
                             .tiles = noise(random, random() % 400 + 1)});
      for (unsigned n = random() % 3; n > 0; --n) {
        ParameterBuffer& buffer = picture.buffers[random() % picture.buffers.size()];
        buffer.bytes[random() % std::min<size_t>(buffer.bytes.size(), 64)] ^=
            static_cast<uint8_t>(1U << random() % 8);
      }
      if (random() % 50 == 0) picture.buffers.erase(picture.buffers.begin() + random() % 3);
      const auto pixels = decoder->decode(picture);
      if (!pixels) continue;
      ++decoded;
      fail_unless(pixel_sum(*pixels) != 1);  // keeps the reads
    }
    fail_unless(decoded > 300, "profile %d: only %u decoded", profile, decoded);
  }
}
GST_END_TEST;

static Suite* softva_vpx_suite() {
  Suite* suite = suite_create("softva-vpx");
  TCase* chain = tcase_create("vpx");
  suite_add_tcase(suite, chain);
  tcase_set_timeout(chain, 60);
  tcase_add_test(chain, a_vp8_frame_is_that_of_the_stream);
  tcase_add_test(chain, a_vp8_slice_may_be_counted_with_the_tag_before_it);
  tcase_add_test(chain, vp8_values_that_no_tag_can_say_are_refused);
  tcase_add_test(chain, a_vp8_picture_has_its_size_and_the_next_refers_to_it);
  tcase_add_test(chain, a_vp9_frame_is_read_like_the_parameters);
  tcase_add_test(chain, vp9_frames_that_are_not_what_va_says_are_refused);
  tcase_add_test(chain, a_vp9_frame_may_have_another_size_than_its_reference);
  tcase_add_test(chain, ten_bits_of_vp9_come_out_in_sixteen);
  tcase_add_test(chain, only_vp9_inter_frames_name_references);
  tcase_add_test(chain, random_damage_never_hurts);
  return suite;
}

GST_CHECK_MAIN(softva_vpx);
