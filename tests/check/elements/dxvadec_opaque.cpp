// SPDX-License-Identifier: LGPL-2.1-or-later
// dxvadec with surfaces that only Vulkan and OpenGL can read: they leave as they are for who is
// on the same device, as copies for everybody else, and every picture is right.

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gst/common/opaque_memory.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"
#include "tests/check/support/in_child.hpp"

using namespace dxva::test;

namespace {

constexpr const char* kOpaqueNv12 = "video/x-raw(memory:OpaqueFd),format=NV12";

const std::vector<Picture>& reference() {
  static const auto all = decode(source(h264_mp4()), "avdec_h264").pictures;
  return all;
}

void expect_all_right(const Decoded& out) {
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, reference());
}

size_t open_descriptors() {
  const std::filesystem::directory_iterator folder("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(folder), end(folder)));
}

}  // namespace

GST_START_TEST(surfaces_leave_as_they_are_with_their_device_in_the_caps) {
  size_t opaque = 0;
  const Decoded out = decode(
      source(h264_mp4()), "dxvadec",
      {.sink_caps = kOpaqueNv12, .video_meta = true, .at_sample = [&](GstSample* sample) {
         GstBuffer* buffer = gst_sample_get_buffer(sample);
         opaque += dxva::gst::opaque_identity(gst_buffer_peek_memory(buffer, 0)) ? 1 : 0;
       }});
  // The pictures were mapped for this: a read-back by the driver.
  expect_all_right(out);
  fail_unless_equals_uint64(out.step("exported"), out.pictures.size());
  fail_unless_equals_uint64(opaque, out.pictures.size());
  const auto caps =
      dxva::gst::GstPtr<GstCaps>::adopt(gst_caps_from_string(out.caps.front().c_str()));
  fail_unless(dxva::gst::uuids_of(gst_caps_get_structure(caps.get(), 0)).has_value(), "%s",
              out.caps.front().c_str());
}
GST_END_TEST;

GST_START_TEST(another_device_gets_copies_and_the_reason) {
  const std::string zeros(32, '0');
  const Decoded out =
      decode(source(h264_mp4()), "dxvadec",
             {.sink_caps = std::string(kOpaqueNv12) + ",device-uuid=(string)" + zeros +
                           ",driver-uuid=(string)" + zeros + ";video/x-raw,format=NV12",
              .video_meta = true});
  expect_all_right(out);
  fail_unless_equals_uint64(out.step("cpu-copy"), out.pictures.size());
  fail_unless_equals_uint64(out.reason("uuid-mismatch"), out.pictures.size());
}
GST_END_TEST;

GST_START_TEST(who_takes_dma_bufs_gets_copies_in_system_memory) {
  const Decoded out = decode(
      source(h264_mp4()), "dxvadec",
      {.sink_caps = std::string(kDmabufNv12) + ";video/x-raw,format=NV12", .video_meta = true});
  expect_all_right(out);
  fail_unless_equals_uint64(out.step("cpu-copy"), out.pictures.size());
  fail_unless_equals_uint64(out.reason("downstream-no-dmabuf"), out.pictures.size());
  for (const Picture& picture : out.pictures) fail_unless(!picture.dmabuf);
}
GST_END_TEST;

GST_START_TEST(a_full_gate_copies_for_our_own_uploader) {
  // It keeps so many that some must be copied; mixed memory lets them stay under the caps.
  const Decoded out =
      decode(source(h264_mp4()), "dxvadec extra-surfaces=4",
             {.sink_caps = std::string(kOpaqueNv12) + ";video/x-raw,format=NV12",
              .video_meta = true,
              .mixed_memory = true,
              .keep = 12});
  expect_all_right(out);
  fail_unless(out.step("exported") > 0 && out.step("cpu-copy") > 0);
  fail_unless_equals_int(out.caps.size(), 1);
}
GST_END_TEST;

GST_START_TEST(starts_and_ends_leave_no_descriptor) {
  size_t before = 0;
  for (int i = 0; i < 4; ++i) {
    {
      const Decoded out =
          decode(source(h264_mp4()), "dxvadec", {.sink_caps = kOpaqueNv12, .video_meta = true});
      fail_unless_equals_uint64(out.step("exported"), out.pictures.size());
    }
    if (i == 0) before = open_descriptors();
  }
  fail_unless_equals_int(open_descriptors(), before);
}
GST_END_TEST;

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  if (!getenv("DXVA_RIG") && !yes_in_child([] {
        return decode(source(h264_mp4()), "dxvadec").step("software") == 0;
      })) {
    std::printf("# SKIP no Vulkan device that exports memory\n");
    return 77;
  }
  Suite* suite = suite_create("dxvadec_opaque");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 120);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, surfaces_leave_as_they_are_with_their_device_in_the_caps);
  tcase_add_test(tests, another_device_gets_copies_and_the_reason);
  tcase_add_test(tests, who_takes_dma_bufs_gets_copies_in_system_memory);
  tcase_add_test(tests, a_full_gate_copies_for_our_own_uploader);
  tcase_add_test(tests, starts_and_ends_leave_no_descriptor);
  return gst_check_run_suite(suite, "dxvadec_opaque", __FILE__);
}
