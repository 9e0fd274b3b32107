// SPDX-License-Identifier: LGPL-2.1-or-later
// Whoever names a device that does not start is told what to do.
#include "lib/drm/device_advice.hpp"

#include <grp.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/check/support/check.hpp"

using dxva::drm::bundled_driver_setting;
using dxva::drm::device_advice;

namespace {

bool has(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

GST_START_TEST(a_setting_of_the_bundled_driver_is_named) {
  const char* error =
      "software driver: vaInitialize: invalid parameter: dxvasoft: "
      "DXVASOFT_LAYOUT: cannot read \"nonsense\" (18)";
  fail_unless(bundled_driver_setting(error) == "DXVASOFT_LAYOUT");
  fail_unless(bundled_driver_setting("DXVASOFT_LATE_MS") == "DXVASOFT_LATE_MS");
  fail_unless(bundled_driver_setting("DXVASOFT_LAYOUT2d is no setting") == "DXVASOFT_LAYOUT2d");
  fail_unless(bundled_driver_setting("no such file").empty());
  for (const char* device : {"software", "/dev/dri/renderD128", ""}) {
    const std::string advice = device_advice(device, error);
    fail_unless(has(advice, "DXVASOFT_LAYOUT") && has(advice, "unset"), "%s", advice.c_str());
  }
}
GST_END_TEST;

GST_START_TEST(what_is_missing_for_a_device_by_name_is_told) {
  fail_unless(has(device_advice("software", "no such file"), "dxva-softva-driver"));
  fail_unless(has(device_advice("software", "dxvasoft: mmap: no memory"), "refuses"));
  for (const char* device : {"cuda", "cuda:7"})
    fail_unless(has(device_advice(device, "no libcuda.so.1"), "libnvcuvid.so.1"));
  fail_unless(device_advice("", "no render node").empty());
  fail_unless(device_advice("auto", "no render node").empty());
}
GST_END_TEST;

GST_START_TEST(a_path_that_is_no_gpu_is_answered_with_those_that_are) {
  char name[] = "/tmp/dxva-advice-XXXXXX";
  fail_unless(::mkdtemp(name) != nullptr);
  const std::filesystem::path folder(name);
  const dxva::drm::Roots roots{.sys = folder / "sys", .dri = folder / "dri"};
  std::filesystem::create_directories(folder / "dri");
  std::ofstream(folder / "file");
  for (const std::string path : {folder / "none", folder / "file"})
    fail_unless(has(device_advice(path, "no such file", roots), "no GPU's node"), "%s",
                path.c_str());
  std::ofstream(folder / "dri" / "renderD128");
  std::ofstream(folder / "dri" / "renderD129");
  const std::string advice = device_advice(folder / "none", "no such file", roots);
  fail_unless(has(advice, "renderD128, ") && has(advice, "renderD129"), "%s", advice.c_str());
  std::filesystem::remove_all(folder);
}
GST_END_TEST;

// As somebody else than root, who may open everything.
GST_START_TEST(a_node_of_a_group_is_answered_with_its_name) {
  char name[] = "/tmp/dxva-advice-XXXXXX";
  fail_unless(::mkdtemp(name) != nullptr);
  const std::filesystem::path folder(name);
  const std::string node = folder / "renderD128";
  constexpr unsigned kMajor = 1, kMinor = 3;  // its files say that it is a GPU's
  if (::geteuid() != 0 || ::mknod(node.c_str(), S_IFCHR | 0660, makedev(kMajor, kMinor)) != 0) {
    std::filesystem::remove_all(folder);
    DXVA_SKIP("needs root, and a device node");
  }
  const dxva::drm::Roots roots{.sys = folder / "sys", .dri = folder};
  std::filesystem::create_directories(folder / "sys/dev/char/1:3/device/drm/renderD128");
  std::filesystem::permissions(folder, std::filesystem::perms(0755));
  fail_unless(device_advice(node, "vaInitialize: failed", roots).empty());
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)
      ::_exit(2);
    const std::string advice = device_advice(node, "open: Permission denied", roots);
    ::_exit(has(advice, "group root") && has(advice, "usermod -aG root") ? 0 : 1);
  }
  int status = 0;
  fail_unless(child > 0 && ::waitpid(child, &status, 0) == child);
  std::filesystem::remove_all(folder);
  fail_unless(WIFEXITED(status));
  fail_unless_equals_int(WEXITSTATUS(status), 0);
}
GST_END_TEST;

Suite* drm_device_advice_suite() {
  Suite* suite = suite_create("drm_device_advice");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, a_setting_of_the_bundled_driver_is_named);
  tcase_add_test(tcase, what_is_missing_for_a_device_by_name_is_told);
  tcase_add_test(tcase, a_path_that_is_no_gpu_is_answered_with_those_that_are);
  tcase_add_test(tcase, a_node_of_a_group_is_answered_with_its_name);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(drm_device_advice)
