// SPDX-License-Identifier: LGPL-2.1-or-later

// One display per device and process: threads that come and go, displays of somebody else, and
// fork(). On a driver that counts its starts (fakeva/). ThreadSanitizer has nothing to say
// here.

#include "lib/va/display_registry.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <va/va.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "lib/base/unique_fd.hpp"
#include "lib/va/display.hpp"
#include "lib/va/headless_display.hpp"
#include "tests/check/libs/fakeva/fake_va.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;
using va::DeviceChoice;
using va::Display;

namespace {

// Once a display was opened, the driver stays loaded.
const fakeva::Counts& counts() {
  static const fakeva::Counts none{};
  const void* found = ::dlsym(RTLD_DEFAULT, "fake_va_counts");
  return found ? *static_cast<const fakeva::Counts*>(found) : none;
}

std::shared_ptr<Display> open_software() {
  auto opened = Display::open({.kind = DeviceChoice::Kind::Software});
  return opened ? *opened : nullptr;
}

// --- threads

GST_START_TEST(a_driver_is_never_started_before_the_last_user_has_stopped_it) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 200;
  std::atomic<int> opened{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&opened] {
      for (int round = 0; round < kRounds; ++round)
        if (const auto display = open_software(); display && !display->profiles().empty())
          ++opened;
    });
  for (auto& thread : threads) thread.join();
  fail_unless_equals_int(opened.load(), kThreads * kRounds);
  fail_unless_equals_int(counts().overlaps, 0);
  fail_unless_equals_int(counts().live, 0);
  fail_unless_equals_int(counts().starts, counts().stops);
}
GST_END_TEST;

// The same with the last user held up: it has let go, and cannot stop the driver before
// somebody else, who may be the one that wants to start it again, has left the registry.
GST_START_TEST(whoever_finds_a_display_being_stopped_waits_for_it) {
  for (int round = 0; round < 50; ++round) {
    auto display = open_software();
    fail_unless(display != nullptr);
    const std::weak_ptr<Display> watched = display;
    std::atomic<bool> inside{false};
    std::thread keeps_it_busy([&] {
      (void)va::find_or_start("busy", [&]() -> Result<std::unique_ptr<Display>> {
        inside = true;
        while (!watched.expired()) std::this_thread::yield();
        return Error{.code = ErrorCode::Unsupported};
      });
    });
    while (!inside) std::this_thread::yield();
    std::thread opens_again([] { fail_unless(open_software() != nullptr); });
    std::thread lets_go([held = std::move(display)]() mutable { held.reset(); });
    keeps_it_busy.join();
    opens_again.join();
    lets_go.join();
  }
  fail_unless_equals_int(counts().overlaps, 0);
  fail_unless_equals_int(counts().live, 0);
}
GST_END_TEST;

GST_START_TEST(the_last_user_may_be_any_thread) {
  auto display = open_software();
  fail_unless(display != nullptr);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([held = display] { fail_unless(held->get() != nullptr); });
  display.reset();
  for (auto& thread : threads) thread.join();
  threads.clear();
  fail_unless_equals_int(counts().starts, 1);
  fail_unless_equals_int(counts().stops, 1);
}
GST_END_TEST;

// --- displays of somebody else

GST_START_TEST(an_adopted_display_is_neither_started_nor_stopped_by_us) {
  auto theirs = va::make_headless_display("dxvasoft");
  fail_unless(bool(theirs));
  std::weak_ptr<void> watched;
  {
    auto keeper = std::make_shared<int>();
    watched = keeper;
    auto display = Display::adopt(theirs->get(), std::move(keeper));
    fail_unless(bool(display), "%s", display ? "" : display.error().describe().c_str());
    fail_unless((*display)->get() == theirs->get());
    fail_unless((*display)->profiles() == std::vector{VAProfileH264High});
    fail_if(watched.expired());
  }
  fail_unless(watched.expired());
  fail_unless_equals_int(counts().starts, 1);
  fail_unless_equals_int(counts().stops, 0);
  fail_unless(vaDisplayIsValid(theirs->get()));
}
GST_END_TEST;

GST_START_TEST(all_who_adopt_one_display_share_it) {
  auto theirs = va::make_headless_display("dxvasoft");
  fail_unless(bool(theirs));
  auto one = Display::adopt(theirs->get(), nullptr);
  auto other = Display::adopt(theirs->get(), nullptr);
  fail_unless(bool(one) && bool(other));
  fail_unless(*one == *other);
  auto ours = open_software();
  fail_unless(ours != nullptr);
  fail_if(ours == *one);
}
GST_END_TEST;

GST_START_TEST(our_own_handle_comes_back_as_the_display_it_belongs_to) {
  auto ours = open_software();
  fail_unless(ours != nullptr);
  auto again = Display::adopt(ours->get(), std::make_shared<int>());
  fail_unless(bool(again));
  fail_unless(*again == ours);
  fail_unless_equals_int(counts().starts, 1);
}
GST_END_TEST;

GST_START_TEST(what_is_no_display_is_refused) {
  fail_if(bool(Display::adopt(nullptr, nullptr)));
  alignas(16) std::array<char, 1024> zeros{};
  auto refused = Display::adopt(zeros.data(), nullptr);
  fail_if(bool(refused));
  fail_unless(refused.error().reason == Reason::NoDevice);
}
GST_END_TEST;

GST_START_TEST(a_display_without_a_node_has_no_device) {
  auto ours = open_software();
  fail_unless(ours != nullptr);
  fail_if(bool(va::device_of(ours->get())));
  fail_if(bool(va::device_of(nullptr)));
}
GST_END_TEST;

// --- fork

// Runs `work` in a child and gives its exit status; the child does nothing else.
template <typename Work>
int in_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  fail_unless(child > 0 && ::waitpid(child, &status, 0) == child);
  fail_unless(WIFEXITED(status), "the child died: %d", status);
  return WEXITSTATUS(status);
}

GST_START_TEST(a_child_opens_a_display_of_its_own) {
  auto parents = open_software();
  fail_unless(parents != nullptr);
  const int status = in_child([&]() -> int {
    const int starts = counts().starts;
    auto own = open_software();
    if (!own || own->get() == parents->get()) return 1;
    if (counts().starts != starts + 1) return 2;
    if (own->profiles().empty()) return 3;
    const int stops = counts().stops;
    own.reset();
    return counts().stops == stops + 1 ? 0 : 4;
  });
  fail_unless_equals_int(status, 0);
  fail_unless(open_software() == parents);
}
GST_END_TEST;

GST_START_TEST(a_child_can_neither_use_nor_stop_its_parents_display) {
  auto parents = open_software();
  fail_unless(parents != nullptr);
  const int status = in_child([&]() -> int {
    // Whoever calls libva, and not only we.
    if (vaDisplayIsValid(parents->get())) return 1;
    VASurfaceID surface = 1;
    if (vaDestroySurfaces(parents->get(), &surface, 1) != VA_STATUS_ERROR_INVALID_DISPLAY)
      return 2;
    parents.reset();
    return counts().stops == 0 ? 0 : 3;
  });
  fail_unless_equals_int(status, 0);
  fail_unless(vaDisplayIsValid(parents->get()));
}
GST_END_TEST;

GST_START_TEST(an_adopted_display_is_as_safe) {
  auto theirs = va::make_headless_display("dxvasoft");
  fail_unless(bool(theirs));
  auto adopted = Display::adopt(theirs->get(), nullptr);
  fail_unless(bool(adopted));
  fail_unless_equals_int(in_child([&] { return vaDisplayIsValid(theirs->get()) ? 1 : 0; }), 0);
  adopted->reset();
  // Not ours any more, so what its owner does in a child is the owner's business.
  fail_unless_equals_int(in_child([&] { return vaDisplayIsValid(theirs->get()) ? 0 : 1; }), 0);
}
GST_END_TEST;

GST_START_TEST(a_grandchild_is_kept_from_its_parents_display_too) {
  auto parents = open_software();
  fail_unless(parents != nullptr);
  const int status = in_child([&]() -> int {
    auto own = open_software();
    if (!own) return 1;
    parents.reset();  // must not take the guard of `own` along
    return in_child([&] { return vaDisplayIsValid(own->get()) ? 2 : 0; });
  });
  fail_unless_equals_int(status, 0);
}
GST_END_TEST;

GST_START_TEST(fork_while_another_thread_opens_does_not_hang) {
#ifdef __SANITIZE_THREAD__
  DXVA_SKIP("a lock of ThreadSanitizer's own around dlopen is inherited by the child");
#endif
  // What a driver makes at its very first start is its own affair.
  fail_unless(open_software() != nullptr);
  std::atomic<bool> done{false};
  std::thread opener([&done] {
    while (!done) (void)open_software();
  });
  for (int i = 0; i < 50; ++i)
    fail_unless_equals_int(in_child([] { return open_software() ? 0 : 1; }), 0);
  done = true;
  opener.join();
}
GST_END_TEST;

Suite* va_display_registry_suite() {
  Suite* suite = suite_create("va_display_registry");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, a_driver_is_never_started_before_the_last_user_has_stopped_it);
  tcase_add_test(tcase, whoever_finds_a_display_being_stopped_waits_for_it);
  tcase_add_test(tcase, the_last_user_may_be_any_thread);
  tcase_add_test(tcase, an_adopted_display_is_neither_started_nor_stopped_by_us);
  tcase_add_test(tcase, all_who_adopt_one_display_share_it);
  tcase_add_test(tcase, our_own_handle_comes_back_as_the_display_it_belongs_to);
  tcase_add_test(tcase, what_is_no_display_is_refused);
  tcase_add_test(tcase, a_display_without_a_node_has_no_device);
  tcase_add_test(tcase, a_child_opens_a_display_of_its_own);
  tcase_add_test(tcase, a_child_can_neither_use_nor_stop_its_parents_display);
  tcase_add_test(tcase, an_adopted_display_is_as_safe);
  tcase_add_test(tcase, a_grandchild_is_kept_from_its_parents_display_too);
  tcase_add_test(tcase, fork_while_another_thread_opens_does_not_hang);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(va_display_registry)
