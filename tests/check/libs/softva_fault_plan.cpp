// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/fault_plan.hpp"

#include <thread>
#include <vector>

#include "lib/softva/hang.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva::softva;

namespace {

// Which of the first ten calls fail.
std::vector<int> failures(const char* list, Call call = Call::Export, uint64_t surface = 0) {
  auto plan = FaultPlan::parse(list);
  fail_unless(bool(plan), "%s", list);
  std::vector<int> failed;
  for (int number = 1; number <= 10; ++number)
    if (plan->fails(call, surface, 1)) failed.push_back(number);
  return failed;
}

GST_START_TEST(rules_mean_what_they_say) {
  fail_unless(failures("") == std::vector<int>{});
  fail_unless(failures("export:every=3") == (std::vector<int>{3, 6, 9}));
  fail_unless(failures("export:at=4") == (std::vector<int>{4}));
  fail_unless(failures("export:from=8") == (std::vector<int>{8, 9, 10}));
  fail_unless(failures("export:at=1,export:at=5,export:every=4") ==
              (std::vector<int>{1, 4, 5, 8}));
}
GST_END_TEST;

GST_START_TEST(surface_rules_look_at_the_surface_only) {
  fail_unless(failures("export:surface=3", Call::Export, 3).size() == 10);
  fail_unless(failures("export:surface=3", Call::Export, 2).empty());
  fail_unless(failures("export:surface=3", Call::Export, 0).empty());
}
GST_END_TEST;

GST_START_TEST(call_that_makes_the_surface_is_met_too) {
  auto plan = FaultPlan::parse("createsurfaces:surface=5");
  fail_if(plan->fails(Call::CreateSurfaces, 1, 4));
  fail_unless(plan->fails(Call::CreateSurfaces, 3, 4));
  fail_unless(plan->fails(Call::CreateSurfaces, 5, 1));
  fail_if(plan->fails(Call::CreateSurfaces, 6, 10));
}
GST_END_TEST;

GST_START_TEST(calls_are_counted_apart) {
  auto plan = FaultPlan::parse("export:at=2,sync:at=1");
  fail_if(plan->fails(Call::Export, 0, 1));
  fail_unless(plan->fails(Call::Sync, 0, 1));
  fail_unless(plan->fails(Call::Export, 0, 1));
  fail_if(plan->fails(Call::Sync, 0, 1));
  fail_unless(failures("export:at=1", Call::GetImage).empty());
}
GST_END_TEST;

GST_START_TEST(lost_device_fails_in_every_call) {
  auto plan = FaultPlan::parse("endpicture:lost=2");
  fail_if(plan->fails(Call::EndPicture, 0, 1));
  fail_if(plan->fails(Call::Sync, 0, 1));
  fail_if(plan->lost());
  fail_unless(plan->fails(Call::EndPicture, 0, 1));
  fail_unless(plan->lost());
  for (const Call call : {Call::EndPicture, Call::Sync, Call::CreateConfig, Call::MapBuffer})
    fail_unless(plan->fails(call, 0, 1));
}
GST_END_TEST;

GST_START_TEST(hanging_calls_do_not_fail) {
  auto plan = FaultPlan::parse("sync:hang-from=2");
  fail_if(plan->fails(Call::Sync, 0, 1));
  fail_if(plan->hangs(Call::Sync));
  fail_if(plan->fails(Call::Sync, 0, 1));
  fail_unless(plan->hangs(Call::Sync));
  fail_if(plan->hangs(Call::Export));
}
GST_END_TEST;

// Each thread waits for the other: a hang that does not end stops the test.
GST_START_TEST(hang_lets_all_go_at_its_end) {
  Hang hang;
  hang.wait(1);
  std::vector<std::thread> waiting;
  for (int i = 0; i < 3; ++i) waiting.emplace_back([&hang] { hang.wait(UINT64_MAX); });
  hang.end();
  for (std::thread& thread : waiting) thread.join();
}
GST_END_TEST;

GST_START_TEST(mistyped_plans_are_refused) {
  for (const char* list :
       {"export", "export:", "export:at", "export:at=", "export:at=0", "export:at=-1",
        "export:at=1 ", "export:at=18446744073709551616", "Export:at=1", "export:after=1",
        "nothing:at=1", "export:hang-from=1", "sync:hang=1", "export:at=1,", "at=1:export", "=",
        ":", ",", ":="}) {
    const auto plan = FaultPlan::parse(list);
    // A trailing comma ends the list; everything else is a mistake.
    fail_unless(bool(plan) == (std::string_view(list) == "export:at=1,"), "%s", list);
  }
}
GST_END_TEST;

Suite* softva_fault_plan_suite() {
  Suite* suite = suite_create("softva_fault_plan");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, rules_mean_what_they_say);
  tcase_add_test(tcase, surface_rules_look_at_the_surface_only);
  tcase_add_test(tcase, call_that_makes_the_surface_is_met_too);
  tcase_add_test(tcase, calls_are_counted_apart);
  tcase_add_test(tcase, lost_device_fails_in_every_call);
  tcase_add_test(tcase, hanging_calls_do_not_fail);
  tcase_add_test(tcase, hang_lets_all_go_at_its_end);
  tcase_add_test(tcase, mistyped_plans_are_refused);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(softva_fault_plan)
