// SPDX-License-Identifier: LGPL-2.1-or-later

#include "lib/base/unique_fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "tests/check/support/check.hpp"

using dxva::UniqueFd;

namespace {

UniqueFd open_null() {
  UniqueFd fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  fail_unless(fd.valid());
  return fd;
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

GST_START_TEST(descriptor_is_closed_with_its_owner) {
  int number = -1;
  {
    const UniqueFd fd = open_null();
    number = fd.get();
    fail_unless(is_open(number));
  }
  fail_if(is_open(number));
}
GST_END_TEST;

GST_START_TEST(moving_leaves_one_owner) {
  UniqueFd from = open_null();
  const int number = from.get();
  UniqueFd to = std::move(from);
  fail_if(from.valid());
  fail_unless_equals_int(to.get(), number);

  UniqueFd other = open_null();
  const int replaced = other.get();
  other = std::move(to);
  fail_if(is_open(replaced));
  fail_unless_equals_int(other.get(), number);
  UniqueFd& alias = other;
  other = std::move(alias);
  fail_unless(is_open(number));
}
GST_END_TEST;

GST_START_TEST(released_descriptor_stays_open) {
  UniqueFd fd = open_null();
  const int number = fd.release();
  fail_if(fd.valid());
  fail_unless(is_open(number));
  fd.reset(number);
  fd.reset();
  fail_if(is_open(number));
}
GST_END_TEST;

GST_START_TEST(duplicate_is_another_number_and_closes_on_exec) {
  const UniqueFd fd = open_null();
  const UniqueFd copy = fd.duplicate();
  fail_unless(copy.valid());
  fail_if(copy.get() == fd.get());
  fail_unless(::fcntl(copy.get(), F_GETFD) & FD_CLOEXEC);
}
GST_END_TEST;

GST_START_TEST(duplicate_of_nothing_is_nothing_and_says_why) {
  const UniqueFd copy = UniqueFd().duplicate();
  fail_if(copy.valid());
  fail_unless_equals_int(errno, EBADF);
}
GST_END_TEST;

Suite* base_unique_fd_suite() {
  Suite* suite = suite_create("base_unique_fd");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, descriptor_is_closed_with_its_owner);
  tcase_add_test(tcase, moving_leaves_one_owner);
  tcase_add_test(tcase, released_descriptor_stays_open);
  tcase_add_test(tcase, duplicate_is_another_number_and_closes_on_exec);
  tcase_add_test(tcase, duplicate_of_nothing_is_nothing_and_says_why);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(base_unique_fd)
