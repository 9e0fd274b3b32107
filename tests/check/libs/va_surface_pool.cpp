// SPDX-License-Identifier: LGPL-2.1-or-later
// Surfaces lent and given back, on the bundled driver.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/base/trace.hpp"
#include "lib/va/surface_pool.hpp"
#include "lib/va/surface_sync.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;

namespace {

std::shared_ptr<va::Display> open_display(const char* fault = "") {
  ::setenv("DXVASOFT_FAULT", fault, 1);
  auto display = va::Display::open({.kind = va::DeviceChoice::Kind::Software});
  fail_unless(bool(display), "%s", display ? "" : display.error().describe().c_str());
  return *display;
}

std::shared_ptr<va::SurfacePool> make_pool(std::shared_ptr<va::Display> display,
                                           uint32_t count) {
  auto pool = va::SurfacePool::create(
      std::move(display), {.fourcc = format::kNV12, .width = 64, .height = 48, .count = count});
  fail_unless(bool(pool), "%s", pool ? "" : pool.error().describe().c_str());
  return *pool;
}

va::SurfaceLease lease(va::SurfacePool& pool) {
  auto surface = pool.acquire();
  fail_unless(bool(surface), "%s", surface ? "" : surface.error().describe().c_str());
  return *surface;
}

// A picture, as the decoder holds it.
va::SurfaceLease decoded(va::SurfacePool& pool) {
  va::SurfaceLease out = lease(pool);
  pool.end_pairs(accel::Severity::None);
  fail_unless(bool(out->sync()));
  return out;
}

surface::Lease show(va::Surface& surface) {
  auto shown = surface.pool().show(surface);
  fail_unless(bool(shown), "%s", shown ? "" : shown.error().describe().c_str());
  return *shown;
}

}  // namespace

GST_START_TEST(a_lent_surface_is_nobody_elses) {
  const auto pool = make_pool(open_display(), 3);
  std::vector<va::SurfaceLease> held;
  std::set<VASurfaceID> ids;
  for (int i = 0; i < 3; ++i) {
    held.push_back(lease(*pool));
    ids.insert(held.back()->id());
  }
  fail_unless_equals_int(ids.size(), 3);
  fail_unless_equals_int(pool->late_surfaces(), 0);
  const auto all = pool->ids();
  fail_unless(ids == std::set<VASurfaceID>(all.begin(), all.end()));
}
GST_END_TEST

GST_START_TEST(a_surface_comes_back_when_its_last_holder_lets_go) {
  const auto pool = make_pool(open_display(), 1);
  va::SurfaceLease first = lease(*pool);
  const VASurfaceID id = first->id();
  va::SurfaceLease second = first;
  first.reset();
  fail_unless(lease(*pool)->id() != id);
  second.reset();
  std::set<VASurfaceID> ids;
  const auto a = lease(*pool);
  const auto b = lease(*pool);
  fail_unless(a->id() == id || b->id() == id);
}
GST_END_TEST

// Those that so many pictures went into, one after the other.
template <typename Played>
std::set<VASurfaceID> surfaces_of(va::SurfacePool& pool, int pictures, const Played& played) {
  std::set<VASurfaceID> out;
  for (int i = 0; i < pictures; ++i) {
    va::SurfaceLease picture = decoded(pool);
    out.insert(picture->id());
    played(std::move(picture));
  }
  return out;
}

GST_START_TEST(a_surface_rests_while_the_others_are_written) {
  const auto pool = make_pool(open_display(), 4);
  for (int round = 0; round < 3; ++round) {
    const auto used = surfaces_of(*pool, 4, [](va::SurfaceLease) {});
    fail_unless_equals_int(used.size(), 4);
  }
  const auto shown = surfaces_of(*pool, 4, [](va::SurfaceLease picture) {
    const surface::Lease out = show(*picture);
    picture.reset();
  });
  fail_unless_equals_int(shown.size(), 4);
}
GST_END_TEST

GST_START_TEST(what_the_cpu_alone_has_read_is_the_next_target) {
  const auto pool = make_pool(open_display(), 4);
  const auto copied = surfaces_of(
      *pool, 8, [&](const va::SurfaceLease& picture) { pool->read_by_cpu(*picture); });
  fail_unless_equals_int(copied.size(), 1);
  // Read where they lie, by somebody who has them longer than the decoder.
  const auto mapped = surfaces_of(*pool, 8, [&](va::SurfaceLease picture) {
    const surface::Lease out = show(*picture);
    pool->read_by_cpu(*picture);
    picture.reset();
  });
  fail_unless(mapped == copied);
  // A decoder that holds one goes on with two.
  va::SurfaceLease before = decoded(*pool);
  const auto two = surfaces_of(*pool, 8, [&](const va::SurfaceLease& picture) {
    pool->read_by_cpu(*before);
    before = picture;
  });
  fail_unless_equals_int(two.size(), 2);
}
GST_END_TEST

// The word is about one picture, and about what happened to it until then.
GST_START_TEST(what_others_read_rests_again) {
  const auto pool = make_pool(open_display(), 4);
  int count = 0;
  const auto of_each_second = surfaces_of(*pool, 8, [&](const va::SurfaceLease& picture) {
    if (++count % 2 == 0) pool->read_by_cpu(*picture);
  });
  fail_unless_equals_int(of_each_second.size(), 4);
  const auto shown_later = surfaces_of(*pool, 4, [&](va::SurfaceLease picture) {
    pool->read_by_cpu(*picture);
    const surface::Lease out = show(*picture);
    picture.reset();
  });
  fail_unless_equals_int(shown_later.size(), 4);
}
GST_END_TEST

// --- the protocol

GST_START_TEST(a_surface_downstream_is_pending_and_no_target) {
  const auto pool = make_pool(open_display(), 2);
  va::SurfaceLease picture = decoded(*pool);
  const VASurfaceID id = picture->id();
  surface::Lease shown = show(*picture);
  // The decoder needs it no more, the screen does.
  picture.reset();
  const va::SurfaceLease other = lease(*pool);
  fail_unless(other->id() != id);
  const va::SurfaceLease late = lease(*pool);
  fail_unless_equals_int(pool->late_surfaces(), 1);
  shown.reset();
  fail_unless(lease(*pool)->id() == id);
}
GST_END_TEST

GST_START_TEST(a_surface_goes_downstream_once_and_with_its_pixels) {
  const auto pool = make_pool(open_display(), 1);
  const va::SurfaceLease picture = lease(*pool);
  fail_if(bool(pool->show(*picture)));
  pool->end_pairs(accel::Severity::None);
  fail_unless(pool->query_status(*picture) == accel::Session::Render::Pending);
  fail_if(bool(pool->show(*picture)));
  fail_unless(bool(picture->sync()));
  fail_unless(pool->query_status(*picture) == accel::Session::Render::Ready);
  const surface::Lease shown = show(*picture);
  auto again = pool->show(*picture);
  fail_unless(!again && again.error().reason == Reason::SurfaceInUse);
}
GST_END_TEST

GST_START_TEST(two_fields_are_two_pairs) {
  const auto pool = make_pool(open_display(), 2);
  fail_if(pool->second_field(accel::Severity::None));
  const va::SurfaceLease picture = lease(*pool);
  pool->end_pairs(accel::Severity::None);
  fail_unless(pool->second_field(accel::Severity::None));
  fail_if(pool->second_field(accel::Severity::None));
  fail_unless_equals_uint64(pool->pairs().begun, 2);
  fail_unless_equals_uint64(pool->pairs().ended, 2);
}
GST_END_TEST

GST_START_TEST(a_severe_error_ends_the_lending_and_spares_what_is_done) {
  const auto pool = make_pool(open_display(), 3);
  const va::SurfaceLease good = decoded(*pool);
  const va::SurfaceLease bad = lease(*pool);
  pool->end_pairs(accel::Severity::Severe);
  auto next = pool->acquire();
  fail_unless(!next && next.error().code == ErrorCode::DeviceLost);
  fail_if(bool(pool->show(*bad)));
  const surface::Lease shown = show(*good);
}
GST_END_TEST

GST_START_TEST(a_failed_sync_is_the_sessions_business_too) {
  const auto pool = make_pool(open_display("sync:at=1"), 2);
  const va::SurfaceLease picture = lease(*pool);
  pool->end_pairs(accel::Severity::None);
  auto synced = picture->sync();
  fail_unless(!synced && synced.error().reason == Reason::SyncFailed);
  fail_unless(pool->query_status(*picture) == accel::Session::Render::Error);
  fail_if(bool(pool->acquire()));
}
GST_END_TEST

GST_START_TEST(a_device_that_hangs_is_waited_for_until_a_flush) {
  const auto pool = make_pool(open_display("sync:hang-from=1"), 1);
  const va::SurfaceLease picture = lease(*pool);
  pool->end_pairs(accel::Severity::None);
  pool->interrupt(true);
  auto synced = picture->sync();
  fail_unless(!synced && synced.error().code == ErrorCode::Busy);
  // Nothing is known about the device; somebody asks again after the flush, or nobody does.
  fail_unless(pool->query_status(*picture) == accel::Session::Render::Pending);
}
GST_END_TEST

GST_START_TEST(a_device_that_hangs_is_waited_for_up_to_the_bound) {
  const auto display = open_display("sync:hang-from=1");
  const auto pool = make_pool(display, 1);
  auto synced =
      va::wait_until_decoded(*display, lease(*pool)->id(), {}, std::chrono::milliseconds(150));
  fail_unless(!synced && synced.error().reason == Reason::SyncFailed);
  fail_unless_equals_int(synced.error().native, VA_STATUS_ERROR_TIMEDOUT);
  fail_if(pool->device_is_lost());
}
GST_END_TEST

GST_START_TEST(a_lost_display_is_not_handed_out_again) {
  const auto display = open_display("sync:lost=1");
  fail_unless(open_display() == display);
  const auto pool = make_pool(display, 2);
  const va::SurfaceLease picture = lease(*pool);
  pool->end_pairs(accel::Severity::None);
  fail_if(pool->device_is_lost());
  auto synced = picture->sync();
  fail_unless(!synced && synced.error().reason == Reason::DeviceLost);
  fail_unless(display->is_lost());
  const auto next = open_display();
  fail_unless(next != display);
  fail_unless(open_display() == next);
  fail_unless(decoded(*make_pool(next, 1)) != nullptr);
}
GST_END_TEST

GST_START_TEST(a_lease_that_ends_early_abandons_its_pair) {
  const auto pool = make_pool(open_display(), 1);
  lease(*pool).reset();
  fail_unless_equals_uint64(pool->pairs().abandoned, 1);
  pool->end_pairs(accel::Severity::None);
  fail_unless_equals_uint64(pool->pairs().ended, 0);
  fail_unless(lease(*pool) != nullptr);
  fail_unless_equals_int(pool->late_surfaces(), 0);
}
GST_END_TEST

// --- room

GST_START_TEST(room_downstream_is_worth_a_moment_once) {
  const auto pool = make_pool(open_display(), 1);
  const va::SurfaceLease picture = decoded(*pool);
  fail_unless(pool->wait_for_room(1));
  surface::Lease shown = show(*picture);
  // Nothing comes back: a wait in vain, and none after it, however long the first one took.
  fail_if(pool->wait_for_room(1));
  fail_if(pool->wait_for_room(1));
  shown.reset();
  fail_unless(pool->wait_for_room(1));

  // One comes back while somebody waits; who comes too late for one wait is met by another.
  shown = show(*picture);
  std::thread consumer([&] { shown.reset(); });
  while (!pool->wait_for_room(1)) std::this_thread::yield();
  consumer.join();

  // A flush ends the wait at once, and says nothing about the consumer.
  shown = show(*picture);
  pool->interrupt(true);
  fail_if(pool->wait_for_room(1));
  pool->interrupt(false);
}
GST_END_TEST

namespace {

struct Played {
  size_t waits = 0;
  surface::Patience::Duration time{0};
};

// A decoder shows `pictures`. The consumer keeps the last `window` and gives one back for each
// that comes: a surface, or a copy where there was no room.
Played play_to_window(size_t window, size_t pictures) {
  constexpr uint32_t kLimit = 8;
  const auto pool = make_pool(open_display(), kLimit + 2);
  std::deque<std::optional<surface::Lease>> kept;  // nothing: a copy
  Played out;
  size_t copies = 0;
  const auto began = surface::Patience::Clock::now();
  for (size_t i = 0; i < pictures; ++i) {
    const va::SurfaceLease picture = decoded(*pool);
    trace::Spans spans;
    bool room = false;
    {
      const trace::Recording recording(&spans);
      room = pool->wait_for_room(kLimit);
    }
    out.waits += spans.list().size();
    kept.push_back(room ? std::optional(show(*picture)) : std::nullopt);
    if (!room) ++copies;
    if (kept.size() > window) kept.pop_front();
  }
  out.time = std::chrono::duration_cast<surface::Patience::Duration>(
      surface::Patience::Clock::now() - began);
  // Else it would be no wonder.
  fail_unless(window < kLimit || copies >= pictures / 10);
  return out;
}

}  // namespace

// Nobody but this thread gives anything back, so each wait is in vain: as many as the time that
// has gone by allows, and not one for each time that surfaces have come back.
GST_START_TEST(who_keeps_the_last_few_pictures_is_hardly_waited_for) {
  using surface::Patience;
  fail_unless_equals_int(play_to_window(7, 300).waits, 0);
  for (const size_t window : {8, 12, 25}) {
    const Played out = play_to_window(window, 300);
    const auto lost = out.waits * Patience::kLongest;
    fail_unless(lost <= Patience::kInAdvance + out.time / Patience::kPart,
                "%zu waits in %d ms with a window of %zu", out.waits,
                static_cast<int>(out.time.count()), window);
  }
}
GST_END_TEST

namespace {

// A sink with a clock, that has copies before the surface that is waited for: one a turn.
constexpr std::chrono::milliseconds kTurn{20};
constexpr int kTurns = 12;
static_assert(kTurn * kTurns > 2 * surface::Patience::kLongest);

// A busy machine is late for the sink's turns, or for the end of a wait.
template <typename Attempt>
bool once_in_time(Attempt attempt) {
  constexpr int kAttempts = 12;
  for (int i = 0; i < kAttempts; ++i)
    if (attempt()) return true;
  return false;
}

bool finds_room(surface::Pool::WhileCopiesReturn copies) {
  const auto pool = make_pool(open_display(), 1);
  const va::SurfaceLease picture = decoded(*pool);
  surface::Lease shown = show(*picture);
  std::thread sink([&] {
    for (int i = 0; i < kTurns; ++i) {
      std::this_thread::sleep_for(kTurn);
      pool->copy_came_back();
    }
    shown.reset();
  });
  const bool found = pool->wait_for_room(1, copies);
  sink.join();
  return found;
}

}  // namespace

GST_START_TEST(copies_that_come_back_say_that_a_surface_will) {
  using Copies = surface::Pool::WhileCopiesReturn;
  fail_unless(once_in_time([] { return finds_room(Copies::Waits); }));
  fail_unless(once_in_time([] { return !finds_room(Copies::Ends); }));
}
GST_END_TEST

// Copies go round, and a surface is kept for ever.
GST_START_TEST(copies_are_not_followed_in_vain_twice) {
  using surface::Patience;
  constexpr int kMostTurns = 30;
  const auto wait = [](surface::Pool& pool) {
    std::atomic<bool> over = false;
    std::thread sink([&] {
      for (int i = 0; i < kMostTurns && !over; ++i) {
        std::this_thread::sleep_for(kTurn);
        pool.copy_came_back();
      }
    });
    const auto began = Patience::Clock::now();
    fail_if(pool.wait_for_room(1, surface::Pool::WhileCopiesReturn::Waits));
    const auto took = Patience::Clock::now() - began;
    over = true;
    sink.join();
    return took;
  };
  fail_unless(once_in_time([&] {
    const auto pool = make_pool(open_display(), 2);
    const va::SurfaceLease kept = decoded(*pool), other = decoded(*pool);
    const surface::Lease shown = show(*kept);
    // Until they run out.
    const bool followed = wait(*pool) > kMostTurns * kTurn;
    // What comes back gives new hope, of a wait like any other.
    show(*other).reset();
    return followed && wait(*pool) < kMostTurns * kTurn / 2;
  }));
}
GST_END_TEST

GST_START_TEST(an_empty_pool_makes_late_surfaces_up_to_a_limit) {
  const auto pool = make_pool(open_display(), 1);
  std::vector<va::SurfaceLease> held;
  held.push_back(lease(*pool));
  held.push_back(lease(*pool));
  fail_unless_equals_int(pool->late_surfaces(), 1);
  Result<va::SurfaceLease> next = pool->acquire();
  for (; next && held.size() < 500; next = pool->acquire()) held.push_back(*next);
  fail_unless(!next && next.error().code == ErrorCode::NoMemory);
  fail_unless(next.error().reason == Reason::SurfacePoolEmpty);
}
GST_END_TEST

GST_START_TEST(an_interrupt_ends_the_wait) {
  const auto pool = make_pool(open_display(), 1);
  const auto held = lease(*pool);
  pool->interrupt(true);
  auto refused = pool->acquire();
  fail_unless(!refused && refused.error().code == ErrorCode::Busy);
  fail_unless_equals_int(pool->late_surfaces(), 0);
  pool->interrupt(false);
  fail_unless(bool(pool->acquire()));
}
GST_END_TEST

GST_START_TEST(a_waiting_thread_gets_what_another_gives_back) {
  const auto pool = make_pool(open_display(), 1);
  for (int i = 0; i < 50; ++i) {
    auto held = lease(*pool);
    std::thread giver([&held] { held.reset(); });
    const auto next = lease(*pool);
    fail_unless(next != nullptr);
    giver.join();
  }
}
GST_END_TEST

namespace {

// What a decoder shows and others hold for a while.
class Screens {
 public:
  void give(surface::Lease shown) {
    const std::lock_guard guard(lock_);
    held_.push_back(std::move(shown));
  }
  // Lets the oldest go, outside of the lock as a sink does.
  void let_go() {
    surface::Lease oldest;  // goes after the lock
    const std::lock_guard guard(lock_);
    if (held_.empty()) return;
    oldest.swap(held_.front());
    held_.pop_front();
  }

 private:
  std::mutex lock_;
  std::deque<surface::Lease> held_;
};

}  // namespace

// One thread decodes and shows, two let buffers go, one flushes: the books add up, and nobody
// draws into what somebody holds. Races show in a build with ThreadSanitizer.
GST_START_TEST(decoder_screens_and_flushes_do_not_disturb_each_other) {
  const auto pool = make_pool(open_display(), 6);
  Screens screens;
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!done) screens.let_go();
    });
  threads.emplace_back([&] {
    for (int i = 0; !done; ++i) {
      pool->interrupt(i % 8 == 0);
      std::this_thread::yield();
    }
    pool->interrupt(false);
  });
  uint64_t lent = 0;
  while (lent < 1000) {
    auto target = pool->acquire();
    if (!target) {
      fail_unless(target.error().code == ErrorCode::Busy);
      std::this_thread::yield();
      continue;
    }
    ++lent;
    pool->end_pairs(accel::Severity::None);
    if (!(*target)->sync()) continue;
    if (!pool->wait_for_room(3)) continue;
    screens.give(show(**target));
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  fail_unless_equals_uint64(pool->pairs().begun, lent);
  fail_unless_equals_uint64(pool->pairs().ended, lent);
  fail_unless_equals_int(pool->late_surfaces(), 0);
}
GST_END_TEST

GST_START_TEST(a_lease_keeps_its_pool_and_display) {
  auto pool = make_pool(open_display(), 2);
  const va::SurfaceLease held = decoded(*pool);
  pool.reset();
  fail_unless(bool(held->sync()));
  fail_unless(bool(held->exported()));
  fail_unless(held->width() == 64);
}
GST_END_TEST

GST_START_TEST(memory_that_stays_keeps_its_descriptors_and_the_driver_is_left_alone) {
  const auto pool = make_pool(open_display("export:from=3"), 1);
  int fd = -1;
  uint32_t generation = 0;
  // Two looks agree; a third one would fail.
  for (int picture = 0; picture < 20; ++picture) {
    const auto surface = lease(*pool);
    auto exported = surface->exported();
    fail_unless(bool(exported));
    if (picture == 0) {
      fd = exported->frame->objects[0].fd.get();
      generation = exported->generation;
    }
    fail_unless_equals_int(exported->frame->objects[0].fd.get(), fd);
    fail_unless(exported->generation == generation);
  }
}
GST_END_TEST

GST_START_TEST(memory_that_moved_is_noticed) {
  ::setenv("DXVASOFT_LAYOUT", "tiled", 1);
  ::setenv("DXVASOFT_TILED_FROM", "2", 1);
  const auto pool = make_pool(open_display(), 1);
  uint32_t generation = 0;
  {
    const auto surface = lease(*pool);
    auto before = surface->exported();
    fail_unless(before && before->frame->objects[0].modifier == kModifierLinear);
    generation = before->generation;
  }
  const auto surface = lease(*pool);
  auto after = surface->exported();
  fail_unless(after && after->generation != generation);
  fail_unless(after->frame->objects[0].modifier != kModifierLinear);
}
GST_END_TEST

GST_START_TEST(a_refused_export_is_not_tried_each_time) {
  const auto pool = make_pool(open_display("export:at=1,export:at=2"), 1);
  const auto surface = lease(*pool);
  int refusals = 0;
  while (!surface->exported()) {
    ++refusals;
    fail_unless(refusals < 100);
  }
  // One call and 8 that were not made, then one and 16.
  fail_unless_equals_int(refusals, 1 + 8 + 1 + 16);
}
GST_END_TEST

GST_START_TEST(a_driver_without_memory_is_an_error) {
  auto pool =
      va::SurfacePool::create(open_display("createsurfaces:from=1"),
                              {.fourcc = format::kNV12, .width = 64, .height = 48, .count = 4});
  fail_unless(!pool);
  fail_unless(!va::SurfacePool::create(open_display(), {.fourcc = format::kR8, .count = 1}));
}
GST_END_TEST

static Suite* va_surface_pool_suite() {
  Suite* suite = suite_create("va_surface_pool");
  TCase* lending = tcase_create("lending");
  tcase_set_timeout(lending, 60);
  tcase_add_test(lending, a_lent_surface_is_nobody_elses);
  tcase_add_test(lending, a_surface_comes_back_when_its_last_holder_lets_go);
  tcase_add_test(lending, a_surface_rests_while_the_others_are_written);
  tcase_add_test(lending, what_the_cpu_alone_has_read_is_the_next_target);
  tcase_add_test(lending, what_others_read_rests_again);
  tcase_add_test(lending, room_downstream_is_worth_a_moment_once);
  tcase_add_test(lending, who_keeps_the_last_few_pictures_is_hardly_waited_for);
  tcase_add_test(lending, copies_that_come_back_say_that_a_surface_will);
  tcase_add_test(lending, copies_are_not_followed_in_vain_twice);
  tcase_add_test(lending, an_empty_pool_makes_late_surfaces_up_to_a_limit);
  tcase_add_test(lending, an_interrupt_ends_the_wait);
  tcase_add_test(lending, a_waiting_thread_gets_what_another_gives_back);
  tcase_add_test(lending, decoder_screens_and_flushes_do_not_disturb_each_other);
  tcase_add_test(lending, a_lease_keeps_its_pool_and_display);
  tcase_add_test(lending, a_driver_without_memory_is_an_error);
  suite_add_tcase(suite, lending);
  TCase* protocol = tcase_create("protocol");
  tcase_add_test(protocol, a_surface_downstream_is_pending_and_no_target);
  tcase_add_test(protocol, a_surface_goes_downstream_once_and_with_its_pixels);
  tcase_add_test(protocol, two_fields_are_two_pairs);
  tcase_add_test(protocol, a_severe_error_ends_the_lending_and_spares_what_is_done);
  tcase_add_test(protocol, a_failed_sync_is_the_sessions_business_too);
  tcase_add_test(protocol, a_device_that_hangs_is_waited_for_until_a_flush);
  tcase_add_test(protocol, a_device_that_hangs_is_waited_for_up_to_the_bound);
  tcase_add_test(protocol, a_lost_display_is_not_handed_out_again);
  tcase_add_test(protocol, a_lease_that_ends_early_abandons_its_pair);
  suite_add_tcase(suite, protocol);
  TCase* exporting = tcase_create("export");
  tcase_add_test(exporting,
                 memory_that_stays_keeps_its_descriptors_and_the_driver_is_left_alone);
  tcase_add_test(exporting, memory_that_moved_is_noticed);
  tcase_add_test(exporting, a_refused_export_is_not_tried_each_time);
  suite_add_tcase(suite, exporting);
  return suite;
}

GST_CHECK_MAIN(va_surface_pool)
