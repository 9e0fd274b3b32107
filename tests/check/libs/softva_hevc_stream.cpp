// SPDX-License-Identifier: LGPL-2.1-or-later

// Golden tests: how pictures of a rebuilt H.265 stream follow each other.

#include <random>

#include "lib/softva/hevc_stream.hpp"
#include "tests/check/support/hevc_parser.hpp"
#include "tests/check/support/hevc_random.hpp"

using namespace dxva;
using namespace dxva::softva;
using namespace dxva::test;

GST_START_TEST(parameter_sets_are_sent_when_they_change) {
  std::mt19937 random(8);
  HevcStream stream(10);
  HevcParser parser;
  PictureParameters parameters = plain_picture(64, 64);
  const auto rebuild = [&](const SliceSyntax& syntax) {
    Picture picture = begin_picture(parameters, 1);
    render_noise_slice(picture, parameters, SliceParameters{}, syntax, random);
    const auto unit = stream.rebuild(picture);
    fail_unless(bool(unit));
    parser.read(unit->bytes);
    return parser.types;
  };
  const SliceSyntax trail{.nal_type = kTrailR, .pps_id = 5};
  fail_unless(rebuild({}) == (Types{kVps, kSps, kPps, kIdr}));
  fail_unless(rebuild(trail) == (Types{kTrailR}));
  parameters.init_qp_minus26 = 4;
  fail_unless(rebuild(trail) == (Types{kPps, kTrailR}));
  // What only says how the stream's own headers read is no change.
  parameters.num_short_term_ref_pic_sets = 7;
  parameters.log2_max_pic_order_cnt_lsb_minus4 = 3;
  fail_unless(rebuild(trail) == (Types{kTrailR}));
  parameters.pic_width_in_luma_samples = 128;
  fail_unless(rebuild({}) == (Types{kVps, kSps, kPps, kIdr}));
  fail_unless(rebuild(trail) == (Types{kTrailR}));
}
GST_END_TEST;

GST_START_TEST(a_picture_without_its_references_starts_anew) {
  std::mt19937 random(9);
  HevcStream stream(8);
  enum class Start { GoesOn, Begins, InTheMiddle };
  using enum Start;
  int32_t base = 0;
  const auto rebuild = [&](uint8_t nal_type, VASurfaceID target, int32_t order_count,
                           std::vector<std::pair<VASurfaceID, int32_t>> references) {
    PictureParameters parameters = plain_picture(64, 64);
    parameters.CurrPic.pic_order_cnt = order_count;
    for (const auto& [surface, count] : references)
      add_reference(parameters, surface, count, 0);
    Picture picture = begin_picture(parameters, target);
    render_noise_slice(picture, parameters, SliceParameters{}, {.nal_type = nal_type}, random);
    const auto unit = stream.rebuild(picture);
    fail_unless(bool(unit));
    HevcParser parser;
    // The parser needs the parameter sets, which only the first picture brings.
    Bytes whole = parameter_sets(parameters);
    whole.insert(whole.end(), unit->bytes.begin(), unit->bytes.end());
    parser.read(whole);
    const GstH265SliceHdr& slice = parser.slices.at(0);
    const bool begins = parser.types.back() == kIdr;
    fail_unless(begins || parser.types.back() == kTrailR);
    // Counted from the last start.
    if (begins || unit->starts_in_the_middle) base = order_count;
    fail_unless_equals_int(slice.pic_order_cnt_lsb, (order_count - base) & 0xffff);
    fail_unless_equals_int(slice.short_term_ref_pic_sets.NumDeltaPocs,
                           begins ? 0 : references.size());
    if (begins) return Begins;
    return unit->starts_in_the_middle ? InTheMiddle : GoesOn;
  };
  fail_unless(rebuild(kIdrNLp, 1, 0, {}) == Begins);
  fail_unless(rebuild(kTrailR, 2, 1, {{1, 0}}) == GoesOn);
  fail_unless(rebuild(kCra, 3, 8, {{1, 0}, {2, 1}}) == GoesOn);
  fail_unless(rebuild(kTrailR, 4, 9, {{3, 8}}) == GoesOn);
  // Dropped two pictures ago.
  fail_unless(rebuild(kTrailR, 5, 10, {{1, 0}}) == InTheMiddle);
  // Made up by the decoder then.
  fail_unless(rebuild(kTrailR, 6, 11, {{1, 0}}) == GoesOn);
  // The surface is known, but had another picture.
  fail_unless(rebuild(kTrailR, 7, 12, {{6, 10}}) == InTheMiddle);
  fail_unless(rebuild(kCra, 8, 300, {{7, 292}}) == Begins);
  fail_unless(rebuild(kCra, 8, 300, {}) == Begins);
  fail_unless(rebuild(kBlaWLp, 9, -70000, {{8, 300}}) == Begins);
  fail_unless(rebuild(kTrailR, 10, -69999, {{9, -70000}}) == GoesOn);
  fail_unless(rebuild(kTrailR, 11, 5, {}) == InTheMiddle);
}
GST_END_TEST;

GST_START_TEST(a_senseless_slice_is_left_out_of_its_picture) {
  std::mt19937 random(13);
  const PictureParameters parameters = plain_picture(64, 64);
  Picture picture = begin_picture(parameters, 1);
  const Bytes sps{kSps << 1, 1, 0x80, 0};
  render_slice(picture, SliceParameters{}, sps, 3);
  render_noise_slice(picture, parameters, SliceParameters{}, {}, random);
  const Bytes nothing{kIdrNLp << 1, 1, 0, 0, 0};
  render_slice(picture, SliceParameters{}, nothing, 4);
  render_noise_slice(picture, parameters, SliceParameters{.slice_segment_address = 9},
                     {.first = false}, random);
  HevcStream stream(8);
  const auto unit = stream.rebuild(picture);
  fail_unless(bool(unit));
  HevcParser parser;
  parser.read(unit->bytes);
  fail_unless(parser.types == (Types{kVps, kSps, kPps, kIdr, kIdr}));
  fail_unless_equals_int(parser.slices.at(1).segment_address, 9);
}
GST_END_TEST;

static Suite* softva_hevc_stream_suite() {
  Suite* suite = suite_create("softva-hevc-stream");
  TCase* chain = tcase_create("stream");
  suite_add_tcase(suite, chain);
  tcase_add_test(chain, parameter_sets_are_sent_when_they_change);
  tcase_add_test(chain, a_picture_without_its_references_starts_anew);
  tcase_add_test(chain, a_senseless_slice_is_left_out_of_its_picture);
  return suite;
}

GST_CHECK_MAIN(softva_hevc_stream);
