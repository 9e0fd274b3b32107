// SPDX-License-Identifier: LGPL-2.1-or-later

// Golden tests: H.265 slice headers, read by GStreamer's parser, say what VA's structs
// and the stream's own headers said.

#include <random>

#include "lib/softva/hevc_stream.hpp"
#include "tests/check/support/hevc_parser.hpp"
#include "tests/check/support/hevc_random.hpp"

using namespace dxva;
using namespace dxva::softva;
using namespace dxva::test;

namespace {

bool refuses(HevcStream& stream, const Picture& picture) {
  const auto unit = stream.rebuild(picture);
  return !unit && unit.error().code == ErrorCode::BadInput;
}

}  // namespace

namespace {

uint32_t below(std::mt19937& random, uint32_t limit) {
  return static_cast<uint32_t>(random() % limit);
}

// Pictures before and after one, and some of them far away.
class RandomReferences {
 public:
  struct One {
    int32_t order_count;
    uint32_t role;  // of VA's flags

    [[nodiscard]] bool used() const {
      return (role & ~uint32_t{VA_PICTURE_HEVC_LONG_TERM_REFERENCE}) != 0;
    }
  };

  RandomReferences(std::mt19937& random, int32_t now) {
    const auto role = [&](uint32_t flag) { return random() % 2 ? flag : 0; };
    for (int32_t count = now; random() % 4 && before.size() < 5;) {
      count -= between(random, 1, 300);
      before.push_back({count, role(VA_PICTURE_HEVC_RPS_ST_CURR_BEFORE)});
    }
    for (int32_t count = now; random() % 3 && after.size() < 5;) {
      count += between(random, 1, 300);
      after.push_back({count, role(VA_PICTURE_HEVC_RPS_ST_CURR_AFTER)});
    }
    if (random() % 2)
      long_term.push_back({now - 3000, role(VA_PICTURE_HEVC_RPS_LT_CURR) |
                                           VA_PICTURE_HEVC_LONG_TERM_REFERENCE});
  }

  [[nodiscard]] std::vector<One> all() const {
    std::vector<One> out = before;
    out.insert(out.end(), after.begin(), after.end());
    out.insert(out.end(), long_term.begin(), long_term.end());
    return out;
  }
  [[nodiscard]] uint32_t used() const {
    const std::vector<One> every = all();
    return static_cast<uint32_t>(
        std::count_if(every.begin(), every.end(), [](const One& one) { return one.used(); }));
  }

  std::vector<One> before, after;  // nearest first
  std::vector<One> long_term;
};

// One of the ways in which a stream may say its references.
void choose_words(SliceSyntax& syntax, PictureParameters& parameters, std::mt19937& random) {
  const uint32_t sets = parameters.num_short_term_ref_pic_sets;
  switch (sets > 0 ? random() % 3 : 2) {
    case 0:
      syntax.set_of_sps = true;
      syntax.set_index = below(random, sets);
      break;
    case 1:
      syntax.predicted_set.push_back(true);
      for (int bit = between(random, 5, 40); bit > 0; --bit)
        syntax.predicted_set.push_back(random() % 2);
      parameters.st_rps_bits = static_cast<uint32_t>(syntax.predicted_set.size());
      break;
    default:
      // Readable without VA's number of bits, which clients get wrong.
      parameters.st_rps_bits = below(random, 100);
      for (int n = between(random, 0, 8); n > 0; --n)
        syntax.own_set.push_back(below(random, 1000) + 1);
  }
  const uint32_t of_sps = parameters.num_long_term_ref_pic_sps;
  for (int n = between(random, 0, 3); n > 0 && of_sps > 0; --n)
    syntax.long_term_sps.push_back(below(random, of_sps));
  for (int n = between(random, 0, 3); n > 0; --n) syntax.long_term.push_back(below(random, 16));
}

SliceParameters random_slice(const PictureParameters& parameters, std::mt19937& random) {
  const auto draw = [&](int lowest, int highest) {
    return static_cast<int8_t>(between(random, lowest, highest));
  };
  SliceParameters slice{
      .num_ref_idx_l0_active_minus1 = parameters.num_ref_idx_l0_default_active_minus1,
      .num_ref_idx_l1_active_minus1 = parameters.num_ref_idx_l1_default_active_minus1,
      .slice_qp_delta = draw(-5, 5),
      .slice_cb_qp_offset = draw(-3, 3),
      .slice_cr_qp_offset = draw(-3, 3),
      .slice_beta_offset_div2 = draw(-6, 6),
      .slice_tc_offset_div2 = draw(-6, 6),
      .luma_log2_weight_denom = static_cast<uint8_t>(draw(0, 7)),
      .five_minus_max_num_merge_cand = static_cast<uint8_t>(draw(0, 4))};
  slice.delta_luma_weight_l0[0] = draw(-100, 100);
  slice.luma_offset_l0[0] = draw(-100, 100);
  slice.LongSliceFlags.value = below(random, UINT32_MAX);
  const auto& parsing = parameters.slice_parsing_fields.bits;
  auto& fields = slice.LongSliceFlags.fields;
  fields.dependent_slice_segment_flag = 0;
  if (!parsing.sps_temporal_mvp_enabled_flag) fields.slice_temporal_mvp_enabled_flag = 0;
  if (!parsing.sample_adaptive_offset_enabled_flag)
    fields.slice_sao_luma_flag = fields.slice_sao_chroma_flag = 0;
  return slice;
}

// A new order for some of the lists.
void choose_lists(SliceSyntax& syntax, SliceParameters& slice, std::mt19937& random) {
  if (syntax.overrides_ref_counts) {
    slice.num_ref_idx_l0_active_minus1 = static_cast<uint8_t>(random() % 15);
    slice.num_ref_idx_l1_active_minus1 = static_cast<uint8_t>(random() % 15);
  }
  const int counts[] = {slice.num_ref_idx_l0_active_minus1 + 1,
                        slice.num_ref_idx_l1_active_minus1 + 1};
  for (int list = 0; list < 2 && syntax.used_references > 1; ++list) {
    for (int n = random() % 2 ? counts[list] : 0; n > 0; --n)
      syntax.list_entries[list].push_back(below(random, syntax.used_references));
  }
}

void expect_references(const GstH265SliceHdr& got, const RandomReferences& wanted,
                       int32_t now) {
  fail_unless_equals_int(got.pic_order_cnt_lsb, 0);  // what a decoder starts with
  fail_unless_equals_int(got.short_term_ref_pic_set_sps_flag, 0);
  const GstH265ShortTermRefPicSet& set = got.short_term_ref_pic_sets;
  fail_unless_equals_int(set.NumNegativePics, wanted.before.size());
  fail_unless_equals_int(set.NumPositivePics, wanted.after.size());
  for (size_t n = 0; n < wanted.before.size(); ++n) {
    fail_unless_equals_int(now + set.DeltaPocS0[n], wanted.before[n].order_count);
    fail_unless_equals_int(set.UsedByCurrPicS0[n], wanted.before[n].used());
  }
  for (size_t n = 0; n < wanted.after.size(); ++n) {
    fail_unless_equals_int(now + set.DeltaPocS1[n], wanted.after[n].order_count);
    fail_unless_equals_int(set.UsedByCurrPicS1[n], wanted.after[n].used());
  }
  fail_unless_equals_int(got.num_long_term_pics, wanted.long_term.size());
  for (size_t n = 0; n < wanted.long_term.size(); ++n) {
    fail_unless_equals_int(got.poc_lsb_lt[n], (wanted.long_term[n].order_count - now) & 0xffff);
    fail_unless_equals_int(got.used_by_curr_pic_lt_flag[n], wanted.long_term[n].used());
    fail_unless_equals_int(got.delta_poc_msb_present_flag[n], 0);
  }
}

// What comes before and after the references in the header.
void expect_rest(const GstH265SliceHdr& got, const PictureParameters& parameters,
                 const SliceParameters& slice, const SliceSyntax& syntax) {
  fail_unless_equals_int(got.first_slice_segment_in_pic_flag, syntax.first);
  fail_unless_equals_int(got.segment_address, slice.slice_segment_address);
  fail_unless_equals_int(got.type, syntax.type);
  const auto& fields = slice.LongSliceFlags.fields;
  fail_unless_equals_int(got.temporal_mvp_enabled_flag, fields.slice_temporal_mvp_enabled_flag);
  fail_unless_equals_int(got.sao_luma_flag, fields.slice_sao_luma_flag);
  fail_unless_equals_int(got.qp_delta, slice.slice_qp_delta);
  if (syntax.type == kSliceI) return;
  fail_unless_equals_int(got.num_ref_idx_l0_active_minus1, slice.num_ref_idx_l0_active_minus1);
  fail_unless_equals_int(got.five_minus_max_num_merge_cand,
                         slice.five_minus_max_num_merge_cand);
  if (!parameters.slice_parsing_fields.bits.lists_modification_present_flag) return;
  for (size_t n = 0; n < syntax.list_entries[0].size(); ++n)
    fail_unless_equals_int(got.ref_pic_list_modification.list_entry_l0[n],
                           syntax.list_entries[0][n]);
}

}  // namespace

// Every picture says all that it refers to and keeps, whatever the stream's own words for it.
GST_START_TEST(slices_say_their_references_themselves) {
  std::mt19937 random(5);
  for (int i = 0; i < 400; ++i) {
    PictureParameters parameters = random_picture(random);
    parameters.sps_max_dec_pic_buffering_minus1 = 15;
    const int32_t now = between(random, -100000, 100000);
    parameters.CurrPic.pic_order_cnt = now;
    const RandomReferences references(random, now);
    std::vector<RandomReferences::One> listed = references.all();
    std::shuffle(listed.begin(), listed.end(), random);  // a client has them in any order
    VASurfaceID surface = 2;
    for (const auto& one : listed)
      add_reference(parameters, surface++, one.order_count, one.role);

    SliceSyntax syntax{.nal_type = random() % 2 ? kTrailR : kRaslN,
                       .temporal_id = static_cast<uint8_t>(random() % 3),
                       .type = references.used() > 0 ? below(random, 3) : uint32_t{kSliceI},
                       .pps_id = below(random, 64),
                       .pic_output = bool(random() % 2),
                       .overrides_ref_counts = bool(random() % 2),
                       .used_references = references.used()};
    choose_words(syntax, parameters, random);
    SliceParameters slice = random_slice(parameters, random);
    choose_lists(syntax, slice, random);
    if (ctb_count(parameters) > 1 && random() % 2) {
      syntax.first = false;
      slice.slice_segment_address = below(random, ctb_count(parameters) - 1) + 1;
    }

    Picture picture = begin_picture(parameters, 1);
    const Bytes data = render_noise_slice(picture, parameters, slice, syntax, random);
    HevcStream stream(10);
    const auto unit = stream.rebuild(picture);
    fail_unless(bool(unit), "%s", unit ? "" : unit.error().describe().c_str());
    HevcParser parser;
    parser.read(unit->bytes);
    fail_unless(parser.types == (Types{kVps, kSps, kPps, kTrailR}));
    expect_data(parser.slice_nals.at(0), data);
    expect_references(parser.slices.at(0), references, now);
    expect_rest(parser.slices.at(0), parameters, slice, syntax);
  }
}
GST_END_TEST;

// Where more than one long term picture is used, only VA knows the order of the stream's list.
GST_START_TEST(long_term_pictures_are_in_the_lists_as_va_has_them) {
  std::mt19937 random(6);
  for (const bool said : {false, true}) {
    PictureParameters parameters = plain_picture(64, 64);
    parameters.slice_parsing_fields.bits.lists_modification_present_flag = said;
    parameters.slice_parsing_fields.bits.long_term_ref_pics_present_flag = 1;
    parameters.CurrPic.pic_order_cnt = 40;
    constexpr uint32_t kLongTerm =
        VA_PICTURE_HEVC_RPS_LT_CURR | VA_PICTURE_HEVC_LONG_TERM_REFERENCE;
    add_reference(parameters, 2, 8, kLongTerm);
    add_reference(parameters, 3, 39, VA_PICTURE_HEVC_RPS_ST_CURR_BEFORE);
    add_reference(parameters, 4, 16, kLongTerm);
    add_reference(parameters, 5, 48, VA_PICTURE_HEVC_RPS_ST_CURR_AFTER);
    const SliceSyntax syntax{.nal_type = kTrailR,
                             .type = kSliceB,
                             .own_set = {1},
                             .long_term = {16, 8},
                             .overrides_ref_counts = true,
                             .used_references = 4,
                             .list_entries = {{1, 1, 1, 1, 1}, {}}};
    SliceParameters slice{.num_ref_idx_l0_active_minus1 = 4,
                          .num_ref_idx_l1_active_minus1 = 3,
                          .slice_qp_delta = 4};
    const uint8_t lists[2][5] = {{1, 3, 2, 0, 1}, {3, 1, 2, 0}};
    for (int list = 0; list < 2; ++list)
      std::copy(std::begin(lists[list]), std::end(lists[list]), slice.RefPicList[list]);
    Picture picture = begin_picture(parameters, 1);
    const Bytes data = render_noise_slice(picture, parameters, slice, syntax, random);
    HevcStream stream(8);
    const auto unit = stream.rebuild(picture);
    fail_unless(bool(unit));
    HevcParser parser;
    parser.read(unit->bytes);
    expect_data(parser.slice_nals.at(0), data);
    fail_unless_equals_int(parser.pps.lists_modification_present_flag, 1);

    // The decoder's list before that: 39, 48, 8, 16 (and 48, 39, 8, 16).
    const auto& changes = parser.slices.at(0).ref_pic_list_modification;
    fail_unless_equals_int(changes.ref_pic_list_modification_flag_l0, 1);
    fail_unless_equals_int(changes.ref_pic_list_modification_flag_l1, 1);
    const unsigned wanted[2][5] = {{0, 1, 3, 2, 0}, {0, 1, 3, 2}};
    for (int n = 0; n < 5; ++n) fail_unless_equals_int(changes.list_entry_l0[n], wanted[0][n]);
    for (int n = 0; n < 4; ++n) fail_unless_equals_int(changes.list_entry_l1[n], wanted[1][n]);
    fail_unless_equals_int(parser.slices.at(0).qp_delta, 4);

    // A client that leaves its lists empty gets what the stream says.
    for (auto& list : slice.RefPicList) std::fill(std::begin(list), std::end(list), 0xff);
    picture = begin_picture(parameters, 1);
    render_noise_slice(picture, parameters, slice, syntax, random);
    const auto again = HevcStream(8).rebuild(picture);
    fail_unless(bool(again));
    parser.read(again->bytes);
    const auto& kept = parser.slices.at(1).ref_pic_list_modification;
    fail_unless_equals_int(kept.ref_pic_list_modification_flag_l0, said);
    fail_unless_equals_int(kept.ref_pic_list_modification_flag_l1, 0);
    for (int n = 0; n < 5 && said; ++n) fail_unless_equals_int(kept.list_entry_l0[n], 1);
  }
}
GST_END_TEST;

GST_START_TEST(dependent_slices_and_entry_points_stay_as_they_are) {
  std::mt19937 random(7);
  PictureParameters parameters = plain_picture(256, 256);
  parameters.slice_parsing_fields.bits.dependent_slice_segments_enabled_flag = 1;
  parameters.slice_parsing_fields.bits.slice_segment_header_extension_present_flag = 1;
  parameters.pic_fields.bits.entropy_coding_sync_enabled_flag = 1;
  Picture picture = begin_picture(parameters, 1);
  const SliceSyntax whole{.entry_points = {7, 0x10000, 3}, .extension = {0, 0, 1, 0, 0, 3}};
  const Bytes first_data = render_noise_slice(
      picture, parameters, SliceParameters{.slice_qp_delta = -2}, whole, random);
  SliceParameters slice{.slice_segment_address = 77};
  slice.LongSliceFlags.fields.dependent_slice_segment_flag = 1;
  const Bytes second_data = render_noise_slice(
      picture, parameters, slice, {.first = false, .pps_id = 9, .entry_points = {12}}, random);
  HevcStream stream(8);
  const auto unit = stream.rebuild(picture);
  fail_unless(bool(unit));
  HevcParser parser;
  parser.read(unit->bytes);
  fail_unless(parser.types == (Types{kVps, kSps, kPps, kIdr, kIdr}));
  expect_data(parser.slice_nals[0], first_data);
  expect_data(parser.slice_nals[1], second_data);
  fail_unless_equals_int(parser.slices[0].qp_delta, -2);
  fail_unless_equals_int(parser.slices[0].num_entry_point_offsets, 3);
  fail_unless_equals_int(parser.slices[0].entry_point_offset_minus1[1], 0xffff);
  fail_unless_equals_int(parser.slices[1].dependent_slice_segment_flag, 1);
  fail_unless_equals_int(parser.slices[1].segment_address, 77);
  fail_unless_equals_int(parser.slices[1].num_entry_point_offsets, 1);
}
GST_END_TEST;

GST_START_TEST(references_that_contradict_themselves_are_refused) {
  std::mt19937 random(11);
  constexpr uint32_t kBefore = VA_PICTURE_HEVC_RPS_ST_CURR_BEFORE;
  constexpr uint32_t kAfter = VA_PICTURE_HEVC_RPS_ST_CURR_AFTER;
  const auto refused = [&](std::vector<std::pair<int32_t, uint32_t>> references) {
    PictureParameters parameters = plain_picture(64, 64);
    parameters.CurrPic.pic_order_cnt = 10;
    VASurfaceID surface = 2;
    for (const auto& [count, role] : references)
      add_reference(parameters, surface++, count, role);
    Picture picture = begin_picture(parameters, 1);
    render_noise_slice(picture, parameters, SliceParameters{}, {.nal_type = kTrailR}, random);
    HevcStream stream(8);
    return refuses(stream, picture);
  };
  fail_if(refused({{9, kBefore}, {11, kAfter}}));
  fail_unless(refused({{11, kBefore}}));
  fail_unless(refused({{9, kAfter}}));
  fail_unless(refused({{10, kAfter}}));
  fail_unless(refused({{9, kBefore | kAfter}}));
  fail_unless(refused({{9, kBefore}, {9, 0}}));
  fail_unless(refused({{INT32_MIN, kBefore}}));
  fail_unless(refused({{INT32_MAX, kAfter}}));
  // Kept, but never within reach again.
  fail_if(refused({{INT32_MIN, 0}, {INT32_MAX, 0}, {10, 0}}));
}
GST_END_TEST;

GST_START_TEST(slices_that_do_not_read_are_refused_and_change_nothing) {
  std::mt19937 random(12);
  const PictureParameters good = plain_picture(64, 64);
  HevcStream stream(8);
  const auto render = [&](const SliceSyntax& syntax = {}) {
    Picture picture = begin_picture(good, 1);
    render_noise_slice(picture, good, SliceParameters{}, syntax, random);
    return picture;
  };
  // 0: picture, 1: slice parameters, 2: slice data.
  const auto slice_of = [](Picture& picture) {
    return reinterpret_cast<SliceParameters*>(picture.buffers[1].bytes.data());
  };
  Picture picture = render();
  picture.buffers.erase(picture.buffers.begin());
  fail_unless(refuses(stream, picture));  // no picture parameters
  picture = render();
  picture.buffers[0].bytes.resize(10);
  fail_unless(refuses(stream, picture));
  picture = render();
  picture.buffers[1].element_count = 1000000;
  fail_unless(refuses(stream, picture));
  for (const uint32_t offset : {0u, 1u, 2u, 1000u, 0xffffffffu}) {
    picture = render();
    slice_of(picture)->slice_data_byte_offset = offset;
    fail_unless(refuses(stream, picture));
  }
  for (const uint32_t offset : {65535u, 0xffffffffu}) {
    picture = render();
    slice_of(picture)->slice_data_offset = offset;
    fail_unless(refuses(stream, picture));
  }
  picture = render();
  slice_of(picture)->slice_data_size = 2;
  fail_unless(refuses(stream, picture));
  for (const uint8_t header : {0x80, 0x41, 0x14, 0x2c}) {  // not a slice, layer 32, reserved
    picture = render();
    picture.buffers[2].bytes[0] = header;
    fail_unless(refuses(stream, picture));
  }
  fail_unless(refuses(stream, render({.nal_type = kTrailR, .type = 3})));
  std::vector<uint32_t> seventeen(17, 1);
  fail_unless(refuses(stream, render({.nal_type = kTrailR, .own_set = seventeen})));

  // A predicted set of which VA says no length, or one that leads past the header.
  for (const uint32_t bits : {0u, 1000u, 0xffffffffu}) {
    PictureParameters parameters = good;
    parameters.num_short_term_ref_pic_sets = 1;
    parameters.st_rps_bits = bits;
    picture = begin_picture(parameters, 1);
    render_noise_slice(picture, parameters, SliceParameters{},
                       {.nal_type = kTrailR, .predicted_set = {true, false, true}}, random);
    fail_unless(refuses(stream, picture));
  }

  // Still waits with its parameter sets for the first picture that is one.
  const auto unit = stream.rebuild(render());
  fail_unless(bool(unit));
  HevcParser parser;
  parser.read(unit->bytes);
  fail_unless(parser.types == (Types{kVps, kSps, kPps, kIdr}));
}
GST_END_TEST;

static Suite* softva_hevc_slices_suite() {
  Suite* suite = suite_create("softva-hevc-slices");
  TCase* chain = tcase_create("stream");
  suite_add_tcase(suite, chain);
  tcase_add_test(chain, slices_say_their_references_themselves);
  tcase_add_test(chain, long_term_pictures_are_in_the_lists_as_va_has_them);
  tcase_add_test(chain, dependent_slices_and_entry_points_stay_as_they_are);
  tcase_add_test(chain, references_that_contradict_themselves_are_refused);
  tcase_add_test(chain, slices_that_do_not_read_are_refused_and_change_nothing);
  return suite;
}

GST_CHECK_MAIN(softva_hevc_slices);
