// SPDX-License-Identifier: LGPL-2.1-or-later

// A producer that hands its buffer over before it has written the picture, as GStreamer's va
// decoders do: the kernel knows of the fence, and whoever reads must wait for it. This
// program's own poll() stands in for the kernel's; the wait is when the producer writes.

#include <poll.h>
#include <sys/stat.h>

#include <ctime>
#include <utility>

#include "gst/common/finished_memory.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::gst::set_finished;

namespace {

const FrameLayout kSmall = make_layout("64x48", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);

struct Producer {
  MemfdFrame* frame = nullptr;
  bool writing = false;
  int waits = 0;
} producer;

bool is_the_buffer(int fd) {
  struct stat asked {};
  struct stat buffer {};
  return producer.frame && ::fstat(fd, &asked) == 0 &&
         ::fstat(producer.frame->fd(), &buffer) == 0 && asked.st_ino == buffer.st_ino;
}

}  // namespace

// By its symbol: glibc declares poll() as one that only writes to `fds`.
extern "C" int stand_in_for_poll(pollfd* fds, nfds_t count, int timeout) __asm__("poll");
int stand_in_for_poll(pollfd* fds, nfds_t count, int timeout) {
  if (count != 1 || !is_the_buffer(fds[0].fd)) {
    const timespec limit{.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000L};
    return ::ppoll(fds, count, timeout < 0 ? nullptr : &limit, nullptr);
  }
  if (producer.writing && timeout == 0) return 0;
  if (producer.writing) {
    ++producer.waits;
    producer.frame->fill(2);
    producer.writing = false;
  }
  fds[0].revents = POLLIN;
  return 1;
}

namespace {

void push_unfinished(const char* import) {
  MemfdFrame frame(kSmall);
  producer = {.frame = &frame};
  UploadHarness harness(kSmall);
  gst_util_set_object_arg(G_OBJECT(harness.element()), "import", import);
  for (int i = 0; i < 3; ++i) {
    frame.fill(1);
    producer.writing = true;
    const auto output = harness.push(frame.buffer());
    fail_unless(bool(output));
    fail_unless_equals_int(producer.waits, i + 1);
    const Comparison seen = compare(output.get(), kSmall, 2);
    fail_unless_equals_uint64(seen.wrong_bytes, 0);
  }
  // A finished picture is not waited for.
  frame.fill(3);
  const auto output = harness.push(frame.buffer());
  fail_unless_equals_int(producer.waits, 3);
  fail_unless_equals_uint64(compare(output.get(), kSmall, 3).wrong_bytes, 0);
  producer = {};
}

GST_START_TEST(import_waits_for_the_producer) {
  push_unfinished("auto");
}
GST_END_TEST;

GST_START_TEST(copy_waits_for_the_producer) {
  push_unfinished("copy");
}
GST_END_TEST;

// The decoder's word is about this picture; the next one in the same memory may have none.
GST_START_TEST(a_picture_that_the_device_has_reported_is_not_asked_about) {
  MemfdFrame frame(kSmall);
  producer = {.frame = &frame};
  UploadHarness harness(kSmall);
  for (int i = 0; i < 3; ++i) {
    for (const bool finished : {true, false}) {
      frame.fill(1);
      producer.writing = true;
      auto input = frame.buffer();
      set_finished(gst_buffer_peek_memory(input.get(), 0), finished);
      const auto output = harness.push(std::move(input));
      fail_unless_equals_int(producer.waits, finished ? i : i + 1);
      fail_unless_equals_uint64(compare(output.get(), kSmall, finished ? 1 : 2).wrong_bytes, 0);
    }
  }
  producer = {};
}
GST_END_TEST;

Suite* dxvaglupload_fences_suite() {
  Suite* suite = suite_create("dxvaglupload_fences");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, import_waits_for_the_producer);
  tcase_add_test(tcase, copy_waits_for_the_producer);
  tcase_add_test(tcase, a_picture_that_the_device_has_reported_is_not_asked_about);
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvaglupload_fences_suite(), "dxvaglupload_fences", __FILE__);
}
