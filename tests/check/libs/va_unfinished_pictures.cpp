// SPDX-License-Identifier: LGPL-2.1-or-later

// Which pictures may go downstream unfinished, on a driver (fakeva/) and a kernel that say what
// the test tells them: this program's own ioctl() and poll() stand in for the kernel's. Fences
// are eventfds, which become readable when somebody writes to them.

#include "lib/va/unfinished_pictures.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <ctime>

#include "lib/base/fourcc.hpp"
#include "lib/va/surface_pool.hpp"
#include "tests/check/libs/fakeva/fake_va.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;

namespace {

struct ExportSyncFile {
  uint32_t flags;
  int32_t fd;
};

struct Kernel {
  bool fences = true;   // buffers have one that has not signalled
  int ioctl_error = 0;  // of exports
  UniqueFd fence;       // what they give
  int exports = 0;

  Kernel() { renew(); }
  void renew() { fence.reset(::eventfd(0, EFD_CLOEXEC)); }
  void signal() { fail_unless(::eventfd_write(fence.get(), 1) == 0); }
};
Kernel* kernel = nullptr;

// fakeva's buffers are sealed memfds, and nothing else here is.
bool is_buffer(int fd) {
  return ::fcntl(fd, F_GET_SEALS) >= 0;
}

}  // namespace

extern "C" int ioctl(int fd, unsigned long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  auto* request = va_arg(rest, ExportSyncFile*);
  va_end(rest);
  if (!kernel || number != _IOWR(DMA_BUF_BASE, 2, ExportSyncFile) || !is_buffer(fd)) {
    errno = ENOTTY;
    return -1;
  }
  ++kernel->exports;
  if (kernel->ioctl_error != 0) {
    errno = kernel->ioctl_error;
    return -1;
  }
  request->fd = kernel->fence.duplicate().release();
  return 0;
}

// By its symbol: glibc declares poll() as one that only writes to `fds`.
extern "C" int stand_in_for_poll(pollfd* fds, nfds_t count, int timeout) __asm__("poll");
int stand_in_for_poll(pollfd* fds, nfds_t count, int timeout) {
  if (kernel && count == 1 && is_buffer(fds[0].fd)) {
    fds[0].revents = kernel->fences ? 0 : POLLIN;
    return kernel->fences ? 0 : 1;
  }
  const timespec limit{.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000L};
  return ::ppoll(fds, count, timeout < 0 ? nullptr : &limit, nullptr);
}

namespace {

void tell(const char* words) {
  ::setenv("FAKE_VA", words, 1);
}

int syncs() {
  const void* found = ::dlsym(RTLD_DEFAULT, "fake_va_counts");
  fail_unless(found != nullptr);
  return static_cast<const fakeva::Counts*>(found)->synced;
}

struct Rig {
  Kernel own_kernel;
  std::shared_ptr<va::SurfacePool> pool;
  va::UnfinishedPictures pictures;

  explicit Rig(uint32_t surfaces, std::chrono::nanoseconds patience = va::kSyncBound)
      : pictures(patience) {
    tell("rendering");
    kernel = &own_kernel;
    auto display = va::Display::open({.kind = va::DeviceChoice::Kind::Software});
    fail_unless(bool(display));
    auto made = va::SurfacePool::create(*display, {.fourcc = format::kNV12,
                                                   .width = fakeva::kWidth,
                                                   .height = fakeva::kHeight,
                                                   .count = surfaces});
    fail_unless(bool(made));
    pool = *made;
  }
  ~Rig() { kernel = nullptr; }

  va::SurfaceLease begin() const {
    auto lease = pool->acquire();
    fail_unless(bool(lease));
    pool->end_pairs(accel::Severity::None);
    return *lease;
  }
  bool take(const va::SurfaceLease& surface) {
    auto exported = surface->exported();
    fail_unless(bool(exported));
    return pictures.take(surface, *exported->frame);
  }
};

void finish(va::Surface& surface) {
  fail_unless(bool(surface.sync()));
}

GST_START_TEST(a_picture_with_a_pending_fence_leaves_and_nobody_waits) {
  Rig rig(2);
  const int before = syncs();
  fail_unless(rig.take(rig.begin()));
  fail_unless(bool(rig.pictures.ask()));
  fail_unless_equals_int(syncs(), before);
}
GST_END_TEST;

GST_START_TEST(without_a_proof_it_does_not_leave) {
  Rig rig(1);
  const va::SurfaceLease surface = rig.begin();
  tell("");  // does not say that it renders
  fail_if(rig.take(surface));
  tell("rendering");
  kernel->fences = false;
  fail_if(rig.take(surface));
  fail_unless_equals_int(kernel->exports, 0);  // nothing is opened where there are no fences
  kernel->fences = true;
  kernel->ioctl_error = ENOTTY;  // Linux before 6.0
  fail_if(rig.take(surface));
  kernel->ioctl_error = EMFILE;
  fail_if(rig.take(surface));
  kernel->ioctl_error = 0;
  kernel->signal();  // between the look and the export
  fail_if(rig.take(surface));
  kernel->renew();
  fail_unless(rig.take(surface));
}
GST_END_TEST;

GST_START_TEST(a_fence_may_be_of_a_picture_that_was_predicted_from_the_last_one) {
  Rig rig(1);
  va::SurfaceLease reference = rig.begin();
  const VASurfaceID id = reference->id();
  // Reads the reference, which nobody needs after it.
  const va::SurfaceLease reader = rig.begin();
  fail_unless(reader->id() != id);
  reference.reset();

  const va::SurfaceLease next = rig.begin();
  fail_unless(next->id() == id);
  fail_if(rig.take(next));
  finish(*reader);
  fail_unless(rig.take(next));
}
GST_END_TEST;

GST_START_TEST(another_queue_proves_nothing_about_older_pictures) {
  Rig rig(1);
  va::SurfaceLease reference = rig.begin();
  const VASurfaceID id = reference->id();
  va::SurfaceLease held = rig.begin();  // a picture of the old queue that stays out
  reference.reset();
  rig.pool->new_queue();

  va::SurfaceLease next = rig.begin();
  fail_unless(next->id() == id);
  fail_if(rig.take(next));
  finish(*next);
  fail_if(rig.take(next));
  next.reset();
  // Its second time round all that could read it was of this queue.
  next = rig.begin();
  fail_unless(next->id() == id);
  fail_unless(rig.take(next));

  // The one that came back later has readers in the old queue too.
  const VASurfaceID late = held->id();
  held.reset();
  finish(*next);
  const va::SurfaceLease again = rig.begin();
  fail_unless(again->id() == late);
  fail_if(rig.take(again));
}
GST_END_TEST;

GST_START_TEST(a_delayed_picture_of_an_older_queue_does_not_leave) {
  Rig rig(1);
  const va::SurfaceLease delayed = rig.begin();
  rig.pool->new_queue();
  fail_if(rig.take(delayed));
}
GST_END_TEST;

GST_START_TEST(the_verdict_is_asked_when_the_fence_has_signalled) {
  Rig rig(1);
  va::SurfaceLease surface = rig.begin();
  const VASurfaceID id = surface->id();
  fail_unless(rig.take(surface));
  surface.reset();
  // Until then the surface is no target for another picture.
  fail_unless(rig.begin()->id() != id);
  const int before = syncs();
  fail_unless(bool(rig.pictures.ask()));
  fail_unless_equals_int(syncs(), before);
  kernel->signal();
  fail_unless(bool(rig.pictures.ask()));
  fail_unless_equals_int(syncs(), before + 1);
  fail_unless(bool(rig.pictures.ask()));
  fail_unless_equals_int(syncs(), before + 1);
  const va::SurfaceLease one = rig.begin();
  const va::SurfaceLease other = rig.begin();
  fail_unless(one->id() == id || other->id() == id);
}
GST_END_TEST;

GST_START_TEST(a_failure_is_reported_once_and_ends_the_waiting) {
  Rig rig(2);
  fail_unless(rig.take(rig.begin()));
  fail_unless(rig.take(rig.begin()));
  kernel->signal();
  tell("rendering,sync-fails");
  const auto asked = rig.pictures.ask();
  fail_if(bool(asked));
  fail_unless(asked.error().reason == Reason::SyncFailed);
  fail_unless(bool(rig.pictures.ask()));
}
GST_END_TEST;

GST_START_TEST(a_fence_that_does_not_signal_is_not_waited_for_for_ever) {
  Rig rig(1, std::chrono::nanoseconds(0));
  fail_unless(rig.take(rig.begin()));
  tell("rendering,sync-fails");
  fail_if(bool(rig.pictures.ask()));
}
GST_END_TEST;

GST_START_TEST(damage_is_no_failure_of_the_device) {
  Rig rig(2);
  fail_unless(rig.take(rig.begin()));
  fail_unless(rig.take(rig.begin()));
  kernel->signal();
  tell("rendering,sync-damaged");
  const auto asked = rig.pictures.ask();
  fail_unless(asked && *asked == 2);
}
GST_END_TEST;

GST_START_TEST(at_the_end_all_are_asked) {
  Rig rig(2);
  const int before = syncs();
  fail_unless(rig.take(rig.begin()));
  fail_unless(rig.take(rig.begin()));
  fail_unless(bool(rig.pictures.wait()));
  fail_unless_equals_int(syncs(), before + 2);
  fail_unless(bool(rig.pictures.wait()));
  fail_unless_equals_int(syncs(), before + 2);
}
GST_END_TEST;

Suite* va_unfinished_pictures_suite() {
  Suite* suite = suite_create("va_unfinished_pictures");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, a_picture_with_a_pending_fence_leaves_and_nobody_waits);
  tcase_add_test(tcase, without_a_proof_it_does_not_leave);
  tcase_add_test(tcase, a_fence_may_be_of_a_picture_that_was_predicted_from_the_last_one);
  tcase_add_test(tcase, another_queue_proves_nothing_about_older_pictures);
  tcase_add_test(tcase, a_delayed_picture_of_an_older_queue_does_not_leave);
  tcase_add_test(tcase, the_verdict_is_asked_when_the_fence_has_signalled);
  tcase_add_test(tcase, a_failure_is_reported_once_and_ends_the_waiting);
  tcase_add_test(tcase, a_fence_that_does_not_signal_is_not_waited_for_for_ever);
  tcase_add_test(tcase, damage_is_no_failure_of_the_device);
  tcase_add_test(tcase, at_the_end_all_are_asked);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(va_unfinished_pictures)
