// SPDX-License-Identifier: LGPL-2.1-or-later
// Which way pictures are uploaded, on made-up times. Each case has a renderer of its own: the
// choices are the process's.

#include "lib/gl/upload_choice.hpp"

#include "tests/check/support/check.hpp"

using dxva::gl::UploadChoice;
using enum dxva::gl::UploadWay;
using std::chrono::microseconds;

namespace {

constexpr uint64_t kBytes = 1920 * 1080 * 3 / 2;

void give(const UploadChoice& choice, dxva::gl::UploadWay way, int time_us) {
  for (uint32_t i = 0; i < UploadChoice::kRules.turns; ++i)
    choice.measured(way, microseconds(time_us));
}

GST_START_TEST(the_first_pictures_go_each_way_in_turn) {
  const UploadChoice choice("turns", RingInPlace, kBytes);
  for (uint32_t i = 0; i < UploadChoice::kRules.turns; ++i) {
    // The plain way first.
    fail_unless(!choice.takes(RingInPlace) && choice.wants(Direct));
    choice.measured(Direct, microseconds(10));
    fail_unless(choice.takes(RingInPlace) && choice.wants(RingInPlace));
    choice.measured(RingInPlace, microseconds(10));
  }
  fail_if(choice.wants(RingInPlace) || choice.wants(Direct));
  fail_unless(choice.wants(Ring));
}
GST_END_TEST;

GST_START_TEST(the_faster_way_stays) {
  const UploadChoice nvidia("an NVIDIA GPU", RingInPlace, kBytes);
  give(nvidia, Direct, 305);
  fail_if(nvidia.is_settled_against(RingInPlace));
  give(nvidia, Ring, 386);
  give(nvidia, RingInPlace, 127);
  fail_unless(nvidia.takes(RingInPlace));
  fail_unless(!nvidia.takes(Ring) && nvidia.is_settled_against(Ring));
  fail_if(nvidia.is_settled_against(RingInPlace));
  // What comes later changes nothing.
  give(nvidia, RingInPlace, 1);
  give(nvidia, Direct, 1);
  fail_unless(nvidia.takes(RingInPlace));
  fail_unless(nvidia.standings()[2].standing.shortest == microseconds(127));
}
GST_END_TEST;

GST_START_TEST(a_gain_within_the_noise_is_none) {
  const UploadChoice llvmpipe("llvmpipe", RingInPlace, kBytes);
  give(llvmpipe, Direct, 100);
  give(llvmpipe, RingInPlace, 90);
  fail_unless(!llvmpipe.takes(RingInPlace) && llvmpipe.is_settled_against(RingInPlace));
  const UploadChoice border("border", RingInPlace, kBytes);
  give(border, Direct, 100);
  give(border, RingInPlace, 80);
  fail_unless(border.takes(RingInPlace));
}
GST_END_TEST;

GST_START_TEST(fresh_memory_and_a_busy_machine_do_not_count) {
  const UploadChoice choice("busy", RingInPlace, kBytes);
  give(choice, Direct, 100);
  // The ring's slots for the first time, then two turns that somebody else held up.
  for (int i = 0; i < 6; ++i) choice.measured(RingInPlace, microseconds(100000));
  choice.measured(RingInPlace, microseconds(50));
  fail_unless(choice.takes(RingInPlace));
}
GST_END_TEST;

GST_START_TEST(what_the_context_cannot_do_is_never_taken) {
  const UploadChoice plain("plain", Direct, kBytes);
  fail_unless(plain.takes(Direct));
  fail_unless(!plain.takes(Ring) && !plain.takes(RingInPlace) && !plain.can(Ring));
  fail_unless(plain.is_settled_against(RingInPlace));
  fail_if(plain.wants(Direct));
  const UploadChoice buffers("buffers", Ring, kBytes);
  buffers.measured(Direct, microseconds(1));
  fail_unless(buffers.takes(Ring) && !buffers.takes(RingInPlace));
  fail_unless(buffers.is_settled_against(RingInPlace) && !buffers.wants(RingInPlace));
  fail_unless(buffers.standings()[2].standing.out && !buffers.standings()[1].standing.out);
}
GST_END_TEST;

GST_START_TEST(what_opengl_refused_is_not_tried_again) {
  const UploadChoice choice("refusing", RingInPlace, kBytes);
  choice.measured(Direct, microseconds(100));
  fail_unless(choice.takes(RingInPlace));
  choice.rule_out(RingInPlace, "no");
  fail_unless(!choice.takes(RingInPlace) && !choice.can(RingInPlace));
  fail_unless(choice.is_settled_against(RingInPlace) && !choice.wants(RingInPlace));
  fail_unless(*choice.standings()[2].standing.out == "no");
  fail_unless(choice.takes(Direct) && choice.takes(Ring));
}
GST_END_TEST;

GST_START_TEST(one_choice_for_a_renderer_and_an_order_of_size) {
  give(UploadChoice("a", RingInPlace, kBytes), Direct, 100);
  give(UploadChoice("a", RingInPlace, 1920 * 1088 * 3 / 2), RingInPlace, 10);
  fail_unless(UploadChoice("a", RingInPlace, kBytes).takes(RingInPlace));
  fail_if(UploadChoice("a", RingInPlace, kBytes).wants(Direct));
  fail_unless(UploadChoice("b", RingInPlace, kBytes).wants(Direct));
  fail_unless(UploadChoice("a", RingInPlace, 160 * 120 * 3 / 2).wants(Direct));
  fail_unless(UploadChoice("a", Ring, kBytes).wants(Direct));
}
GST_END_TEST;

Suite* gl_upload_choice_suite() {
  Suite* suite = suite_create("gl_upload_choice");
  TCase* tests = tcase_create("general");
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, the_first_pictures_go_each_way_in_turn);
  tcase_add_test(tests, the_faster_way_stays);
  tcase_add_test(tests, a_gain_within_the_noise_is_none);
  tcase_add_test(tests, fresh_memory_and_a_busy_machine_do_not_count);
  tcase_add_test(tests, what_the_context_cannot_do_is_never_taken);
  tcase_add_test(tests, what_opengl_refused_is_not_tried_again);
  tcase_add_test(tests, one_choice_for_a_renderer_and_an_order_of_size);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(gl_upload_choice)
