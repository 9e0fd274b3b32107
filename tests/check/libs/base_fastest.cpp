// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fastest.hpp"

#include "tests/check/support/check.hpp"

using dxva::Fastest;
using std::chrono::nanoseconds;

namespace {

constexpr uint32_t kTurns = Fastest::Rules{}.turns;

// Takes whatever is next, with the times of `times`, until nothing new is measured.
void measure(Fastest& fastest, std::initializer_list<int> times, Fastest::Ways possible = ~0u) {
  while (!fastest.decided(possible)) {
    const auto way = fastest.next(possible);
    fail_unless(way.has_value());
    fastest.took(*way, nanoseconds(*(times.begin() + *way)));
  }
}

}  // namespace

GST_START_TEST(each_way_has_its_turns_and_the_fastest_stays) {
  Fastest fastest({.ways = 3});
  std::vector<uint32_t> turns(3);
  for (uint32_t i = 0; i < 3 * kTurns; ++i) {
    fail_if(fastest.decided());
    const uint32_t way = *fastest.next();
    ++turns[way];
    fastest.took(way, nanoseconds(way == 1 ? 50 : 100));
  }
  for (const uint32_t count : turns) fail_unless_equals_int(count, kTurns);
  fail_unless(fastest.decided());
  fail_unless_equals_int(*fastest.next(), 1);
  // Later times change nothing: it is measured once.
  fastest.took(0, nanoseconds(1));
  fail_unless_equals_int(*fastest.next(), 1);
}
GST_END_TEST

GST_START_TEST(one_slow_turn_is_not_the_way_s_fault) {
  Fastest fastest({.ways = 2});
  for (uint32_t i = 0; i < kTurns; ++i) fastest.took(0, nanoseconds(i == 0 ? 100000 : 10));
  for (uint32_t i = 0; i < kTurns; ++i) fastest.took(1, nanoseconds(20));
  fail_unless_equals_int(*fastest.next(), 0);
  fail_unless_equals_int(fastest.standings()[0].shortest.count(), 10);
}
GST_END_TEST

GST_START_TEST(of_equals_the_first_is_taken) {
  Fastest fastest({.ways = 3});
  measure(fastest, {7, 7, 7});
  fail_unless_equals_int(*fastest.next(), 0);
}
GST_END_TEST

GST_START_TEST(a_way_that_is_out_is_taken_no_more) {
  Fastest fastest({.ways = 3});
  measure(fastest, {1, 2, 3});
  fastest.rule_out(0, "broken");
  fail_unless_equals_int(*fastest.next(), 1);
  fastest.rule_out(1, "wrong");
  fastest.rule_out(2, "");
  fail_if(fastest.next().has_value());
  fail_unless(fastest.decided());
  fail_unless(*fastest.standings()[1].out == "wrong" && !fastest.wants(1));
  // Nor measured.
  Fastest other({.ways = 2});
  other.rule_out(0, "broken");
  fail_unless(other.decided());
  fail_unless_equals_int(*other.next(), 1);
}
GST_END_TEST

GST_START_TEST(only_what_is_possible_counts) {
  Fastest fastest({.ways = 3});
  measure(fastest, {30, 20, 10}, 0b011);
  fail_unless_equals_int(*fastest.next(0b011), 1);
  // The third is measured when its time comes, the others not again.
  fail_if(fastest.decided());
  fail_unless_equals_int(*fastest.next(), 2);
  measure(fastest, {30, 20, 10});
  fail_unless_equals_int(*fastest.next(), 2);
  fail_unless_equals_int(*fastest.next(0b001), 0);
  fail_if(fastest.next(0).has_value());
}
GST_END_TEST

// A machine that is busy for a while is busy for all of them.
GST_START_TEST(turns_are_taken_one_after_the_other) {
  Fastest fastest({.ways = 3});
  for (uint32_t i = 0; i < 3 * kTurns; ++i) {
    fail_unless_equals_int(*fastest.next(), i % 3);
    const bool last = fastest.took(i % 3, nanoseconds(10));
    fail_unless(last == (i >= 3 * (kTurns - 1)));
  }
  fail_if(fastest.took(0, nanoseconds(1)) || fastest.wants(0));
}
GST_END_TEST

GST_START_TEST(a_turn_that_failed_loses_and_is_not_the_end) {
  Fastest fastest({.ways = 2});
  for (uint32_t i = 0; i < kTurns; ++i) {
    fastest.took(0, Fastest::kNever);
    fastest.took(1, nanoseconds(100));
  }
  fail_unless(fastest.decided());
  fail_unless_equals_int(*fastest.next(), 1);
  fastest.rule_out(1, "broken");
  fail_unless_equals_int(*fastest.next(), 0);
}
GST_END_TEST

GST_START_TEST(what_needs_more_must_gain_more) {
  for (const auto& [other, winner] : {std::pair{81, 0}, std::pair{80, 1}}) {
    Fastest fastest({.ways = 2, .turns = 1, .worthwhile_percent = 80});
    measure(fastest, {100, other});
    fail_unless_equals_int(*fastest.next(), winner);
  }
  // Among those that need it, the faster one.
  Fastest fastest({.ways = 3, .worthwhile_percent = 80});
  measure(fastest, {100, 70, 69});
  fail_unless_equals_int(*fastest.next(), 2);
}
GST_END_TEST

static Suite* base_fastest_suite() {
  Suite* suite = suite_create("base_fastest");
  TCase* tcase = tcase_create("general");
  tcase_add_test(tcase, each_way_has_its_turns_and_the_fastest_stays);
  tcase_add_test(tcase, one_slow_turn_is_not_the_way_s_fault);
  tcase_add_test(tcase, of_equals_the_first_is_taken);
  tcase_add_test(tcase, a_way_that_is_out_is_taken_no_more);
  tcase_add_test(tcase, only_what_is_possible_counts);
  tcase_add_test(tcase, turns_are_taken_one_after_the_other);
  tcase_add_test(tcase, a_turn_that_failed_loses_and_is_not_the_end);
  tcase_add_test(tcase, what_needs_more_must_gain_more);
  suite_add_tcase(suite, tcase);
  return suite;
}

GST_CHECK_MAIN(base_fastest)
