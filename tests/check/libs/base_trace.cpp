// SPDX-License-Identifier: LGPL-2.1-or-later

// Where the time of frames goes is told to a listener, and costs no look at the clock without
// one.

#include "lib/base/trace.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <optional>

#include "tests/check/support/check.hpp"

using namespace dxva::trace;

namespace {
int looks = 0;
}  // namespace

// In front of libc's, for libstdc++'s clock as well.
extern "C" [[gnu::visibility("default")]] int clock_gettime(clockid_t clock, timespec* now) {
  ++looks;
  return static_cast<int>(syscall(SYS_clock_gettime, clock, now));
}

namespace {

std::optional<uint64_t> fence_of;
std::optional<uint64_t> home_of;

constexpr Listener kListener{
    .part = [](const Part&) {},
    .fence =
        [](uint64_t memory, Time begin, Time end) {
          if (end >= begin) fence_of = memory;
        },
    .home = [](uint64_t memory, Time) { home_of = memory; },
};

// What an element does with a frame.
Spans work() {
  Spans spans;
  const Recording recording(listener() ? &spans : nullptr);
  const Timed decode(Stage::Decode);
  { const Timed wait(Stage::Wait); }
  const Fence fence(7);
  fence.signalled();
  tell_home(8);
  return spans;
}

GST_START_TEST(without_a_listener_nobody_looks_at_the_clock) {
  looks = 0;
  const Spans spans = work();
  fail_unless_equals_int(looks, 0);
  fail_unless(spans.list().empty());
}
GST_END_TEST;

GST_START_TEST(a_listener_is_told_of_everything) {
  board().store(&kListener);
  looks = 0;
  Spans spans;
  {
    const Recording recording(&spans);
    const Timed decode(Stage::Decode);
    { const Timed wait(Stage::Wait); }
  }
  work();
  board().store(nullptr);
  fail_unless(looks > 0);
  fail_unless_equals_int(spans.list().size(), 2);
  const Span inner = spans.list()[0];
  const Span outer = spans.list()[1];
  fail_unless(inner.stage == Stage::Wait && outer.stage == Stage::Decode);
  fail_unless(outer.begin <= inner.begin && inner.begin <= inner.end && inner.end <= outer.end);
  fail_unless(fence_of == 7);
  fail_unless(home_of == 8);
}
GST_END_TEST;

GST_START_TEST(recordings_nest) {
  Spans outer, inner;
  {
    const Recording one(&outer);
    {
      const Recording two(&inner);
      const Timed copy(Stage::Copy);
    }
    {
      const Recording none(nullptr);
      const Timed lost(Stage::Copy);
    }
    const Timed decode(Stage::Decode);
  }
  { const Timed nowhere(Stage::Export); }
  fail_unless_equals_int(outer.list().size(), 1);
  fail_unless_equals_int(inner.list().size(), 1);
}
GST_END_TEST;

GST_START_TEST(more_than_fits_is_left_out) {
  Spans spans;
  {
    const Recording recording(&spans);
    for (int i = 0; i < 1000; ++i) const Timed copy(Stage::Copy);
  }
  fail_unless(!spans.list().empty() && spans.list().size() < 100);
}
GST_END_TEST;

GST_START_TEST(a_shared_board_is_heard_by_all) {
  Board& own = board();
  static Board shared{nullptr};
  use_board(shared);
  fail_unless(listener() == nullptr);
  shared.store(&kListener);
  fail_unless(listener() == &kListener);
  shared.store(nullptr);
  use_board(own);
}
GST_END_TEST;

Suite* base_trace_suite() {
  Suite* suite = suite_create("base_trace");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, without_a_listener_nobody_looks_at_the_clock);
  tcase_add_test(tcase, a_listener_is_told_of_everything);
  tcase_add_test(tcase, recordings_nest);
  tcase_add_test(tcase, more_than_fits_is_left_out);
  tcase_add_test(tcase, a_shared_board_is_heard_by_all);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(base_trace)
