// SPDX-License-Identifier: LGPL-2.1-or-later

// Fences of dma-bufs, on a kernel that says what the test tells it: this program's own ioctl()
// and poll() stand in for it.

#include "lib/dmabuf/sync_file.hpp"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdarg>
#include <vector>

#include "tests/check/support/check.hpp"

using namespace dxva;

namespace {

struct ExportSyncFile {
  uint32_t flags;
  int32_t fd;
};

struct Kernel {
  int ioctl_error = 0;
  int interruptions = 0;  // first
  bool pending = false;
  std::vector<uint32_t> asked;  // flags of exports
  std::vector<int> timeouts;    // of polls
} kernel;

}  // namespace

extern "C" int ioctl(int, unsigned long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  auto* request = va_arg(rest, ExportSyncFile*);
  va_end(rest);
  fail_unless_equals_int(number, _IOWR(DMA_BUF_BASE, 2, ExportSyncFile));
  if (kernel.interruptions > 0) {
    --kernel.interruptions;
    errno = EINTR;
    return -1;
  }
  if (kernel.ioctl_error != 0) {
    errno = kernel.ioctl_error;
    return -1;
  }
  kernel.asked.push_back(request->flags);
  request->fd = ::memfd_create("fence", MFD_CLOEXEC);
  return 0;
}

// By its symbol: glibc declares poll() as one that only writes to `fds`.
extern "C" int stand_in_for_poll(pollfd* fds, nfds_t count, int timeout) __asm__("poll");
int stand_in_for_poll(pollfd* fds, nfds_t count, int timeout) {
  fail_unless(count == 1 && fds[0].events == POLLIN);
  kernel.timeouts.push_back(timeout);
  if (kernel.interruptions > 0) {
    --kernel.interruptions;
    errno = EINTR;
    return -1;
  }
  if (kernel.pending) return 0;
  fds[0].revents = POLLIN;
  return 1;
}

namespace {

GST_START_TEST(a_pending_writer_is_seen_without_waiting) {
  kernel = {.pending = true};
  fail_unless(dmabuf::write_pending(0));
  kernel.pending = false;
  fail_if(dmabuf::write_pending(0));
  for (const int timeout : kernel.timeouts) fail_unless_equals_int(timeout, 0);
  kernel.interruptions = 2;
  fail_if(dmabuf::write_pending(0));
}
GST_END_TEST;

GST_START_TEST(the_fence_is_what_a_reader_waits_for) {
  kernel = {.interruptions = 1};
  const auto fence = dmabuf::export_write_fence(0);
  fail_unless(fence && fence->valid());
  fail_unless_equals_int(kernel.asked.size(), 1);
  fail_unless_equals_int(kernel.asked[0], DMA_BUF_SYNC_READ);
}
GST_END_TEST;

GST_START_TEST(kernels_and_files_without_fences_say_unsupported) {
  for (const int error : {ENOTTY, EINVAL}) {
    kernel = {.ioctl_error = error};
    const auto fence = dmabuf::export_write_fence(0);
    fail_if(bool(fence));
    fail_unless(fence.error().code == ErrorCode::Unsupported);
  }
  kernel = {.ioctl_error = EMFILE};
  const auto fence = dmabuf::export_write_fence(0);
  fail_unless(!fence && fence.error().code != ErrorCode::Unsupported);
}
GST_END_TEST;

GST_START_TEST(waiting_ends_with_the_fence_or_with_patience) {
  kernel = {.interruptions = 1};
  fail_unless(bool(dmabuf::wait_for_fence(0)));
  kernel = {.pending = true};
  const auto waited = dmabuf::wait_for_fence(0);
  fail_if(bool(waited));
  fail_unless(waited.error().reason == Reason::SyncFailed);
  // Bounded: a sync_file of a stranger may never signal.
  fail_unless(kernel.timeouts.size() == 1 && kernel.timeouts[0] > 0);
}
GST_END_TEST;

Suite* dmabuf_sync_file_suite() {
  Suite* suite = suite_create("dmabuf_sync_file");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, a_pending_writer_is_seen_without_waiting);
  tcase_add_test(tcase, the_fence_is_what_a_reader_waits_for);
  tcase_add_test(tcase, kernels_and_files_without_fences_say_unsupported);
  tcase_add_test(tcase, waiting_ends_with_the_fence_or_with_patience);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(dmabuf_sync_file)
