// SPDX-License-Identifier: LGPL-2.1-or-later

// Everything that can come as a descriptor and is no dma-buf. A driver that is given one of
// these hangs (pipe, eventfd) or kills the process (the others); here each has an answer at
// once.

#include "lib/dmabuf/identity.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "lib/base/unique_fd.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;

namespace {

constexpr TestSwitch kOff{};
constexpr TestSwitch kMemfd{.memfd = true};

void expect(int fd, Reason reason, const char* what) {
  for (const TestSwitch& test : {kOff, kMemfd}) {
    const auto facts = dmabuf::inspect(fd, test);
    fail_if(bool(facts), "%s was accepted", what);
    fail_unless(facts.error().reason == reason, "%s: %s", what,
                facts.error().describe().c_str());
  }
}

UniqueFd memfd(off_t size, int seals) {
  UniqueFd fd{::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  fail_unless(fd.valid());
  fail_unless(::ftruncate(fd.get(), size) == 0);
  fail_unless(seals == 0 || ::fcntl(fd.get(), F_ADD_SEALS, seals) == 0);
  return fd;
}

GST_START_TEST(numbers_that_are_no_open_file_are_bad_descriptors) {
  expect(-1, Reason::BadDescriptor, "-1");
  expect(-1000, Reason::BadDescriptor, "-1000");
  expect(1 << 30, Reason::BadDescriptor, "2^30");
  UniqueFd fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const int closed = fd.get();
  fd.reset();
  expect(closed, Reason::BadDescriptor, "closed");
}
GST_END_TEST;

GST_START_TEST(files_that_would_hang_a_reader_are_named_at_once) {
  int ends[2];
  fail_unless(::pipe2(ends, O_CLOEXEC) == 0);
  const UniqueFd read_end{ends[0]}, write_end{ends[1]};
  expect(read_end.get(), Reason::NotADmabuf, "pipe, reading end");
  expect(write_end.get(), Reason::NotADmabuf, "pipe, writing end");

  fail_unless(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  const UniqueFd one{ends[0]}, other{ends[1]};
  expect(one.get(), Reason::NotADmabuf, "socket");

  // On kernels whose dma-bufs have no file system of their own, this shares theirs.
  const UniqueFd event{::eventfd(0, EFD_CLOEXEC)};
  fail_unless(event.valid());
  expect(event.get(), Reason::NotADmabuf, "eventfd");
}
GST_END_TEST;

GST_START_TEST(other_files_are_no_dmabufs) {
  const UniqueFd folder{::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  expect(folder.get(), Reason::NotADmabuf, "directory");
  const UniqueFd path{::open("/", O_PATH | O_CLOEXEC)};
  expect(path.get(), Reason::NotADmabuf, "O_PATH");
  for (const char* device : {"/dev/null", "/dev/zero"}) {
    const UniqueFd fd{::open(device, O_RDWR | O_CLOEXEC)};
    expect(fd.get(), Reason::NotADmabuf, device);
  }
  char name[] = "/tmp/dxva-identity-XXXXXX";
  const UniqueFd file{::mkostemp(name, O_CLOEXEC)};
  fail_unless(file.valid());
  ::unlink(name);
  fail_unless(::ftruncate(file.get(), 4096) == 0);
  expect(file.get(), Reason::NotADmabuf, "regular file");
}
GST_END_TEST;

GST_START_TEST(memfd_stands_in_only_under_the_switch_and_sealed) {
  expect(memfd(4096, 0).get(), Reason::NotADmabuf, "unsealed memfd");
  expect(memfd(4096, F_SEAL_GROW).get(), Reason::NotADmabuf, "memfd that may shrink");

  const UniqueFd sealed = memfd(4096, F_SEAL_SHRINK);
  const auto refused = dmabuf::inspect(sealed.get(), kOff);
  fail_if(bool(refused));
  fail_unless(refused.error().reason == Reason::NotADmabuf);

  const auto facts = dmabuf::inspect(sealed.get(), kMemfd);
  fail_unless(bool(facts));
  fail_unless(facts->kind == dmabuf::FdKind::TestMemfd);
  fail_unless_equals_uint64(facts->size_bytes, 4096);

  const UniqueFd empty = memfd(0, F_SEAL_SHRINK);
  const auto nothing = dmabuf::inspect(empty.get(), kMemfd);
  fail_if(bool(nothing));
  fail_unless(nothing.error().reason == Reason::BadDescriptor);
}
GST_END_TEST;

GST_START_TEST(identity_names_the_buffer_and_not_the_number) {
  const UniqueFd first = memfd(4096, F_SEAL_SHRINK);
  const UniqueFd second = memfd(4096, F_SEAL_SHRINK);
  const UniqueFd again = first.duplicate();
  const auto a = dmabuf::inspect(first.get(), kMemfd);
  const auto b = dmabuf::inspect(second.get(), kMemfd);
  const auto c = dmabuf::inspect(again.get(), kMemfd);
  fail_unless(a && b && c);
  fail_unless(a->identity == c->identity);
  fail_if(a->identity == b->identity);
}
GST_END_TEST;

GST_START_TEST(inspection_leaves_the_descriptor_as_it_was) {
  const UniqueFd fd = memfd(4096, F_SEAL_SHRINK);
  const int flags = ::fcntl(fd.get(), F_GETFD);
  fail_unless(bool(dmabuf::inspect(fd.get(), kMemfd)));
  fail_unless_equals_int(::fcntl(fd.get(), F_GETFD), flags);
  fail_unless_equals_int(::lseek(fd.get(), 0, SEEK_CUR), 0);
  fail_unless_equals_int(::lseek(fd.get(), 0, SEEK_END), 4096);
}
GST_END_TEST;

Suite* dmabuf_identity_suite() {
  Suite* suite = suite_create("dmabuf_identity");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, numbers_that_are_no_open_file_are_bad_descriptors);
  tcase_add_test(tcase, files_that_would_hang_a_reader_are_named_at_once);
  tcase_add_test(tcase, other_files_are_no_dmabufs);
  tcase_add_test(tcase, memfd_stands_in_only_under_the_switch_and_sealed);
  tcase_add_test(tcase, identity_names_the_buffer_and_not_the_number);
  tcase_add_test(tcase, inspection_leaves_the_descriptor_as_it_was);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(dmabuf_identity)
