// SPDX-License-Identifier: LGPL-2.1-or-later
// What people set in the environment and nobody understands is said, and nothing else is.
#include "lib/base/variables.hpp"

#include <cstdlib>
#include <string>

#include "tests/check/support/check.hpp"

using dxva::misunderstood;
using dxva::Misunderstood;

namespace {

Misunderstood only(const char* name, const char* value) {
  const auto out = misunderstood({{name, value}});
  fail_unless_equals_int(static_cast<int>(out.size()), 1);
  return out.front();
}

bool has(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

GST_START_TEST(values_that_mean_something_are_no_news) {
  for (const char* name : {"GST_DXVA_ZEROCOPY", "GST_DXVA_SOFTWARE_FALLBACK"})
    for (const char* value : {"", "0", "1"})
      fail_unless(misunderstood({{name, value}}).empty());
  for (const char* value :
       {"", "memfd", "memfd,software-import", "upload-ring,read-in-place,verify,"})
    fail_unless(misunderstood({{"GST_DXVA_TEST", value}}).empty(), "%s", value);
  fail_unless(misunderstood({{"GST_DXVA_DEVICE", "/dev/anything"}}).empty());
  fail_unless(misunderstood({{"GST_DEBUG", "no"}, {"GST_DXVAX", "1"}}).empty());
}
GST_END_TEST;

GST_START_TEST(a_switch_that_is_neither_on_nor_off_is_named_with_its_values) {
  for (const char* name : {"GST_DXVA_ZEROCOPY", "GST_DXVA_SOFTWARE_FALLBACK"})
    for (const char* value : {"no", "off", "false", "2", " 0", "00"}) {
      const Misunderstood wrong = only(name, value);
      fail_unless(wrong.setting == std::string(name) + "=" + value);
      fail_unless(has(wrong.what, wrong.setting.c_str()), "%s", wrong.what.c_str());
      fail_unless(has(wrong.remedy, (std::string(name) + "=0").c_str()));
    }
}
GST_END_TEST;

GST_START_TEST(words_of_the_test_switch_that_do_nothing_are_named) {
  const Misunderstood wrong = only("GST_DXVA_TEST", "memfd,memfds,all");
  fail_unless(has(wrong.what, "memfds, all"), "%s", wrong.what.c_str());
  for (const char* word :
       {"memfd", "software-import", "upload-ring", "read-in-place", "verify"})
    fail_unless(has(wrong.remedy, word), "%s", wrong.remedy.c_str());
}
GST_END_TEST;

GST_START_TEST(a_variable_that_nobody_reads_is_named) {
  const Misunderstood wrong = only("GST_DXVA_ZERO_COPY", "0");
  fail_unless(has(wrong.what, "GST_DXVA_ZERO_COPY"));
  fail_unless(has(wrong.remedy, "GST_DXVA_ZEROCOPY"));
}
GST_END_TEST;

GST_START_TEST(the_process_is_asked_for_all_of_them) {
  ::setenv("GST_DXVA_ZEROCOPY", "nein", 1);
  ::unsetenv("GST_DXVA_TEST");
  const auto out = dxva::misunderstood_variables();
  fail_unless_equals_int(static_cast<int>(out.size()), 1);
  fail_unless(out.front().setting == "GST_DXVA_ZEROCOPY=nein");
}
GST_END_TEST;

Suite* base_variables_suite() {
  Suite* suite = suite_create("base_variables");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, values_that_mean_something_are_no_news);
  tcase_add_test(tcase, a_switch_that_is_neither_on_nor_off_is_named_with_its_values);
  tcase_add_test(tcase, words_of_the_test_switch_that_do_nothing_are_named);
  tcase_add_test(tcase, a_variable_that_nobody_reads_is_named);
  tcase_add_test(tcase, the_process_is_asked_for_all_of_them);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(base_variables)
