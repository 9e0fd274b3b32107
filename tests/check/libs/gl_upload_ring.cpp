// SPDX-License-Identifier: LGPL-2.1-or-later
// Upload slots: mapped for their life, lent once at a time, back when the GPU has read them.

#include "lib/gl/upload_ring.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <thread>

#include "lib/gl/release_queue.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/fake_gl.hpp"

using namespace dxva;
using gl::UploadRing;
using std::chrono::hours;
using test::FakeGl;

namespace {

struct Rig {
  std::shared_ptr<test::FakeGlThread> thread = std::make_shared<test::FakeGlThread>();
  std::shared_ptr<const gl::GlApi> api;
  std::shared_ptr<UploadRing> ring;

  explicit Rig(uint32_t count, FakeGl::Storage storage = FakeGl::Storage::Yes) {
    FakeGl::reset();
    api = std::make_shared<const gl::GlApi>(FakeGl::api_with_buffers(storage));
    ring = UploadRing::create(thread, api, 1000, count);
  }
};

GST_START_TEST(a_slot_has_an_address_before_anybody_calls_gl) {
  Rig rig(3);
  const int jobs = rig.thread->jobs;
  const size_t calls = FakeGl::get().calls.size();
  const auto lease = rig.ring->take({});
  fail_unless(lease && lease->slot().data() && rig.ring->is_mapped());
  std::memset(lease->slot().data(), 1, lease->slot().size_bytes());
  fail_unless_equals_int(rig.thread->jobs, jobs);
  fail_unless_equals_uint64(FakeGl::get().calls.size(), calls);
  // Strangers read what they like, and nobody flushes.
  constexpr GLbitfield kWanted =
      GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
  fail_unless_equals_uint64(FakeGl::get().storage_flags, kWanted);
  fail_unless_equals_uint64(FakeGl::get().map_access, kWanted);
  fail_unless_equals_int(FakeGl::get().bound_buffer, 0);
}
GST_END_TEST;

GST_START_TEST(a_running_stream_makes_no_slot) {
  Rig rig(3);
  for (int i = 0; i < 100; ++i) fail_unless(rig.ring->take({}) != nullptr);
  fail_unless_equals_int(FakeGl::get().buffers_made, 3);
}
GST_END_TEST;

GST_START_TEST(slots_take_turns) {
  Rig rig(3);
  const GLuint first = rig.ring->take({})->slot().buffer();
  const GLuint second = rig.ring->take({})->slot().buffer();
  fail_unless(first != second);
}
GST_END_TEST;

GST_START_TEST(a_slot_is_lent_again_only_behind_its_fence) {
  Rig rig(1);
  std::promise<void> gpu_is_done;
  auto done = gpu_is_done.get_future().share();
  FakeGl::get().on_fence_wait = [done] { done.wait(); };
  gl::ReleaseQueue releases(rig.thread, rig.api, FakeGl::fence_api());

  std::shared_ptr<UploadRing::Lease> lease = rig.ring->take({});
  releases.after_gpu([lease, reading = lease->begin_gpu_read()]() mutable {
    lease.reset();
    reading.reset();
  });
  lease.reset();
  fail_unless(rig.ring->take({}) == nullptr, "the GPU still reads it");
  gpu_is_done.set_value();
  // However long that takes.
  fail_unless(rig.ring->take(hours(1)) != nullptr);
}
GST_END_TEST;

GST_START_TEST(nobody_waits_for_slots_that_a_queue_holds) {
  Rig rig(2);
  const auto first = rig.ring->take({});
  const auto second = rig.ring->take({});
  fail_unless(rig.ring->take(hours(1)) == nullptr);
}
GST_END_TEST;

GST_START_TEST(waiting_ends_when_the_gpu_is_done_with_a_kept_slot) {
  Rig rig(1);
  const auto kept = rig.ring->take({});
  auto reading = kept->begin_gpu_read();
  auto waiter =
      std::async(std::launch::async, [&] { return rig.ring->take(hours(1)) == nullptr; });
  reading.reset();
  fail_unless(waiter.get());
}
GST_END_TEST;

GST_START_TEST(waiting_can_be_interrupted) {
  Rig rig(1);
  const auto kept = rig.ring->take({});
  const auto reading = kept->begin_gpu_read();
  auto waiter =
      std::async(std::launch::async, [&] { return rig.ring->take(hours(1)) == nullptr; });
  rig.ring->interrupt(true);
  fail_unless(waiter.get());
  rig.ring->interrupt(false);
}
GST_END_TEST;

GST_START_TEST(a_kept_slot_outlives_its_ring) {
  Rig rig(2);
  auto kept = rig.ring->take({});
  rig.ring.reset();
  fail_unless_equals_uint64(FakeGl::get().buffers.size(), 2);
  std::memset(kept->slot().data(), 7, kept->slot().size_bytes());
  kept.reset();
  fail_unless(FakeGl::get().buffers.empty());
}
GST_END_TEST;

GST_START_TEST(without_storage_a_slot_is_filled_on_the_gl_thread) {
  Rig rig(1, FakeGl::Storage::No);
  fail_unless(rig.ring && !rig.ring->is_mapped());
  const auto lease = rig.ring->take({});
  fail_unless(lease->slot().data() == nullptr);
  fail_unless(lease->slot().fill([](uint8_t* to) { to[999] = 42; }));
  fail_unless_equals_uint64(FakeGl::get().map_access,
                            GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
  fail_unless(FakeGl::get().buffers[lease->slot().buffer()][999] == 42);
  fail_unless(std::count(FakeGl::get().calls.begin(), FakeGl::get().calls.end(), "unmap") == 1);
  fail_unless_equals_int(FakeGl::get().bound_buffer, 0);
}
GST_END_TEST;

GST_START_TEST(no_ring_where_gl_refuses) {
  Rig rig(1);
  rig.ring.reset();
  FakeGl::get().error_of_buffer_storage = GL_OUT_OF_MEMORY;
  fail_unless(UploadRing::create(rig.thread, rig.api, 1000, 3) == nullptr);
  fail_unless(FakeGl::get().buffers.empty());
  fail_unless(UploadRing::create(rig.thread, rig.api, 1000, 0) == nullptr);
  fail_unless(UploadRing::create(rig.thread, rig.api, 0, 3) == nullptr);
  fail_unless(UploadRing::create(rig.thread, std::make_shared<const gl::GlApi>(FakeGl::api()),
                                 1000, 3) == nullptr);
}
GST_END_TEST;

Suite* gl_upload_ring_suite() {
  Suite* suite = suite_create("gl_upload_ring");
  TCase* tests = tcase_create("general");
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, a_slot_has_an_address_before_anybody_calls_gl);
  tcase_add_test(tests, a_running_stream_makes_no_slot);
  tcase_add_test(tests, slots_take_turns);
  tcase_add_test(tests, a_slot_is_lent_again_only_behind_its_fence);
  tcase_add_test(tests, nobody_waits_for_slots_that_a_queue_holds);
  tcase_add_test(tests, waiting_ends_when_the_gpu_is_done_with_a_kept_slot);
  tcase_add_test(tests, waiting_can_be_interrupted);
  tcase_add_test(tests, a_kept_slot_outlives_its_ring);
  tcase_add_test(tests, without_storage_a_slot_is_filled_on_the_gl_thread);
  tcase_add_test(tests, no_ring_where_gl_refuses);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(gl_upload_ring)
