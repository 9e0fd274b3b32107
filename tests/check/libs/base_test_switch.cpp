// SPDX-License-Identifier: LGPL-2.1-or-later

#include "lib/base/test_switch.hpp"

#include <initializer_list>

#include "tests/check/support/check.hpp"

using dxva::TestSwitch;

namespace {

GST_START_TEST(nothing_is_loosened_by_default) {
  for (const char* list : {static_cast<const char*>(nullptr), "", ",", ",,,"}) {
    const TestSwitch test = TestSwitch::parse(list);
    fail_if(test.memfd || test.software_import || test.upload_ring || test.read_in_place ||
            test.verify);
  }
}
GST_END_TEST;

GST_START_TEST(words_switch_what_they_name) {
  fail_unless(TestSwitch::parse("memfd").memfd);
  fail_unless(TestSwitch::parse("software-import").software_import);
  fail_unless(TestSwitch::parse("upload-ring").upload_ring);
  fail_unless(TestSwitch::parse("read-in-place").read_in_place);
  fail_unless(TestSwitch::parse("verify").verify);
  const TestSwitch all = TestSwitch::parse("memfd,software-import,verify");
  fail_unless(all.memfd && all.software_import && all.verify);
  fail_unless(all.unknown.empty());
  const TestSwitch every = TestSwitch::parse(TestSwitch::words().c_str());
  fail_unless(every.unknown.empty());
  fail_unless(every.memfd && every.software_import && every.upload_ring &&
              every.read_in_place && every.verify);
  fail_if(TestSwitch::parse("memfd").software_import);
  fail_unless(all.loosens_rules() && !TestSwitch::parse("verify,upload-ring").loosens_rules());
}
GST_END_TEST;

GST_START_TEST(words_must_be_whole) {
  for (const char* list : {"mem", "memfds", "MEMFD", " memfd", "memfd ", "1", "all"})
    fail_if(TestSwitch::parse(list).memfd, "%s", list);
  const TestSwitch some = TestSwitch::parse("unknown,memfd,");
  fail_unless(some.memfd && some.unknown == std::vector<std::string>{"unknown"});
}
GST_END_TEST;

Suite* base_test_switch_suite() {
  Suite* suite = suite_create("base_test_switch");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, nothing_is_loosened_by_default);
  tcase_add_test(tcase, words_switch_what_they_name);
  tcase_add_test(tcase, words_must_be_whole);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(base_test_switch)
