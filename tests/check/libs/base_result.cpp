// SPDX-License-Identifier: LGPL-2.1-or-later

#include "lib/base/result.hpp"

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "tests/check/support/check.hpp"

using namespace dxva;

namespace {

GST_START_TEST(result_holds_a_value_or_an_error) {
  Result<std::string> good = std::string("yes");
  fail_unless(bool(good));
  fail_unless(*good == "yes" && good->size() == 3);
  Result<std::string> bad = Error{.code = ErrorCode::Busy, .call = "wait"};
  fail_if(bool(bad));
  fail_unless(bad.error().code == ErrorCode::Busy);
}
GST_END_TEST;

GST_START_TEST(owners_move_through_a_result) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = std::move(*made);
  fail_unless_equals_int(*taken, 7);
  fail_unless(*made == nullptr);
}
GST_END_TEST;

GST_START_TEST(status_has_no_value) {
  const Status good = Done{};
  const Status bad = Error{};
  fail_unless(bool(good));
  fail_if(bool(bad));
}
GST_END_TEST;

GST_START_TEST(description_has_what_is_known_and_nothing_else) {
  fail_unless(Error{.call = "vaInitialize"}.describe() == "vaInitialize");
  fail_unless(Error{.text = "only words"}.describe() == "only words");
  const Error full{.call = "open", .native = 2, .text = "no file", .reason = Reason::NoDevice};
  fail_unless(full.describe() == "open: no file [no-device] (2)", "%s",
              full.describe().c_str());
}
GST_END_TEST;

GST_START_TEST(errno_becomes_something_to_act_on) {
  fail_unless(errno_error("f", ENOMEM).code == ErrorCode::NoMemory);
  fail_unless(errno_error("f", EMFILE).code == ErrorCode::NoMemory);
  fail_unless(errno_error("f", EINTR).code == ErrorCode::Busy);
  fail_unless(errno_error("f", ENODEV).code == ErrorCode::DeviceLost);
  fail_unless(errno_error("f", EBADF).code == ErrorCode::BadInput);
  fail_unless(errno_error("f", ENOTTY).code == ErrorCode::Unsupported);
  fail_unless(errno_error("f", EPERM).code == ErrorCode::Failed);
  errno = ENOENT;
  const Error current = errno_error("open");
  fail_unless_equals_int(current.native, ENOENT);
  fail_if(current.text.empty());
}
GST_END_TEST;

GST_START_TEST(refusal_carries_its_reason) {
  const Error error = refusal(Reason::PitchTooSmall, "63 < 64");
  fail_unless(error.code == ErrorCode::Unsupported);
  fail_unless(error.reason == Reason::PitchTooSmall);
  fail_unless(error.describe().find("pitch-too-small") != std::string::npos);
}
GST_END_TEST;

Suite* base_result_suite() {
  Suite* suite = suite_create("base_result");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, result_holds_a_value_or_an_error);
  tcase_add_test(tcase, owners_move_through_a_result);
  tcase_add_test(tcase, status_has_no_value);
  tcase_add_test(tcase, description_has_what_is_known_and_nothing_else);
  tcase_add_test(tcase, errno_becomes_something_to_act_on);
  tcase_add_test(tcase, refusal_carries_its_reason);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(base_result)
