// SPDX-License-Identifier: LGPL-2.1-or-later
// Which way pictures are uploaded, on made-up times.

#include "lib/gl/upload_chooser.hpp"

#include "tests/check/support/check.hpp"

using dxva::gl::UploadChooser;
using enum dxva::gl::UploadWay;
using std::chrono::microseconds;

namespace {

void give(UploadChooser& chooser, dxva::gl::UploadWay way, int time_us) {
  for (size_t i = 0; i < UploadChooser::kSamples; ++i)
    chooser.measured(way, microseconds(time_us));
}

GST_START_TEST(the_first_pictures_go_each_way_in_turn) {
  UploadChooser chooser(RingInPlace);
  for (size_t i = 0; i < UploadChooser::kSamples; ++i) {
    fail_unless(chooser.takes(RingInPlace) && chooser.wants(RingInPlace));
    chooser.measured(RingInPlace, microseconds(10));
    fail_if(chooser.takes(RingInPlace));
    fail_unless(chooser.takes(Direct) && chooser.wants(Direct));
    chooser.measured(Direct, microseconds(10));
  }
  fail_if(chooser.wants(RingInPlace) || chooser.wants(Direct));
  fail_unless(chooser.wants(Ring));
}
GST_END_TEST;

GST_START_TEST(the_faster_way_stays) {
  UploadChooser nvidia(RingInPlace);
  give(nvidia, Direct, 305);
  fail_if(nvidia.is_settled_against(RingInPlace));
  give(nvidia, Ring, 386);
  give(nvidia, RingInPlace, 127);
  fail_unless(nvidia.takes(RingInPlace));
  fail_unless(!nvidia.takes(Ring) && nvidia.is_settled_against(Ring));
  fail_if(nvidia.is_settled_against(RingInPlace));
  // What comes later changes nothing.
  give(nvidia, RingInPlace, 9000);
  fail_unless(nvidia.takes(RingInPlace));
}
GST_END_TEST;

GST_START_TEST(a_gain_within_the_noise_is_none) {
  UploadChooser llvmpipe(RingInPlace);
  give(llvmpipe, Direct, 100);
  give(llvmpipe, RingInPlace, 90);
  fail_unless(!llvmpipe.takes(RingInPlace) && llvmpipe.is_settled_against(RingInPlace));
  UploadChooser border(RingInPlace);
  give(border, Direct, 100);
  give(border, RingInPlace, 80);
  fail_unless(border.takes(RingInPlace));
}
GST_END_TEST;

GST_START_TEST(the_first_time_and_an_outlier_do_not_count) {
  UploadChooser chooser(RingInPlace);
  give(chooser, Direct, 100);
  chooser.measured(RingInPlace, microseconds(100000));
  chooser.measured(RingInPlace, microseconds(100000));
  for (size_t i = 2; i < UploadChooser::kSamples; ++i)
    chooser.measured(RingInPlace, microseconds(50));
  fail_unless(chooser.takes(RingInPlace));
  UploadChooser first(RingInPlace);
  give(first, Direct, 100);
  first.measured(RingInPlace, microseconds(1));
  for (size_t i = 1; i < UploadChooser::kSamples; ++i)
    first.measured(RingInPlace, microseconds(100));
  fail_if(first.takes(RingInPlace));
}
GST_END_TEST;

GST_START_TEST(what_the_context_cannot_do_is_never_taken) {
  UploadChooser plain(Direct);
  fail_unless(plain.takes(Direct));
  fail_unless(!plain.takes(Ring) && !plain.takes(RingInPlace));
  fail_unless(plain.is_settled_against(RingInPlace));
  fail_if(plain.wants(Direct));
  UploadChooser buffers(Ring);
  fail_unless(buffers.takes(Ring) && !buffers.takes(RingInPlace));
  fail_unless(buffers.is_settled_against(RingInPlace) && !buffers.wants(RingInPlace));
}
GST_END_TEST;

GST_START_TEST(one_choice_for_a_renderer_and_an_order_of_size) {
  const auto chooser = [](const char* renderer, uint64_t bytes) {
    return dxva::gl::upload_chooser(renderer, RingInPlace, bytes);
  };
  const auto one = chooser("a", 1920 * 1080 * 3 / 2);
  fail_unless(one == chooser("a", 1920 * 1088 * 3 / 2));
  fail_if(one == chooser("b", 1920 * 1080 * 3 / 2));
  fail_if(one == chooser("a", 160 * 120 * 3 / 2));
  fail_if(one == dxva::gl::upload_chooser("a", Ring, 1920 * 1080 * 3 / 2));
}
GST_END_TEST;

Suite* gl_upload_chooser_suite() {
  Suite* suite = suite_create("gl_upload_chooser");
  TCase* tests = tcase_create("general");
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, the_first_pictures_go_each_way_in_turn);
  tcase_add_test(tests, the_faster_way_stays);
  tcase_add_test(tests, a_gain_within_the_noise_is_none);
  tcase_add_test(tests, the_first_time_and_an_outlier_do_not_count);
  tcase_add_test(tests, what_the_context_cannot_do_is_never_taken);
  tcase_add_test(tests, one_choice_for_a_renderer_and_an_order_of_size);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(gl_upload_chooser)
