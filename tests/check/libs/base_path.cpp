// SPDX-License-Identifier: LGPL-2.1-or-later

// Names that programs read: they must be there, differ, and keep their shape.

#include "lib/base/path.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "tests/check/support/check.hpp"

using namespace dxva;

namespace {

bool is_kebab(std::string_view name) {
  const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || !is_word(name.front()) || !is_word(name.back())) return false;
  if (name.find("--") != std::string_view::npos) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return is_word(c) || c == '-'; });
}

GST_START_TEST(every_reason_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (size_t i = 0; i < kReasonCount; ++i) {
    const char* name = reason_name(static_cast<Reason>(i));
    fail_unless(is_kebab(name), "reason %zu: %s", i, name);
    fail_if(std::string_view(name) == "unknown", "reason %zu has no name", i);
    fail_unless(names.insert(name).second, "%s twice", name);
  }
  fail_unless_equals_string(reason_name(static_cast<Reason>(kReasonCount)), "unknown");
}
GST_END_TEST;

GST_START_TEST(every_step_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (size_t i = 0; i < kStepCount; ++i) {
    const char* name = step_name(static_cast<Step>(i));
    fail_unless(is_kebab(name), "step %zu: %s", i, name);
    fail_if(std::string_view(name) == "unknown", "step %zu has no name", i);
    fail_unless(names.insert(name).second, "%s twice", name);
  }
}
GST_END_TEST;

// Scripts and bug reports know these.
GST_START_TEST(published_names_stay) {
  fail_unless_equals_string(step_name(Step::Egl), "egl");
  fail_unless_equals_string(step_name(Step::MemoryObject), "memory-object");
  fail_unless_equals_string(step_name(Step::GpuCopy), "gpu-copy");
  fail_unless_equals_string(step_name(Step::CpuCopy), "cpu-copy");
  fail_unless_equals_string(step_name(Step::Software), "software");
  fail_unless_equals_string(reason_name(Reason::None), "none");
  fail_unless_equals_string(reason_name(Reason::NotADmabuf), "not-a-dmabuf");
  fail_unless_equals_string(reason_name(Reason::ModifierNotImportable),
                            "modifier-not-importable");
  fail_unless_equals_string(reason_name(Reason::ChromaNotAdjacent), "chroma-not-adjacent");
  fail_unless_equals_string(reason_name(Reason::PitchTooSmall), "pitch-too-small");
  fail_unless_equals_string(reason_name(Reason::ObjectTooSmall), "object-too-small");
  fail_unless_equals_string(reason_name(Reason::ExportUnsupported), "export-unsupported");
  fail_unless_equals_string(reason_name(Reason::EglBadMatch), "egl-bad-match");
  fail_unless_equals_string(reason_name(Reason::SelfTestMismatch), "self-test-mismatch");
  fail_unless_equals_string(reason_name(Reason::SurfacePoolEmpty), "surface-pool-empty");
}
GST_END_TEST;

Suite* base_path_suite() {
  Suite* suite = suite_create("base_path");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, every_reason_has_a_name_of_its_own);
  tcase_add_test(tcase, every_step_has_a_name_of_its_own);
  tcase_add_test(tcase, published_names_stay);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(base_path)
