// SPDX-License-Identifier: LGPL-2.1-or-later
// What the decoder writes down about packets: which still owe a picture, and which must be sent
// again when the device fails.
#include <vector>

#include "lib/decode/av1_metadata.hpp"
#include "lib/decode/jpeg_scans.hpp"
#include "lib/decode/pending_pictures.hpp"
#include "lib/decode/replay_queue.hpp"
#include "lib/decode/sync_point.hpp"
#include "lib/decode/unserved.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva::decode;

namespace {

std::vector<uint32_t> numbers(const ReplayQueue& queue) {
  std::vector<uint32_t> out;
  for (const StoredPacket& packet : queue.packets()) out.push_back(packet.number);
  return out;
}

StoredPacket packet(uint32_t number, bool sync_point, size_t size = 4) {
  const std::vector<uint8_t> bytes(size, 7);
  return StoredPacket::copy(bytes, 64, number, sync_point);
}

bool starts(Codec codec, uint8_t first, bool container_says) {
  return starts_decoding(codec, {.data = {&first, 1}, .sync_point = container_says});
}

}  // namespace

GST_START_TEST(a_second_field_is_abandoned_at_the_next_picture) {
  PendingPictures pending(true);
  for (const uint32_t n : {0, 1, 2, 3}) pending.sent(n, {});
  pending.allocated(0);
  pending.allocated(2);
  fail_unless(pending.output(0).has_value());
  fail_unless(pending.take_abandoned().empty());
  fail_unless(pending.output(2).has_value());
  fail_unless(pending.take_abandoned() == std::vector<uint32_t>{1});
  fail_unless_equals_int(pending.oldest().value(), 3);
}
GST_END_TEST

GST_START_TEST(jpeg_scans_are_counted_by_their_markers) {
  const auto several = [](std::vector<uint8_t> bytes) { return has_several_jpeg_scans(bytes); };
  fail_if(several({}));
  fail_if(several({0xff}));
  fail_if(several({0xff, 0xd8, 0xff, 0xda, 0xff, 0x00, 0xda, 0xff, 0xd0, 0xff, 0xd9}));
  fail_unless(several({0xff, 0xd8, 0xff, 0xda, 1, 2, 0xff, 0xda}));
  fail_unless(several({0xff, 0xda, 0xff, 0xff, 0xff, 0xda, 0}));
  // Also where a segment's length would skip it: not every decoder goes by that.
  fail_unless(several({0xff, 0xe1, 0, 6, 0xff, 0xda, 0, 0, 0xff, 0xda}));
}
GST_END_TEST

namespace {

using Bytes = std::vector<uint8_t>;

Bytes obu(uint8_t type, const Bytes& payload) {
  Bytes out{static_cast<uint8_t>(type << 3 | 2), static_cast<uint8_t>(payload.size())};
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes out;
  for (const Bytes& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

const Bytes kDelimiter = obu(2, {});
const Bytes kLight = obu(5, {1, 1000 >> 8, 1000 & 255, 0, 250, 0x80});
// Half of everything, 1000 cd/m2 and 1/64.
const Bytes kMastering = obu(5, {2, 0x80, 0, 0x40, 0, 0x20, 0, 0x10, 0, 0x08, 0, 0x04, 0, 0x80,
                                 0, 0x40, 0, 0,    3, 0xe8, 0, 0,    0, 1,    0, 0x80});

}  // namespace

GST_START_TEST(av1_metadata_is_read_and_kept) {
  Av1Metadata metadata;
  metadata.read(joined({kDelimiter, obu(1, {1, 2, 3}), kLight}));
  fail_unless(metadata.light.has_value());
  fail_unless_equals_int(metadata.light->max_content, 1000);
  fail_unless_equals_int(metadata.light->max_frame_average, 250);
  fail_if(metadata.mastering.has_value());
  // An OBU with an extension, and one of another kind of metadata.
  Bytes layered{static_cast<uint8_t>(kMastering[0] | 4), 0x08};
  layered.insert(layered.end(), kMastering.begin() + 1, kMastering.end());
  metadata.read(joined({obu(5, {4, 9, 9, 9, 9, 9}), layered}));
  fail_unless(metadata.mastering.has_value());
  const MasteringDisplay& display = *metadata.mastering;
  fail_unless(display.red == (std::array<uint16_t, 2>{25000, 12500}));
  fail_unless(display.green == (std::array<uint16_t, 2>{6250, 3125}));
  fail_unless(display.blue == (std::array<uint16_t, 2>{1563, 781}));
  fail_unless(display.white == (std::array<uint16_t, 2>{25000, 12500}));
  fail_unless_equals_int(display.max_luminance, 10'000'000);
  fail_unless_equals_int(display.min_luminance, 156);
  fail_unless_equals_int(metadata.light->max_content, 1000);
}
GST_END_TEST

GST_START_TEST(broken_av1_metadata_says_nothing) {
  const Bytes both = joined({kLight, kMastering});
  for (size_t size = 0; size < both.size(); ++size) {
    Av1Metadata metadata;
    // On the heap and to the byte, for the address sanitizer.
    metadata.read(Bytes(both.begin(), both.begin() + static_cast<ptrdiff_t>(size)));
    fail_unless_equals_int(metadata.light.has_value(), size >= kLight.size());
    fail_if(metadata.mastering.has_value());
  }
  Av1Metadata metadata;
  metadata.read(Bytes{5 << 3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1});
  metadata.read(obu(5, {}));
  metadata.read(obu(5, {1, 3, 4}));
  metadata.read(obu(5, {2, 3, 4}));
  fail_if(metadata.light.has_value() || metadata.mastering.has_value());
}
GST_END_TEST

GST_START_TEST(a_reordered_picture_is_waited_for) {
  PendingPictures pending(true);
  for (const uint32_t n : {0, 1, 2}) {
    pending.sent(n, {});
    pending.allocated(n);
  }
  fail_unless(pending.output(2).has_value());
  fail_unless(pending.take_abandoned().empty());
  fail_unless(pending.output(1).has_value());
}
GST_END_TEST

GST_START_TEST(a_hidden_frame_is_abandoned_where_nothing_reorders) {
  PendingPictures pending(false);
  for (const uint32_t n : {0, 1}) {
    pending.sent(n, {});
    pending.allocated(n);
  }
  fail_unless(pending.output(1).has_value());
  fail_unless(pending.take_abandoned() == std::vector<uint32_t>{0});
}
GST_END_TEST

GST_START_TEST(a_picture_comes_out_once) {
  PendingPictures pending(true);
  pending.sent(5, {.sync_point = true});
  const auto marks = pending.output(5);
  fail_unless(marks && marks->sync_point && !marks->corrupt);
  fail_if(pending.output(5).has_value());
}
GST_END_TEST

GST_START_TEST(a_broken_packet_owes_nothing_and_a_begun_one_is_corrupt) {
  PendingPictures pending(true);
  pending.sent(0, {});
  pending.sent(1, {});
  pending.allocated(1);
  pending.failed(0);
  pending.failed(1);
  fail_unless(pending.take_abandoned() == std::vector<uint32_t>{0});
  fail_unless(pending.output(1)->corrupt);
}
GST_END_TEST

GST_START_TEST(a_lost_picture_is_not_waited_for) {
  PendingPictures pending(true);
  pending.sent(3, {});
  pending.allocated(3);
  pending.lost(3);
  fail_unless(pending.take_abandoned() == std::vector<uint32_t>{3});
  fail_if(pending.output(3).has_value());
}
GST_END_TEST

GST_START_TEST(draining_abandons_the_rest) {
  PendingPictures pending(true);
  pending.sent(0, {});
  pending.allocated(0);
  pending.drained();
  fail_unless(pending.take_abandoned() == std::vector<uint32_t>{0});
  fail_if(pending.oldest().has_value());
}
GST_END_TEST

GST_START_TEST(a_replay_begins_at_the_last_sync_point_but_one) {
  ReplayQueue queue;
  queue.push(packet(0, false), 0);
  // Where the stretch begins there is nothing else to begin at.
  fail_unless(numbers(queue) == std::vector<uint32_t>{0});
  for (uint32_t n = 1; n < 10; ++n) queue.push(packet(n, n % 3 == 1), n);
  fail_unless(numbers(queue) == (std::vector<uint32_t>{4, 5, 6, 7, 8, 9}));
}
GST_END_TEST

GST_START_TEST(a_replay_reaches_back_to_the_oldest_awaited_picture) {
  ReplayQueue queue;
  for (uint32_t n = 0; n < 8; ++n) queue.push(packet(n, true), 3);
  fail_unless_equals_int(queue.packets().front().number, 3);
  queue.push(packet(8, true), 8);
  fail_unless(numbers(queue) == (std::vector<uint32_t>{7, 8}));
}
GST_END_TEST

GST_START_TEST(what_is_awaited_stays_where_the_stretch_does_not_begin_with_a_sync_point) {
  ReplayQueue queue;
  for (uint32_t n = 0; n < 10; ++n) queue.push(packet(n, n % 3 == 2), 1);
  fail_unless_equals_int(queue.packets().front().number, 0);
  fail_unless_equals_int(queue.packets().size(), 10);
}
GST_END_TEST

GST_START_TEST(a_replay_queue_has_a_limit) {
  ReplayQueue queue;
  queue.push(packet(0, true), 0);
  for (uint32_t n = 1; n < ReplayQueue::kMaxPackets + 5; ++n) queue.push(packet(n, false), 0);
  fail_unless(queue.packets().empty());
  queue.push(packet(9998, false), 0);  // in the middle: of no use
  fail_unless(queue.packets().empty());
  queue.push(packet(9999, true), 0);
  fail_unless_equals_int(queue.packets().size(), 1);
  queue.begin();
  fail_unless(queue.packets().empty());
  queue.push(packet(10'000, false), 10'000);
  fail_unless_equals_int(queue.packets().size(), 1);
}
GST_END_TEST

GST_START_TEST(stored_packets_end_in_zeros) {
  const StoredPacket stored = packet(0, true, 3);
  fail_unless_equals_int(stored.size_bytes, 3);
  fail_unless_equals_int(stored.bytes[2], 7);
  for (int i = 3; i < 67; ++i) fail_unless_equals_int(stored.bytes[i], 0);
}
GST_END_TEST

GST_START_TEST(vp8_and_vp9_say_themselves_where_decoding_starts) {
  fail_unless(starts(Codec::Vp8, 0x10, false));
  fail_if(starts(Codec::Vp8, 0x11, true));
  fail_unless(starts(Codec::Vp9, 0x82, false));  // marker, profile 0, key frame
  fail_if(starts(Codec::Vp9, 0x86, true));       // inter frame
  fail_if(starts(Codec::Vp9, 0x88, true));       // show existing
  fail_unless(starts(Codec::Vp9, 0xb0, false));  // profile 3 has one bit more
  fail_if(starts(Codec::Vp9, 0xb2, true));
  fail_if(starts(Codec::Vp9, 0x02, true));  // no frame marker
  fail_unless(starts(Codec::H264, 0x00, true));
  fail_if(starts(Codec::H264, 0x00, false));
  fail_if(starts_decoding(Codec::Jpeg, {}));
}
GST_END_TEST

namespace {

bool anew(Codec codec, const std::vector<uint8_t>& data,
          const std::vector<uint8_t>& codec_data = {}) {
  return starts_anew(codec, {.data = data, .sync_point = true}, codec_data);
}

}  // namespace

GST_START_TEST(only_pictures_that_close_the_past_start_anew) {
  // H.264: access unit delimiter and parameters, then the first slice decides.
  fail_unless(anew(Codec::H264, {0, 0, 0, 1, 0x09, 0x10, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x65, 1}));
  fail_if(anew(Codec::H264, {0, 0, 0, 1, 0x09, 0x10, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x41, 1}));
  fail_if(anew(Codec::H264, {0, 0, 1, 0x41, 1, 0, 0, 1, 0x65, 1}));
  fail_if(anew(Codec::H264, {0, 0, 1, 0x67, 1}));
  // With lengths of two bytes.
  const std::vector<uint8_t> avcc = {1, 100, 0, 31, 0xfd};
  fail_unless(anew(Codec::H264, {0, 2, 0x67, 0, 0, 1, 0x65}, avcc));
  fail_if(anew(Codec::H264, {0, 2, 0x67, 0, 0, 1, 0x41}, avcc));
  fail_if(anew(Codec::H264, {0, 9, 0x65}, avcc));
  fail_if(anew(Codec::H264, {0, 0, 0x65}, avcc));
  fail_if(anew(Codec::H264, {0}, avcc));
  // H.265: IDR_W_RADL, IDR_N_LP; CRA has leading pictures.
  fail_unless(anew(Codec::H265, {0, 0, 1, 32 << 1, 1, 0, 0, 1, 19 << 1, 1}));
  fail_unless(anew(Codec::H265, {0, 0, 1, 20 << 1, 1}));
  fail_if(anew(Codec::H265, {0, 0, 1, 21 << 1, 1}));
  std::vector<uint8_t> hvcc(22, 0);
  hvcc[21] = 3;
  fail_unless(anew(Codec::H265, {0, 0, 0, 2, 19 << 1, 1}, hvcc));
  // MPEG-2: closed_gop.
  fail_unless(anew(Codec::Mpeg2, {0, 0, 1, 0xb3, 9, 0, 0, 1, 0xb8, 0, 8, 0, 0x40, 0}));
  fail_if(anew(Codec::Mpeg2, {0, 0, 1, 0xb3, 9, 0, 0, 1, 0xb8, 0, 8, 0, 0x80, 0}));
  fail_if(anew(Codec::Mpeg2, {0, 0, 1, 0xb3, 9, 0, 0, 1, 0xb8, 0, 8}));
  fail_if(anew(Codec::Mpeg2, {0, 0, 1, 0, 9}));
  // Key frames of these refer to nothing, and nothing after them to what was before.
  fail_unless(anew(Codec::Vp8, {0x00}));
  fail_if(anew(Codec::Vp8, {0x01}));
  fail_unless(anew(Codec::Jpeg, {0xff}));
  fail_if(starts_anew(Codec::H264, {.data = avcc, .sync_point = false}, {}));
}
GST_END_TEST

namespace {

const Bytes kStart = {0, 0, 1};
const Bytes kBaselineSps = {0x67, 66, 0, 30, 0xff};
const Bytes kHighSps = {0x67, 100, 0, 30, 0xff};
const Bytes kPlainPps = {0x68, 0b1'1'0'0'1'1'1'0, 0x80};
const Bytes kGroupsPps = {0x68, 0b1'1'0'0'010'1, 0b1'1'1'1'0'00'1, 0x80};  // two, interleaved
const Bytes kSlice = {0x65, 0x88, 0x84};

std::string in_byte_stream(const Bytes& sps, std::initializer_list<Bytes> sets) {
  Bytes unit = joined({kStart, sps});
  for (const Bytes& pps : sets) unit = joined({unit, kStart, pps});
  return unserved(Codec::H264, joined({unit, kStart, kSlice}), {});
}

// `transform` above 2: no segment of Adobe's.
Bytes jpeg_of_four(uint8_t transform, uint8_t first_sampling, uint8_t last_sampling) {
  const Bytes adobe = {0xff, 0xee, 0,   14, 'A', 'd', 'o', 'b',
                       'e',  0,    100, 0,  0,   0,   0,   transform};
  return joined({{0xff, 0xd8},
                 transform > 2 ? Bytes() : adobe,
                 {0xff, 0xc0, 0,
                  20,   8,    0,
                  8,    0,    8,
                  4,    1,    first_sampling,
                  0,    2,    0x11,
                  0,    3,    0x11,
                  0,    4,    last_sampling,
                  0},
                 {0xff, 0xda, 0, 14, 4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0}});
}

}  // namespace

GST_START_TEST(slice_groups_are_named_where_every_parameter_set_has_them) {
  const std::string told = in_byte_stream(kBaselineSps, {kGroupsPps});
  fail_unless(told.find("slice groups (FMO)") != std::string::npos, "%s", told.c_str());
  fail_unless(told.find("openh264dec") != std::string::npos);
  fail_unless(in_byte_stream(kBaselineSps, {kPlainPps}).empty());
  fail_unless(in_byte_stream(kBaselineSps, {kGroupsPps, kPlainPps}).empty());
  // A profile without them: a damaged set, and the next one may be whole.
  fail_unless(in_byte_stream(kHighSps, {kGroupsPps}).empty());
  fail_unless(unserved(Codec::H264, joined({kStart, kSlice}), {}).empty());
  fail_unless(unserved(Codec::H264, {}, {}).empty());
}
GST_END_TEST

GST_START_TEST(slice_groups_are_found_in_avcc) {
  const auto length = [](const Bytes& unit) {
    return Bytes{0, static_cast<uint8_t>(unit.size())};
  };
  const auto avcc = [&](const Bytes& pps) {
    return joined({{1, 66, 0, 30, 0xff, 0xe1},
                   length(kBaselineSps),
                   kBaselineSps,
                   {1},
                   length(pps),
                   pps});
  };
  const Bytes packet = joined({{0, 0, 0, 3}, kSlice});
  fail_if(unserved(Codec::H264, packet, avcc(kGroupsPps)).empty());
  fail_unless(unserved(Codec::H264, packet, avcc(kPlainPps)).empty());
  for (size_t cut = 0; cut < avcc(kPlainPps).size(); ++cut) {
    Bytes shorter = avcc(kPlainPps);
    shorter.resize(cut);
    fail_unless(unserved(Codec::H264, packet, shorter).empty(), "%zu", cut);
  }
}
GST_END_TEST

GST_START_TEST(jpeg_of_four_components_is_named_where_nobody_knows_its_colours) {
  for (const uint8_t transform : {0, 2})
    for (const uint8_t sampling : {0x11, 0x22})
      fail_unless(
          unserved(Codec::Jpeg, jpeg_of_four(transform, sampling, sampling), {}).empty());
  for (const Bytes& wrong : {jpeg_of_four(3, 0x11, 0x11), jpeg_of_four(1, 0x11, 0x11),
                             jpeg_of_four(0, 0x21, 0x21)}) {
    const std::string told = unserved(Codec::Jpeg, wrong, {});
    fail_unless(told.find("four components (CMYK)") != std::string::npos, "%s", told.c_str());
  }
  // Cut off anywhere it is no more than damaged.
  for (size_t cut = 0; cut < 20; ++cut) {
    Bytes shorter = jpeg_of_four(3, 0x11, 0x11);
    shorter.resize(cut);
    fail_unless(unserved(Codec::Jpeg, shorter, {}).empty(), "%zu", cut);
  }
}
GST_END_TEST

static Suite* decode_books_suite() {
  Suite* suite = suite_create("decode_books");
  TCase* pending = tcase_create("pending pictures");
  tcase_add_test(pending, a_second_field_is_abandoned_at_the_next_picture);
  tcase_add_test(pending, jpeg_scans_are_counted_by_their_markers);
  tcase_add_test(pending, slice_groups_are_named_where_every_parameter_set_has_them);
  tcase_add_test(pending, slice_groups_are_found_in_avcc);
  tcase_add_test(pending, jpeg_of_four_components_is_named_where_nobody_knows_its_colours);
  tcase_add_test(pending, av1_metadata_is_read_and_kept);
  tcase_add_test(pending, broken_av1_metadata_says_nothing);
  tcase_add_test(pending, a_reordered_picture_is_waited_for);
  tcase_add_test(pending, a_hidden_frame_is_abandoned_where_nothing_reorders);
  tcase_add_test(pending, a_picture_comes_out_once);
  tcase_add_test(pending, a_broken_packet_owes_nothing_and_a_begun_one_is_corrupt);
  tcase_add_test(pending, a_lost_picture_is_not_waited_for);
  tcase_add_test(pending, draining_abandons_the_rest);
  suite_add_tcase(suite, pending);
  TCase* replay = tcase_create("replay queue");
  tcase_add_test(replay, a_replay_begins_at_the_last_sync_point_but_one);
  tcase_add_test(replay, a_replay_reaches_back_to_the_oldest_awaited_picture);
  tcase_add_test(replay,
                 what_is_awaited_stays_where_the_stretch_does_not_begin_with_a_sync_point);
  tcase_add_test(replay, a_replay_queue_has_a_limit);
  tcase_add_test(replay, stored_packets_end_in_zeros);
  suite_add_tcase(suite, replay);
  TCase* sync = tcase_create("sync points");
  tcase_add_test(sync, vp8_and_vp9_say_themselves_where_decoding_starts);
  tcase_add_test(sync, only_pictures_that_close_the_past_start_anew);
  suite_add_tcase(suite, sync);
  return suite;
}

GST_CHECK_MAIN(decode_books)
