// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/surface/patience.hpp"

#include "tests/check/support/check.hpp"

using dxva::surface::Patience;

namespace {

constexpr int kPictures = 10000;
constexpr Patience::Duration kNever = Patience::Duration::max();

// A consumer without room, on a clock of its own.
class Consumer {
 public:
  // The next picture is there `after` the one before. One comes back `returns` later, if
  // somebody waits, and else with the picture.
  void meet(Patience::Duration after, Patience::Duration returns) {
    now_ += after;
    if (patience_.is_worth_it(now_)) {
      ++waits;
      if (returns < Patience::kLongest) {
        patience_.in_time(returns);
        now_ += returns;
      } else {
        ++waits_in_vain;
        patience_.in_vain();
        now_ += Patience::kLongest;
      }
    }
    patience_.returned();
  }
  [[nodiscard]] Patience::Duration time() const {
    return std::chrono::duration_cast<Patience::Duration>(now_ - kStart);
  }

  int waits = 0;
  int waits_in_vain = 0;

 private:
  static constexpr Patience::Clock::time_point kStart{std::chrono::hours{1}};
  Patience patience_;
  Patience::Clock::time_point now_ = kStart;
};

}  // namespace

GST_START_TEST(who_gives_back_in_time_is_waited_for_each_time) {
  for (const int returns : {0, 1, 16, 42, 99}) {
    Consumer sink;
    for (int i = 0; i < kPictures; ++i)
      sink.meet(Patience::Duration{1}, Patience::Duration{returns});
    fail_unless_equals_int(sink.waits, kPictures);
  }
}
GST_END_TEST

GST_START_TEST(who_keeps_for_ever_is_waited_for_once) {
  Patience patience;
  Patience::Clock::time_point now{std::chrono::hours{1}};
  fail_unless(patience.is_worth_it(now));
  patience.in_vain();
  for (int i = 0; i < kPictures; ++i)
    fail_if(patience.is_worth_it(now += Patience::Duration{10}));
  patience.returned();
  fail_unless(patience.is_worth_it(now));
}
GST_END_TEST

// Decoders of two and of five hundred pictures a second, and one that waits for the consumer.
GST_START_TEST(waits_in_vain_take_a_small_part_of_the_time) {
  for (const int each : {2, 5, 30}) {
    Consumer analysis;
    for (int i = 0; i < kPictures; ++i) analysis.meet(Patience::Duration{each}, kNever);
    const auto lost = analysis.waits_in_vain * Patience::kLongest;
    fail_unless(lost <= Patience::kInAdvance + analysis.time() / Patience::kPart, "%d of %d ms",
                static_cast<int>(lost.count()), static_cast<int>(analysis.time().count()));
    // It is not given up either: a sink may take the place of an analysis.
    fail_unless(analysis.waits_in_vain > 10, "%d", analysis.waits_in_vain);
  }
}
GST_END_TEST

GST_START_TEST(who_gives_back_again_is_waited_for_again) {
  Consumer consumer;
  for (int i = 0; i < kPictures; ++i) consumer.meet(Patience::Duration{5}, kNever);
  // The time that makes up for one wait.
  constexpr auto kSinks = Patience::Duration{33};
  for (auto i = kSinks; i < Patience::kLongest * Patience::kPart; i += kSinks)
    consumer.meet(kSinks, kSinks);
  consumer.waits = 0;
  for (int i = 0; i < kPictures; ++i) consumer.meet(Patience::Duration{1}, kSinks);
  fail_unless_equals_int(consumer.waits, kPictures);
}
GST_END_TEST

// A busy machine: one in ten comes too late.
GST_START_TEST(late_returns_among_others_cost_one_copy_each) {
  Consumer sink;
  for (int i = 0; i < kPictures; ++i)
    sink.meet(Patience::Duration{1}, i % 10 == 9 ? kNever : Patience::Duration{33});
  fail_unless_equals_int(sink.waits, kPictures);
}
GST_END_TEST

// Each may have cost a sink what it had to show.
GST_START_TEST(who_was_followed_in_vain_is_followed_less_and_less) {
  using std::chrono::hours;
  using std::chrono::seconds;
  Patience patience;
  const Patience::Clock::time_point start{hours{1}};
  int followed = 0;
  for (auto now = start; now < start + hours{2}; now += seconds{1}) {
    if (!patience.may_follow_copies(now)) continue;
    patience.followed_in_vain(now);
    if (++followed == 1) fail_if(patience.may_follow_copies(now + seconds{9}));
    fail_if(patience.may_follow_copies(now));
  }
  // Not given up either: a pause may have come in between.
  fail_unless(followed > 5 && followed < 12, "%d", followed);
}
GST_END_TEST

static Suite* surface_patience_suite() {
  Suite* suite = suite_create("surface_patience");
  TCase* tcase = tcase_create("general");
  tcase_add_test(tcase, who_gives_back_in_time_is_waited_for_each_time);
  tcase_add_test(tcase, who_keeps_for_ever_is_waited_for_once);
  tcase_add_test(tcase, waits_in_vain_take_a_small_part_of_the_time);
  tcase_add_test(tcase, who_gives_back_again_is_waited_for_again);
  tcase_add_test(tcase, late_returns_among_others_cost_one_copy_each);
  tcase_add_test(tcase, who_was_followed_in_vain_is_followed_less_and_less);
  suite_add_tcase(suite, tcase);
  return suite;
}

GST_CHECK_MAIN(surface_patience)
