// SPDX-License-Identifier: LGPL-2.1-or-later

// MPEG-2 from rendered buffers to headers, which GStreamer's parser reads, and to pixels.

#include <gst/codecparsers/gstmpegvideoparser.h>

#include <algorithm>
#include <random>

#include "lib/softva/mpeg2_headers.hpp"
#include "lib/softva/mpeg2_stream.hpp"
#include "tests/check/support/mpeg2_pictures.hpp"
#include "tests/check/support/pixel_sum.hpp"
// Last: check's macros have names that the standard library uses too.
#include "tests/check/support/check.hpp"

using namespace dxva;
using namespace dxva::softva;
using namespace dxva::test;

namespace {

// The packets of a stream by their start code's last byte, extensions by 0x100 + their id.
std::vector<unsigned> kinds_of(const Bytes& stream) {
  std::vector<unsigned> kinds;
  GstMpegVideoPacket packet;
  for (guint offset = 0; gst_mpeg_video_parse(&packet, stream.data(), stream.size(), offset);
       offset = packet.offset)
    kinds.push_back(packet.type == 0xb5 ? 0x100u + (stream[packet.offset] >> 4) : packet.type);
  return kinds;
}

bool find_packet(const Bytes& stream, unsigned kind, GstMpegVideoPacket& packet) {
  for (guint offset = 0; gst_mpeg_video_parse(&packet, stream.data(), stream.size(), offset);
       offset = packet.offset)
    if ((packet.type == 0xb5 ? 0x100u + (stream[packet.offset] >> 4) : packet.type) == kind) {
      if (packet.size < 0) packet.size = static_cast<gint>(stream.size() - packet.offset);
      return true;
    }
  return false;
}

std::unique_ptr<FrameDecoder> create_decoder() {
  auto decoder = FrameDecoder::create(VAProfileMPEG2Main);
  fail_unless(bool(decoder));
  return std::move(*decoder);
}

Mpeg2Parameters field(uint32_t structure, int32_t type, bool is_first) {
  Mpeg2Parameters parameters = plain_mpeg2(32, 64, type, structure);
  parameters.picture_coding_extension.bits.is_first_field = is_first;
  return parameters;
}

Picture with_matrix(Picture picture, uint8_t intra, uint8_t non_intra) {
  VAIQMatrixBufferMPEG2 matrix{};
  matrix.load_intra_quantiser_matrix = intra != 0;
  matrix.load_non_intra_quantiser_matrix = non_intra != 0;
  std::fill(std::begin(matrix.intra_quantiser_matrix), std::end(matrix.intra_quantiser_matrix),
            intra);
  std::fill(std::begin(matrix.non_intra_quantiser_matrix),
            std::end(matrix.non_intra_quantiser_matrix), non_intra);
  picture.buffers.insert(picture.buffers.begin() + 1,
                         parameter_buffer(VAIQMatrixBufferType, matrix));
  return picture;
}

uint8_t luma_at(const Pixels& pixels, uint32_t x, uint32_t y) {
  return pixels.planes[0][y * pixels.pitches[0] + x];
}

bool all_lines_are(const Pixels& pixels, uint32_t step, uint32_t start, uint8_t luma) {
  for (uint32_t y = start; y < pixels.height; y += step)
    if (luma_at(pixels, 1, y) != luma || luma_at(pixels, pixels.width - 1, y) != luma)
      return false;
  return true;
}

}  // namespace

GST_START_TEST(picture_headers_come_back) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Mpeg2Parameters parameters = plain_mpeg2(64, 64, 1 + random() % 3, 1 + random() % 3);
    auto& bits = parameters.picture_coding_extension.bits;
    parameters.f_code = static_cast<int32_t>(random() % 0x10000);
    bits.intra_dc_precision = random() % 4;
    bits.top_field_first = random() % 2;
    bits.frame_pred_frame_dct = random() % 2;
    bits.concealment_motion_vectors = random() % 2;
    bits.q_scale_type = random() % 2;
    bits.intra_vlc_format = random() % 2;
    bits.alternate_scan = random() % 2;
    bits.repeat_first_field = random() % 2;
    bits.progressive_frame = bits.picture_structure == kFrame && random() % 2;
    fail_unless(bool(check_mpeg2_picture(parameters)));
    const Bytes stream = write_mpeg2_picture(parameters);

    GstMpegVideoPacket packet;
    GstMpegVideoPictureHdr header{};
    fail_unless(find_packet(stream, 0x00, packet));
    fail_unless(gst_mpeg_video_packet_parse_picture_header(&packet, &header));
    fail_unless_equals_int(header.pic_type, parameters.picture_coding_type);
    GstMpegVideoPictureExt extension{};
    fail_unless(find_packet(stream, 0x108, packet));
    fail_unless(gst_mpeg_video_packet_parse_picture_extension(&packet, &extension));
    fail_unless_equals_int(extension.f_code[0][0] << 12 | extension.f_code[0][1] << 8 |
                               extension.f_code[1][0] << 4 | extension.f_code[1][1],
                           parameters.f_code);
    fail_unless_equals_int(extension.intra_dc_precision, bits.intra_dc_precision);
    fail_unless_equals_int(extension.picture_structure, bits.picture_structure);
    fail_unless_equals_int(extension.top_field_first, bits.top_field_first);
    fail_unless_equals_int(extension.frame_pred_frame_dct, bits.frame_pred_frame_dct);
    fail_unless_equals_int(extension.concealment_motion_vectors,
                           bits.concealment_motion_vectors);
    fail_unless_equals_int(extension.q_scale_type, bits.q_scale_type);
    fail_unless_equals_int(extension.intra_vlc_format, bits.intra_vlc_format);
    fail_unless_equals_int(extension.alternate_scan, bits.alternate_scan);
    fail_unless_equals_int(extension.repeat_first_field, bits.repeat_first_field);
    fail_unless_equals_int(extension.progressive_frame, bits.progressive_frame);
  }
}
GST_END_TEST;

GST_START_TEST(sequence_headers_come_back) {
  for (const uint32_t width : {1u, 720u, 4095u, 4097u, 8000u})
    for (const bool progressive : {false, true}) {
      const Bytes stream = write_mpeg2_sequence(width, width + 3, progressive);
      GstMpegVideoPacket packet;
      GstMpegVideoSequenceHdr header{};
      fail_unless(find_packet(stream, 0xb3, packet));
      fail_unless(gst_mpeg_video_packet_parse_sequence_header(&packet, &header));
      GstMpegVideoSequenceExt extension{};
      fail_unless(find_packet(stream, 0x101, packet));
      fail_unless(gst_mpeg_video_packet_parse_sequence_extension(&packet, &extension));
      fail_unless_equals_int(extension.horiz_size_ext << 12 | header.width, width);
      fail_unless_equals_int(extension.vert_size_ext << 12 | header.height, width + 3);
      fail_unless_equals_int(extension.progressive, progressive);
      fail_unless_equals_int(extension.chroma_format, 1);
      GstMpegVideoGop group{};
      fail_unless(find_packet(stream, 0xb8, packet));
      fail_unless(gst_mpeg_video_packet_parse_gop(&packet, &group));
      fail_unless(group.closed_gop && !group.broken_link);
    }
}
GST_END_TEST;

GST_START_TEST(matrices_are_sent_when_they_change) {
  Mpeg2Stream stream;
  const Picture plain = flat_mpeg2(plain_mpeg2(16, 32, 1), 1, 128, 2);
  const auto kinds = [&stream](const Picture& picture) {
    const auto unit = stream.rebuild(picture);
    fail_unless(bool(unit));
    return kinds_of(unit->bytes);
  };
  using Kinds = std::vector<unsigned>;
  const Kinds start = {0xb3, 0x101, 0xb8, 0x00, 0x108, 1, 2};
  const Kinds again = {0x00, 0x108, 1, 2};
  const Kinds with_matrices = {0x00, 0x108, 0x103, 1, 2};
  fail_unless(kinds(plain) == start);
  fail_unless(kinds(plain) == again);
  fail_unless(kinds(with_matrix(plain, 20, 0)) == with_matrices);
  fail_unless(kinds(with_matrix(plain, 20, 0)) == again);
  fail_unless(kinds(plain) == again);  // loaded matrices stay
  const auto unit = stream.rebuild(with_matrix(plain, 0, 33));
  fail_unless(unit && kinds_of(unit->bytes) == with_matrices);
  GstMpegVideoPacket packet;
  GstMpegVideoQuantMatrixExt extension{};
  fail_unless(find_packet(unit->bytes, 0x103, packet));
  fail_unless(gst_mpeg_video_packet_parse_quant_matrix_extension(&packet, &extension));
  fail_unless(extension.load_intra_quantiser_matrix &&
              extension.load_non_intra_quantiser_matrix &&
              !extension.load_chroma_intra_quantiser_matrix);
  for (int i = 0; i < 64; ++i) {
    fail_unless_equals_int(extension.intra_quantiser_matrix[i], 20);
    fail_unless_equals_int(extension.non_intra_quantiser_matrix[i], 33);
  }
  Picture zero = with_matrix(plain, 20, 0);
  zero.buffers[1].bytes[16 + 5] = 0;  // of the intra matrix
  fail_if(bool(stream.rebuild(zero)));
}
GST_END_TEST;

GST_START_TEST(values_that_no_stream_can_say_are_refused) {
  const auto refused = [](void (*change)(Mpeg2Parameters&)) {
    Mpeg2Parameters parameters = plain_mpeg2(32, 32, 1);
    change(parameters);
    Picture picture = flat_mpeg2(plain_mpeg2(32, 32, 1), 1, 128, 2);
    picture.buffers[0] = parameter_buffer(VAPictureParameterBufferType, parameters);
    const auto unit = Mpeg2Stream().rebuild(picture);
    return !unit && unit.error().code == ErrorCode::BadInput;
  };
  fail_if(refused([](Mpeg2Parameters&) {}));
  fail_unless(refused([](Mpeg2Parameters& p) { p.horizontal_size = 0; }));
  fail_unless(refused([](Mpeg2Parameters& p) { p.vertical_size = 4096; }));
  fail_unless(refused([](Mpeg2Parameters& p) { p.vertical_size = 16384; }));
  fail_unless(refused([](Mpeg2Parameters& p) { p.picture_coding_type = 4; }));
  fail_unless(refused([](Mpeg2Parameters& p) { p.picture_coding_type = -1; }));
  fail_unless(refused(
      [](Mpeg2Parameters& p) { p.picture_coding_extension.bits.picture_structure = 0; }));
  fail_unless(refused([](Mpeg2Parameters& p) {
    p.picture_coding_extension.bits.picture_structure = kTopField;
  }));
}
GST_END_TEST;

GST_START_TEST(a_slice_holds_no_other_header) {
  Picture picture = flat_mpeg2(plain_mpeg2(32, 32, 1), 1, 128, 2);
  Bytes& first = picture.buffers[2].bytes;
  for (const uint8_t byte : {0, 0, 1, 0xb3, 1, 2, 3}) first.push_back(byte);
  VASliceParameterBufferMPEG2 slice{};
  slice.slice_data_size = static_cast<uint32_t>(first.size());
  picture.buffers[1] = parameter_buffer(VASliceParameterBufferType, slice);
  picture.buffers[2].element_bytes = slice.slice_data_size;
  const auto unit = Mpeg2Stream().rebuild(picture);
  fail_unless(bool(unit));
  const auto kinds = kinds_of(unit->bytes);
  fail_unless(std::count(kinds.begin(), kinds.end(), 0xb3u) == 1);
  // What is no slice at all is left out; a picture needs one that is.
  picture.buffers[2].bytes[3] = 0xb7;
  fail_unless(bool(Mpeg2Stream().rebuild(picture)));
  picture.buffers.resize(3);
  fail_if(bool(Mpeg2Stream().rebuild(picture)));
}
GST_END_TEST;

GST_START_TEST(rows_of_an_odd_number_tell_a_progressive_sequence) {
  const auto progressive = [](Mpeg2Stream& stream, const Picture& picture) {
    const auto unit = stream.rebuild(picture);
    fail_unless(bool(unit));
    GstMpegVideoPacket packet;
    GstMpegVideoSequenceExt extension{};
    if (!find_packet(unit->bytes, 0x101, packet)) return -1;  // as before
    fail_unless(gst_mpeg_video_packet_parse_sequence_extension(&packet, &extension));
    return int{extension.progressive};
  };
  const Mpeg2Parameters intra = plain_mpeg2(16, 48, 1), next = plain_mpeg2(16, 48, 2);
  Mpeg2Stream stream;
  fail_unless_equals_int(progressive(stream, flat_mpeg2(intra, 1, 128, 3)), 1);
  // A picture that refers to others does not change it, whatever it has lost.
  fail_unless_equals_int(progressive(stream, copied_mpeg2(next, 2, 4)), -1);
  fail_unless_equals_int(progressive(stream, flat_mpeg2(intra, 1, 128, 4)), 0);
  fail_unless_equals_int(progressive(stream, copied_mpeg2(next, 2, 2)), -1);
  Mpeg2Parameters interlaced = intra;
  interlaced.picture_coding_extension.bits.progressive_frame = 0;
  fail_unless_equals_int(progressive(stream, flat_mpeg2(interlaced, 1, 128, 3)), -1);
}
GST_END_TEST;

GST_START_TEST(pictures_come_out_as_they_were_coded) {
  const auto decoder = create_decoder();
  const auto intra = decoder->decode(flat_mpeg2(plain_mpeg2(48, 32, 1), 1, 200, 2));
  fail_unless(bool(intra));
  fail_unless_equals_int(intra->width, 48);
  fail_unless_equals_int(intra->height, 32);
  fail_unless(all_lines_are(*intra, 1, 0, 200));
  fail_unless_equals_int(intra->planes[1][15 * intra->pitches[1] + 23], 128);
  const auto copy = decoder->decode(copied_mpeg2(plain_mpeg2(48, 32, 2), 2, 2));
  fail_unless(copy && all_lines_are(*copy, 1, 0, 200));
}
GST_END_TEST;

GST_START_TEST(two_fields_are_one_frame) {
  const auto decoder = create_decoder();
  for (const uint32_t first : {kTopField, kBottomField}) {
    const uint32_t other = kTopField + kBottomField - first;
    const uint32_t first_line = first == kTopField ? 0 : 1;
    const auto lone = decoder->decode(flat_mpeg2(field(first, 1, true), 7, 210, 2));
    fail_unless(bool(lone));
    // Until the other field comes, the first one is all there is to see.
    fail_unless(all_lines_are(*lone, 1, 0, 210));
    const auto both = decoder->decode(flat_mpeg2(field(other, 1, false), 7, 230, 2));
    fail_unless(bool(both));
    fail_unless(all_lines_are(*both, 2, first_line, 210));
    fail_unless(all_lines_are(*both, 2, 1 - first_line, 230));
  }
}
GST_END_TEST;

GST_START_TEST(a_second_field_refers_to_the_first) {
  const auto decoder = create_decoder();
  fail_unless(bool(decoder->decode(flat_mpeg2(field(kTopField, 1, true), 7, 210, 2))));
  const auto both =
      decoder->decode(copied_mpeg2(field(kBottomField, 2, false), 7, 2, kTopField));
  fail_unless(both && all_lines_are(*both, 1, 0, 210));
}
GST_END_TEST;

GST_START_TEST(a_lost_second_field_does_not_shift_the_others) {
  const auto decoder = create_decoder();
  fail_unless(bool(decoder->decode(flat_mpeg2(field(kTopField, 1, true), 7, 210, 2))));
  // The next frame's first field, in another surface.
  const auto next = decoder->decode(flat_mpeg2(field(kTopField, 1, true), 8, 220, 2));
  fail_unless(next && all_lines_are(*next, 1, 0, 220));
  const auto both = decoder->decode(flat_mpeg2(field(kBottomField, 1, false), 8, 240, 2));
  fail_unless(bool(both));
  fail_unless(all_lines_are(*both, 2, 0, 220) && all_lines_are(*both, 2, 1, 240));
}
GST_END_TEST;

GST_START_TEST(a_b_picture_without_a_past_is_decoded) {
  // Of a closed group: the first to be decoded after the I picture, and shown before it.
  const auto decoder = create_decoder();
  fail_unless(bool(decoder->decode(flat_mpeg2(plain_mpeg2(32, 32, 1), 1, 200, 2))));
  Picture picture = flat_mpeg2(plain_mpeg2(32, 32, 3), 2, 222, 2);
  const auto pixels = decoder->decode(picture);
  fail_unless(pixels && all_lines_are(*pixels, 1, 0, 222));
}
GST_END_TEST;

// Whatever a client renders, decoding ends, and a picture that comes out can be read.
GST_START_TEST(random_damage_never_hurts) {
  std::mt19937 random(9);
  auto decoder = create_decoder();
  unsigned decoded = 0;
  for (int round = 0; round < 4000; ++round) {
    if (round % 100 == 0) decoder = create_decoder();
    const auto side = [&random] { return static_cast<uint16_t>(random() % 80 + 1); };
    Mpeg2Parameters parameters =
        plain_mpeg2(random() % 4 ? 32 : side(), random() % 4 ? 64 : side(), 1 + random() % 3,
                    random() % 2 ? kFrame : 1 + random() % 2);
    parameters.picture_coding_extension.bits.is_first_field = random() % 2;
    const uint32_t rows = mpeg2_rows(parameters, random() % 2);
    Picture picture = random() % 2 || parameters.picture_coding_type == 1
                          ? flat_mpeg2(parameters, 1 + random() % 2, 200, rows)
                          : copied_mpeg2(parameters, 1 + random() % 2, rows, 1 + random() % 2);
    for (unsigned n = random() % 4; n > 0; --n) {
      ParameterBuffer& buffer = picture.buffers[random() % picture.buffers.size()];
      buffer.bytes[random() % buffer.bytes.size()] ^= static_cast<uint8_t>(1U << random() % 8);
    }
    if (random() % 50 == 0) picture.buffers.erase(picture.buffers.begin() + random() % 3);
    const auto pixels = decoder->decode(picture);
    if (!pixels) continue;
    ++decoded;
    fail_unless(pixel_sum(*pixels) != 1);  // keeps the reads
  }
  fail_unless(decoded > 1000, "only %u decoded", decoded);
}
GST_END_TEST;

static Suite* softva_mpeg2_suite() {
  Suite* suite = suite_create("softva-mpeg2");
  TCase* chain = tcase_create("mpeg2");
  suite_add_tcase(suite, chain);
  tcase_set_timeout(chain, 60);
  tcase_add_test(chain, picture_headers_come_back);
  tcase_add_test(chain, sequence_headers_come_back);
  tcase_add_test(chain, matrices_are_sent_when_they_change);
  tcase_add_test(chain, values_that_no_stream_can_say_are_refused);
  tcase_add_test(chain, a_slice_holds_no_other_header);
  tcase_add_test(chain, rows_of_an_odd_number_tell_a_progressive_sequence);
  tcase_add_test(chain, pictures_come_out_as_they_were_coded);
  tcase_add_test(chain, two_fields_are_one_frame);
  tcase_add_test(chain, a_second_field_refers_to_the_first);
  tcase_add_test(chain, a_lost_second_field_does_not_shift_the_others);
  tcase_add_test(chain, a_b_picture_without_a_past_is_decoded);
  tcase_add_test(chain, random_damage_never_hurts);
  return suite;
}

GST_CHECK_MAIN(softva_mpeg2);
