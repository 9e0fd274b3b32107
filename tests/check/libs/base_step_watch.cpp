// SPDX-License-Identifier: LGPL-2.1-or-later

// One change of the stream's step is one message, however its frames go to and fro.

#include "lib/base/step_watch.hpp"

#include <string>

#include "lib/base/path.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;
using enum Step;

namespace {

// The changes that `count` frames of `step` make, as "egl>cpu-copy;".
std::string changes(StepWatch<Step>& watch, Step step, uint32_t count) {
  std::string out;
  for (uint32_t i = 0; i < count; ++i)
    if (const auto change = watch.next(step))
      out += std::string(step_name(change->from)) + ">" + step_name(change->to) + ";";
  return out;
}

// check's macro would ask twice.
void expect(StepWatch<Step>& watch, Step step, uint32_t count, const char* wanted) {
  const std::string told = changes(watch, step, count);
  fail_unless_equals_string(told.c_str(), wanted);
}

constexpr uint32_t kSteady = StepWatch<Step>::kSteadyFrames;

GST_START_TEST(first_step_is_no_change) {
  StepWatch<Step> watch;
  expect(watch, CpuCopy, 100, "");
}
GST_END_TEST;

GST_START_TEST(lower_step_is_told_at_once_and_once) {
  StepWatch<Step> watch;
  expect(watch, Egl, 3, "");
  expect(watch, CpuCopy, 1, "egl>cpu-copy;");
  expect(watch, CpuCopy, 500, "");
  expect(watch, Software, 1, "cpu-copy>software;");
}
GST_END_TEST;

GST_START_TEST(better_step_is_told_when_it_lasts) {
  StepWatch<Step> watch;
  (void)watch.next(CpuCopy);
  expect(watch, Egl, kSteady - 1, "");
  expect(watch, Egl, 1, "cpu-copy>egl;");
  expect(watch, Egl, 500, "");
}
GST_END_TEST;

GST_START_TEST(one_bad_surface_of_many_is_one_change) {
  StepWatch<Step> watch;
  std::string told;
  for (int turn = 0; turn < 50; ++turn) {
    told += changes(watch, Egl, 20);
    told += changes(watch, CpuCopy, 1);
  }
  fail_unless_equals_string(told.c_str(), "egl>cpu-copy;");
}
GST_END_TEST;

GST_START_TEST(what_comes_and_goes_slowly_is_told_less_and_less) {
  StepWatch<Step> watch;
  int told = 0;
  for (int turn = 0; turn < 100; ++turn) {
    (void)watch.next(CpuCopy);
    for (uint32_t i = 0; i < 2 * kSteady; ++i) told += watch.next(Egl) ? 1 : 0;
  }
  fail_unless_equals_int(told, 2);
}
GST_END_TEST;

GST_START_TEST(mixed_better_steps_count_as_the_worst_of_them) {
  StepWatch<Step> watch;
  (void)watch.next(Software);
  std::string told;
  for (uint32_t i = 0; i < kSteady; ++i) told += changes(watch, i % 2 ? Egl : CpuCopy, 1);
  fail_unless_equals_string(told.c_str(), "software>cpu-copy;");
  expect(watch, CpuCopy, 10, "");
}
GST_END_TEST;

Suite* base_step_watch_suite() {
  Suite* suite = suite_create("base_step_watch");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, first_step_is_no_change);
  tcase_add_test(tcase, lower_step_is_told_at_once_and_once);
  tcase_add_test(tcase, better_step_is_told_when_it_lasts);
  tcase_add_test(tcase, one_bad_surface_of_many_is_one_change);
  tcase_add_test(tcase, what_comes_and_goes_slowly_is_told_less_and_less);
  tcase_add_test(tcase, mixed_better_steps_count_as_the_worst_of_them);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(base_step_watch)
