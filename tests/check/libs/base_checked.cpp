// SPDX-License-Identifier: LGPL-2.1-or-later

#include "lib/base/checked.hpp"

#include <cstdint>

#include "tests/check/support/check.hpp"

using dxva::Checked;

namespace {

// All of it can be known while compiling.
static_assert((Checked(2) + 3).value() == 5);
static_assert((Checked(7) - 3).value() == 4);
static_assert((Checked(6) * 7).value() == 42);
static_assert(!(Checked(UINT64_MAX) + 1).value());

GST_START_TEST(wrapping_is_remembered) {
  fail_if((Checked(UINT64_MAX) + 1).value().has_value());
  fail_if((Checked(0) - 1).value().has_value());
  fail_if((Checked(uint64_t{1} << 33) * (uint64_t{1} << 31)).value().has_value());
  // Later steps that come back into range do not heal it.
  fail_if((Checked(0) - 1 + 1).value().has_value());
  fail_if((Checked(5) + (Checked(UINT64_MAX) * 2)).value().has_value());
  fail_if((Checked(UINT64_MAX) * 2 * 0).value().has_value());
}
GST_END_TEST;

GST_START_TEST(the_last_number_still_fits) {
  fail_unless((Checked(UINT64_MAX - 1) + 1).value() == UINT64_MAX);
  fail_unless(Checked(UINT64_MAX).fits_in(UINT64_MAX));
}
GST_END_TEST;

GST_START_TEST(limits_include_themselves_and_refuse_what_wrapped) {
  fail_unless(Checked(100).fits_in(100));
  fail_if(Checked(101).fits_in(100));
  fail_if((Checked(UINT64_MAX) + 2).fits_in(UINT64_MAX));
}
GST_END_TEST;

Suite* base_checked_suite() {
  Suite* suite = suite_create("base_checked");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, wrapping_is_remembered);
  tcase_add_test(tcase, the_last_number_still_fits);
  tcase_add_test(tcase, limits_include_themselves_and_refuse_what_wrapped);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(base_checked)
