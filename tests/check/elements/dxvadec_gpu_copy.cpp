// SPDX-License-Identifier: LGPL-2.1-or-later
// A decoder that draws tiles only, and downstream that reads rows only: the device copies.
#include <cstring>

#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;

namespace {

const std::string kSystemToo = std::string(kDmabufNv12) + ";video/x-raw";

std::vector<Picture> reference(const std::string& from = source(h264_mp4())) {
  return decode(from, "avdec_h264").pictures;
}

void decoder_of_tiles(const char* fault = "") {
  g_setenv("DXVASOFT_LAYOUT", "tiled", TRUE);
  g_setenv("DXVASOFT_MODIFIERS", "not-decoded", TRUE);
  g_setenv("DXVASOFT_FAULT", fault, TRUE);
}

void expect_by_device(const Decoded& out, const std::vector<Picture>& wanted) {
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, wanted);
  fail_unless_equals_uint64(out.step("gpu-copy"), wanted.size());
  fail_unless_equals_uint64(out.reason("modifier-not-linear"), wanted.size());
  fail_unless_equals_int(out.caps.size(), 1);
  for (const Picture& picture : out.pictures) fail_unless(picture.dmabuf);
}

}  // namespace

GST_START_TEST(the_device_turns_tiles_into_rows) {
  decoder_of_tiles();
  const auto wanted = reference();
  for (const char* decoder :
       {"dxvadec zero-copy=require", "dxvadec zero-copy=require layout=tight-linear"}) {
    std::printf("# %s\n", decoder);
    const Decoded out =
        decode(source(h264_mp4()), decoder, {.sink_caps = kDmabufNv12, .video_meta = true});
    expect_by_device(out, wanted);
    fail_unless(out.path_changes.empty());
    const std::string way = out.text("gpu-copy");
    fail_unless_equals_string(way.c_str(), "video-processor");
    fail_unless(out.text("gpu-copy-refused", "video-processor").empty());
  }
}
GST_END_TEST

GST_START_TEST(also_ten_bits) {
  decoder_of_tiles();
  const std::string from = source(clip("ten-tiles.h265",
                                       "-pix_fmt yuv420p10le -c:v libx265 -preset ultrafast "
                                       "-x265-params log-level=none:pools=1"),
                                  "h265parse");
  const Decoded out =
      decode(from, "dxvadec zero-copy=require",
             {.sink_caps = "video/x-raw(memory:DMABuf),format=P010_10LE", .video_meta = true});
  expect_by_device(out, decode(from, "avdec_h265").pictures);
}
GST_END_TEST

GST_START_TEST(vacopy_does_where_the_video_processor_fails) {
  const auto wanted = reference();
  for (const char* fault : {"vpp:from=1", "vpp:at=7", "vpp:from=20"}) {
    std::printf("# %s\n", fault);
    decoder_of_tiles(fault);
    const Decoded out = decode(source(h264_mp4()), "dxvadec zero-copy=require",
                               {.sink_caps = kDmabufNv12, .video_meta = true});
    expect_by_device(out, wanted);
    const std::string way = out.text("gpu-copy");
    fail_unless_equals_string(way.c_str(), "va-copy");
    // Which call it was.
    fail_unless(out.text("gpu-copy-refused", "video-processor").find("vaEndPicture") !=
                std::string::npos);
  }
}
GST_END_TEST

// Whichever is faster here: all pictures are right, and none is lost between the two.
GST_START_TEST(where_both_may_the_faster_one_copies) {
  decoder_of_tiles();
  const auto wanted = reference();
  for (const std::string& caps : {std::string(kDmabufNv12), kSystemToo}) {
    for (const bool mixed : {false, true}) {
      const Decoded out =
          decode(source(h264_mp4()), "dxvadec",
                 {.sink_caps = caps, .video_meta = true, .mixed_memory = mixed});
      fail_unless(out.error.empty(), "%s", out.error.c_str());
      expect_same(out.pictures, wanted);
      fail_unless(out.step("gpu-copy") > 0 && out.step("cpu-copy") > 0);
      fail_unless_equals_uint64(out.step("gpu-copy") + out.step("cpu-copy"), wanted.size());
      fail_unless_equals_uint64(out.reason("modifier-not-linear"), wanted.size());
      // Both were measured, and the loser is named.
      const uint64_t device = out.number("gpu-copy-times", "device");
      const uint64_t cpu = out.number("gpu-copy-times", "cpu");
      fail_unless(device > 0 && cpu > 0);
      fail_unless(out.text("gpu-copy-refused", "device").empty() == (device <= cpu));
      fail_if(out.text("read-back").empty());
      fail_unless(out.number("read-backs", out.text("read-back").c_str()) > 0);
      fail_unless(out.number("read-back-times", out.text("read-back").c_str()) > 0);
    }
  }
}
GST_END_TEST

GST_START_TEST(the_cpu_copies_where_the_device_cannot) {
  const auto wanted = reference();
  for (const char* fault :
       {"vpp:from=1,copy:from=1", "createcontext:at=3,copy:from=1", "vpp:from=9,copy:at=4"}) {
    std::printf("# %s\n", fault);
    decoder_of_tiles(fault);
    const Decoded out =
        decode(source(h264_mp4()), "dxvadec", {.sink_caps = kSystemToo, .video_meta = true});
    fail_unless(out.error.empty(), "%s", out.error.c_str());
    expect_same(out.pictures, wanted);
    fail_unless(out.step("cpu-copy") > 0);
    fail_unless_equals_uint64(out.step("gpu-copy") + out.step("cpu-copy"), wanted.size());
    fail_unless_equals_uint64(out.reason("modifier-not-linear"), wanted.size());
    // Why, of each way, and of all; the last row may be measured before anything fails.
    if (!std::strstr(fault, "copy:from=1")) continue;
    fail_unless(out.text("gpu-copy").empty());
    for (const char* way : {"video-processor", "va-copy", "device"})
      fail_if(out.text("gpu-copy-refused", way).empty(), "%s", way);
  }
  decoder_of_tiles("vpp:from=1,copy:from=1");
  const Decoded required = decode(source(h264_mp4()), "dxvadec zero-copy=require",
                                  {.sink_caps = kSystemToo, .video_meta = true});
  fail_unless(required.error.find("modifier-not-linear") != std::string::npos, "%s",
              required.error.c_str());
}
GST_END_TEST

GST_START_TEST(an_application_that_keeps_the_copies_has_right_ones) {
  decoder_of_tiles();
  const auto wanted = reference();
  for (const char* decoder : {"dxvadec", "dxvadec zero-copy=require"}) {
    Decoded out = decode(source(h264_mp4()), decoder,
                         {.sink_caps = kDmabufNv12, .video_meta = true, .keep = wanted.size()});
    fail_unless(out.error.empty(), "%s", out.error.c_str());
    expect_same(out.pictures, wanted);
    std::vector<Picture> kept;
    for (const auto& sample : out.kept)
      kept.push_back({.hash = hash_of(gst_sample_get_buffer(sample.get()),
                                      gst_sample_get_caps(sample.get()))});
    expect_same(kept, wanted);
  }
}
GST_END_TEST

static Suite* dxvadec_gpu_copy_suite() {
  Suite* suite = suite_create("dxvadec_gpu_copy");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, the_device_turns_tiles_into_rows);
  tcase_add_test(tcase, also_ten_bits);
  tcase_add_test(tcase, vacopy_does_where_the_video_processor_fails);
  tcase_add_test(tcase, where_both_may_the_faster_one_copies);
  tcase_add_test(tcase, the_cpu_copies_where_the_device_cannot);
  tcase_add_test(tcase, an_application_that_keeps_the_copies_has_right_ones);
  suite_add_tcase(suite, tcase);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_gpu_copy_suite(), "dxvadec_gpu_copy", __FILE__);
}
