// SPDX-License-Identifier: LGPL-2.1-or-later

// Finding and starting devices, on a driver that says what it is told (fakeva/).

#include "lib/va/display.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/base/unique_fd.hpp"
#include "lib/drm/device_id.hpp"
#include "tests/check/libs/fakeva/fake_va.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;
using va::DeviceChoice;
using va::Display;

namespace {

void tell(const char* words) {
  ::setenv("FAKE_VA", words, 1);
}

// Once a display was opened, the driver stays loaded.
const fakeva::Counts& counts() {
  static const fakeva::Counts none{};
  const void* found = ::dlsym(RTLD_DEFAULT, "fake_va_counts");
  return found ? *static_cast<const fakeva::Counts*>(found) : none;
}

Result<std::shared_ptr<Display>> open_software() {
  return Display::open({.kind = DeviceChoice::Kind::Software});
}

GST_START_TEST(device_property_is_read_as_people_write_it) {
  using enum DeviceChoice::Kind;
  fail_unless(DeviceChoice::parse("").kind == Auto);
  fail_unless(DeviceChoice::parse("auto").kind == Auto);
  fail_unless(DeviceChoice::parse("software").kind == Software);
  fail_unless(DeviceChoice::parse("/dev/dri/card1").kind == Path);
  fail_unless(DeviceChoice::parse("/dev/dri/card1").path == "/dev/dri/card1");
  fail_unless(DeviceChoice::parse("Software").kind == Path);
}
GST_END_TEST;

GST_START_TEST(a_device_is_started_once_and_shared) {
  tell("");
  const fakeva::Counts before = counts();
  {
    auto one = open_software();
    fail_unless(bool(one), "%s", one ? "" : one.error().describe().c_str());
    auto other = open_software();
    fail_unless(bool(other));
    fail_unless(one->get() == other->get());
    fail_unless_equals_int(counts().starts, before.starts + 1);
    one->reset();
    fail_unless_equals_int(counts().stops, before.stops);
  }
  fail_unless_equals_int(counts().stops, before.stops + 1);
  auto again = open_software();
  fail_unless(bool(again));
  fail_unless_equals_int(counts().starts, before.starts + 2);
}
GST_END_TEST;

GST_START_TEST(threads_that_open_together_get_one_display) {
  tell("");
  const int starts = counts().starts;
  std::vector<std::shared_ptr<Display>> displays(8);
  std::vector<std::thread> threads;
  for (auto& display : displays)
    threads.emplace_back([&display] {
      if (auto opened = open_software()) display = *opened;
    });
  for (auto& thread : threads) thread.join();
  for (const auto& display : displays) fail_unless(display && display == displays[0]);
  fail_unless_equals_int(counts().starts, starts + 1);
}
GST_END_TEST;

GST_START_TEST(display_tells_what_it_is) {
  tell("");
  auto display = open_software();
  fail_unless(bool(display));
  fail_unless((*display)->get() != nullptr);
  fail_unless((*display)->is_software());
  fail_unless((*display)->node() == "software");
  fail_unless((*display)->vendor() == "fakeva, says what it is told");
  fail_unless((*display)->api().export_surface_handle != nullptr);
}
GST_END_TEST;

GST_START_TEST(only_profiles_that_decode_are_listed) {
  tell("");
  auto display = open_software();
  fail_unless(bool(display));
  fail_unless((*display)->profiles() == std::vector{VAProfileH264High});
}
GST_END_TEST;

GST_START_TEST(a_driver_that_miscounts_is_not_believed) {
  tell("huge-count");
  auto display = open_software();
  fail_unless(bool(display));
  fail_unless((*display)->profiles() == std::vector{VAProfileH264High});
}
GST_END_TEST;

GST_START_TEST(caps_cover_every_depth_the_profile_has) {
  tell("");
  auto display = open_software();
  fail_unless(bool(display));
  auto caps = (*display)->decode_caps(VAProfileH264High);
  fail_unless(bool(caps));
  fail_unless(caps->rt_formats == (VA_RT_FORMAT_YUV420 | VA_RT_FORMAT_YUV420_10));
  fail_unless(caps->fourccs == std::vector<uint32_t>({VA_FOURCC_NV12, VA_FOURCC_P010}));
  fail_unless_equals_int(caps->min_width, 16);
  fail_unless_equals_int(caps->max_width, 4096);   // the codec's, not the surfaces'
  fail_unless_equals_int(caps->max_height, 2304);  // the surfaces', the codec's is not told
  fail_unless(caps->exports_prime2);
  fail_unless_equals_int(counts().live_configs, 0);
}
GST_END_TEST;

GST_START_TEST(caps_of_a_missing_profile_are_a_refusal) {
  tell("");
  auto display = open_software();
  fail_unless(bool(display));
  const auto caps = (*display)->decode_caps(VAProfileAV1Profile0);
  fail_if(bool(caps));
  fail_unless(caps.error().reason == Reason::ProfileUnsupported);
}
GST_END_TEST;

std::atomic<int> messages{0};
constexpr log::Sink kCounting = {
    .enabled =
        [](log::Area area, log::Level level) {
          return area == log::Area::Va && level == log::Level::Debug;
        },
    .write =
        [](log::Area, log::Level, const char*, int, const char* text) {
          if (std::string_view(text) == "libva: fakeva: an error") ++messages;
        }};

GST_START_TEST(what_drivers_say_goes_to_the_log_and_not_to_the_terminal) {
  log::set_sink(&kCounting);
  const UniqueFd capture{::memfd_create("stderr", MFD_CLOEXEC)};
  const UniqueFd terminal = UniqueFd::duplicate(STDERR_FILENO);
  ::dup2(capture.get(), STDERR_FILENO);
  tell("noisy");
  const bool opened = bool(open_software());
  tell("noisy,init-fails");
  const bool opened_broken = bool(open_software());
  ::dup2(terminal.get(), STDERR_FILENO);
  log::set_sink(nullptr);
  fail_unless(opened && !opened_broken);
  fail_unless_equals_int(::lseek(capture.get(), 0, SEEK_END), 0);
  fail_unless_equals_int(messages.load(), 2);
}
GST_END_TEST;

void expect_no_device(const DeviceChoice& choice, const char* word) {
  const auto display = Display::open(choice);
  fail_if(bool(display));
  fail_unless(display.error().reason == Reason::NoDevice);
  fail_unless(display.error().text.find(word) != std::string::npos, "%s",
              display.error().text.c_str());
}

GST_START_TEST(failed_start_is_told_and_can_be_tried_again) {
  tell("init-fails");
  expect_no_device({.kind = DeviceChoice::Kind::Software}, "vaInitialize");
  // vaInitialize has a number for it; why, the driver says on the way.
  tell("init-fails,noisy");
  expect_no_device({.kind = DeviceChoice::Kind::Software}, ": fakeva: an error (");
  tell("");
  fail_unless(bool(open_software()));
}
GST_END_TEST;

GST_START_TEST(missing_driver_is_told) {
  ::setenv("LIBVA_DRIVERS_PATH", "/nonexistent", 1);
  expect_no_device({.kind = DeviceChoice::Kind::Software}, "vaInitialize");
}
GST_END_TEST;

GST_START_TEST(paths_that_are_no_gpu_are_refused_and_never_opened) {
  char folder[] = "/tmp/dxva-display-XXXXXX";
  fail_unless(::mkdtemp(folder) != nullptr);
  const std::string fifo = std::string(folder) + "/fifo";
  fail_unless(::mkfifo(fifo.c_str(), 0600) == 0);  // opening it would wait for a writer
  for (const char* path : {"/dev/null", "/", "/nonexistent", "no/such", fifo.c_str()})
    expect_no_device(DeviceChoice::parse(path),
                     path[0] == '/' && path[1] == 'd' ? "1:3" : path);
  ::unlink(fifo.c_str());
  ::rmdir(folder);
}
GST_END_TEST;

GST_START_TEST(auto_without_any_gpu_says_so) {
  if (!drm::render_nodes().empty()) DXVA_SKIP("this machine has render nodes");
  expect_no_device({.kind = DeviceChoice::Kind::Auto}, "no render node");
}
GST_END_TEST;

GST_START_TEST(statuses_become_errors_one_can_act_on) {
  fail_unless(bool(va::check(VA_STATUS_SUCCESS, "vaCall")));
  const auto failed = va::check(VA_STATUS_ERROR_ALLOCATION_FAILED, "vaCall");
  fail_if(bool(failed));
  fail_unless(failed.error().code == ErrorCode::NoMemory);
  fail_unless_equals_string(failed.error().call, "vaCall");
  fail_unless_equals_int(failed.error().native, VA_STATUS_ERROR_ALLOCATION_FAILED);
  fail_if(failed.error().text.empty());
  fail_unless(va::va_error(VA_STATUS_ERROR_UNIMPLEMENTED, "").code == ErrorCode::Unsupported);
  fail_unless(va::va_error(VA_STATUS_ERROR_DECODING_ERROR, "").code == ErrorCode::BadInput);
  fail_unless(va::va_error(VA_STATUS_ERROR_HW_BUSY, "").code == ErrorCode::Busy);
  fail_unless(va::va_error(12345678, "").code == ErrorCode::Failed);
}
GST_END_TEST;

GST_START_TEST(pixel_formats_go_both_ways) {
  fail_unless(va::va_fourcc(fourcc('N', 'V', '1', '2')) == VA_FOURCC_NV12);
  fail_unless(va::drm_fourcc(VA_FOURCC_P010) == fourcc('P', '0', '1', '0'));
  fail_unless(va::drm_fourcc(VA_FOURCC_YUY2) == fourcc('Y', 'U', 'Y', 'V'));
  fail_unless(va::va_fourcc(0) == 0 && va::drm_fourcc(0) == 0);
  fail_unless(va::drm_fourcc(0xdeadbeef) == 0);
}
GST_END_TEST;

Suite* va_display_suite() {
  Suite* suite = suite_create("va_display");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, device_property_is_read_as_people_write_it);
  tcase_add_test(tcase, a_device_is_started_once_and_shared);
  tcase_add_test(tcase, threads_that_open_together_get_one_display);
  tcase_add_test(tcase, display_tells_what_it_is);
  tcase_add_test(tcase, only_profiles_that_decode_are_listed);
  tcase_add_test(tcase, a_driver_that_miscounts_is_not_believed);
  tcase_add_test(tcase, caps_cover_every_depth_the_profile_has);
  tcase_add_test(tcase, caps_of_a_missing_profile_are_a_refusal);
  tcase_add_test(tcase, what_drivers_say_goes_to_the_log_and_not_to_the_terminal);
  tcase_add_test(tcase, failed_start_is_told_and_can_be_tried_again);
  tcase_add_test(tcase, missing_driver_is_told);
  tcase_add_test(tcase, paths_that_are_no_gpu_are_refused_and_never_opened);
  tcase_add_test(tcase, auto_without_any_gpu_says_so);
  tcase_add_test(tcase, statuses_become_errors_one_can_act_on);
  tcase_add_test(tcase, pixel_formats_go_both_ways);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(va_display)
