// SPDX-License-Identifier: LGPL-2.1-or-later
// A device that fails for good in the middle of a stream: every picture comes once, from
// software after the change, and the message names the cause.
#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;

namespace {

constexpr int kPictures = 150;
constexpr int kGroup = 25;  // at most, from key picture to key picture

std::string long_clip() {
  return source(clip("lost.mp4", "-c:v libx264 -g 25 -bf 3 -threads 1", "176x144", kPictures));
}

const std::string kBoth = std::string(kDmabufNv12) + ";video/x-raw";

struct Sink {
  const char* leaving;  // of the device's pictures
  Options options;
};
std::vector<Sink> sinks() {
  return {{"cpu-copy", {}}, {"exported", {.sink_caps = kBoth, .video_meta = true}}};
}

// The device does `pictures` before it fails; each is waited for once, however it leaves.
void expect_software_from(const char* fault, const char* reason, uint64_t pictures) {
  const auto wanted = decode(long_clip(), "avdec_h264").pictures;
  fail_unless_equals_int(wanted.size(), kPictures);
  for (const Sink& sink : sinks()) {
    std::printf("# %s, %s\n", fault, sink.leaving);
    g_setenv("DXVASOFT_FAULT", fault, TRUE);
    const Decoded out = decode(long_clip(), "dxvadec", sink.options);
    fail_unless(out.error.empty(), "%s", out.error.c_str());
    expect_same(out.pictures, wanted);
    fail_unless_equals_int(out.path_changes.size(), 1);
    const std::string message = std::string(sink.leaving) + ">software: " + reason;
    fail_unless_equals_string(out.path_changes[0].c_str(), message.c_str());
    // What the device did is kept: at most one group was decoded again, and the pictures that
    // reorder around it.
    const uint64_t kept = out.step(sink.leaving);
    fail_unless(kept + kGroup + 8 >= pictures && kept <= pictures, "%" G_GUINT64_FORMAT,
                guint64{kept});
    fail_unless_equals_uint64(out.step("software"), kPictures - kept);
    fail_unless_equals_uint64(out.reason(reason), out.step("software"));
  }
}

}  // namespace

GST_START_TEST(a_device_that_fails_from_picture_40_on_is_replaced) {
  expect_software_from("endpicture:from=40", "decode-errors", 39);
}
GST_END_TEST

GST_START_TEST(a_device_lost_at_picture_100_is_replaced) {
  expect_software_from("endpicture:lost=100", "device-lost", 99);
}
GST_END_TEST

// It is noticed when a picture is read, with others decoded behind it.
GST_START_TEST(a_device_lost_while_a_picture_is_read_is_replaced) {
  expect_software_from("sync:lost=120", "device-lost", 119);
}
GST_END_TEST

// Once for all pictures: what was decoded behind the first one is not waited for.
GST_START_TEST(a_device_that_hangs_is_waited_for_once) {
  expect_software_from("sync:hang-from=120", "sync-failed", 119);
}
GST_END_TEST

GST_START_TEST(without_fallback_a_lost_device_is_an_error_with_its_name) {
  g_setenv("DXVASOFT_FAULT", "endpicture:lost=100", TRUE);
  const Decoded out = decode(long_clip(), "dxvadec software-fallback=false");
  fail_unless(out.error.find("device-lost") != std::string::npos, "%s", out.error.c_str());
}
GST_END_TEST

namespace {

std::string bytes_of(const std::string& file) {
  char* data = nullptr;
  gsize size = 0;
  fail_unless(g_file_get_contents(file.c_str(), &data, &size, nullptr));
  std::string out(data, size);
  g_free(data);
  return out;
}

}  // namespace

// The bundled driver loses its device again at the same call of each start.
GST_START_TEST(the_next_stream_starts_the_driver_anew) {
  const char* arguments =
      "-c:v libx264 -g 20 -bf 2 -threads 1 -bsf:v filter_units=remove_types=6";
  const std::string file = make_folder("lost") + "/two.h264";
  const std::string both = bytes_of(clip("lost-one.h264", arguments, "176x144", 40)) +
                           bytes_of(clip("lost-two.h264", arguments, "320x240", 40));
  fail_unless(g_file_set_contents(file.c_str(), both.data(), static_cast<gssize>(both.size()),
                                  nullptr));
  const auto wanted = decode(source(file), "avdec_h264").pictures;
  fail_unless_equals_int(wanted.size(), 80);
  g_setenv("DXVASOFT_FAULT", "endpicture:lost=30", TRUE);
  std::vector<bool> by_device;
  Options options{.sink_caps = kBoth, .video_meta = true};
  const Decoded out = decode(source(file), "dxvadec", options);
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, wanted);
  // Copies of a device's surfaces could be dma-bufs too, but nothing is copied here.
  for (const Picture& picture : out.pictures) by_device.push_back(picture.dmabuf);
  fail_unless(by_device.front() && !by_device[39]);
  fail_unless(by_device[40] && !by_device.back());
}
GST_END_TEST

static Suite* dxvadec_lost_suite() {
  Suite* suite = suite_create("dxvadec_lost");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, a_device_that_fails_from_picture_40_on_is_replaced);
  tcase_add_test(tcase, a_device_lost_at_picture_100_is_replaced);
  tcase_add_test(tcase, a_device_lost_while_a_picture_is_read_is_replaced);
  tcase_add_test(tcase, a_device_that_hangs_is_waited_for_once);
  tcase_add_test(tcase, without_fallback_a_lost_device_is_an_error_with_its_name);
  tcase_add_test(tcase, the_next_stream_starts_the_driver_anew);
  suite_add_tcase(suite, tcase);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_lost_suite(), "dxvadec_lost", __FILE__);
}
