// SPDX-License-Identifier: LGPL-2.1-or-later

// The hand-made display, with and without a driver behind it. The driver is whatever
// LIBVA_DRIVERS_PATH has; its own tests are in the suite softva.

#include "lib/va/headless_display.hpp"

#include <utility>

#include "tests/check/support/check.hpp"

using dxva::va::HeadlessDisplay;

namespace {

GST_START_TEST(display_is_valid_before_a_driver_is_loaded) {
  auto display = HeadlessDisplay::create("nosuchdriver");
  fail_unless(bool(display));
  fail_unless(vaDisplayIsValid(display->get()));
}
GST_END_TEST;

GST_START_TEST(missing_driver_is_an_error_and_frees_everything) {
  auto display = dxva::va::make_headless_display("nosuchdriver");
  fail_if(bool(display));
  fail_unless_equals_string(display.error().call, "vaInitialize");
  fail_unless(display.error().code == dxva::ErrorCode::Unsupported);
}
GST_END_TEST;

GST_START_TEST(driver_needs_a_name) {
  fail_if(bool(HeadlessDisplay::create(nullptr)));
  fail_if(bool(HeadlessDisplay::create("")));
  fail_if(bool(HeadlessDisplay::create(std::string(1000, 'x').c_str())));
}
GST_END_TEST;

GST_START_TEST(moved_display_is_terminated_once) {
  auto first = HeadlessDisplay::create("nosuchdriver");
  auto second = HeadlessDisplay::create("nosuchdriver");
  fail_unless(bool(first) && bool(second));
  HeadlessDisplay moved = std::move(*first);
  const VADisplay expected = moved.get();
  *second = std::move(moved);
  fail_unless(second->get() == expected);
}
GST_END_TEST;

Suite* va_headless_display_suite() {
  Suite* suite = suite_create("va_headless_display");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, display_is_valid_before_a_driver_is_loaded);
  tcase_add_test(tcase, missing_driver_is_an_error_and_frees_everything);
  tcase_add_test(tcase, driver_needs_a_name);
  tcase_add_test(tcase, moved_display_is_terminated_once);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(va_headless_display)
