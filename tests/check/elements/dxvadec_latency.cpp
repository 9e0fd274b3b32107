// SPDX-License-Identifier: LGPL-2.1-or-later
// How long pictures stay in dxvadec, counted in packets: what low-latency is for, and what it
// costs.
#include <algorithm>
#include <cstdio>

#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

// Packets in and pictures out, in the one thread that does both.
struct Count {
  int in = 0;
  int out = 0;
  int longest = 0;  // packets that were in behind a picture's own when it left
  bool ended = false;
};

GstPadProbeReturn packet_comes(GstPad*, GstPadProbeInfo* info, gpointer user) {
  auto& count = *static_cast<Count*>(user);
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) ++count.in;
  // What is still inside comes out now, of every decoder.
  else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS)
    count.ended = true;
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn picture_leaves(GstPad*, GstPadProbeInfo*, gpointer user) {
  auto& count = *static_cast<Count*>(user);
  ++count.out;
  if (!count.ended) count.longest = std::max(count.longest, count.in - count.out);
  return GST_PAD_PROBE_OK;
}

void watch(const GstPtr<GstElement>& element, const char* pad_name, int what,
           GstPadProbeCallback callback, Count& count) {
  const auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(element.get(), pad_name));
  gst_pad_add_probe(pad.get(), static_cast<GstPadProbeType>(what), callback, &count, nullptr);
}

// Of a stream with as many pictures as packets.
Count play(const std::string& from, const std::string& decoder) {
  Count count;
  const auto pipeline = launch(from + " ! " + decoder + " name=dec ! fakesink sync=false");
  const auto dec = child(pipeline, "dec");
  watch(dec, "sink", GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        packet_comes, count);
  watch(dec, "src", GST_PAD_PROBE_TYPE_BUFFER, picture_leaves, count);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  expect_end_of_stream(pipeline);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return count;
}

constexpr int kPictures = 40;

std::string stream(const std::string& name, const std::string& encoder) {
  return clip(name, encoder, "64x64", kPictures);
}

void expect_delay(const std::string& from, const std::string& decoder, int pictures) {
  for (const char* device : {"software", "/dev/dri/renderD255"}) {
    const Count count = play(from, decoder + " device=" + device);
    fail_unless_equals_int(count.in, kPictures);
    fail_unless_equals_int(count.out, kPictures);
    fail_unless(count.longest == pictures, "%s, device %s: %d pictures behind, wanted %d",
                decoder.c_str(), device, count.longest, pictures);
  }
}

constexpr const char* kLow = "dxvadec low-latency=true";

// Pictures of one kind, and nothing about their order in the headers (x264 leaves it out where
// it has no need to say): any decoder must expect the deepest reordering that the level allows.
std::string untold() {
  return source(stream("untold.h264", "-c:v libx264 -g 1 -threads 1"));
}

}  // namespace

GST_START_TEST(low_latency_waits_for_nothing_where_nothing_is_told) {
  expect_delay(untold(), kLow, 0);
}
GST_END_TEST

// H.264 A.3.1, E.2.1: as many as the level's buffer holds, at most 16.
GST_START_TEST(by_default_the_reordering_that_could_come_is_waited_for) {
  const Count count = play(untold(), "dxvadec device=software");
  fail_unless(count.longest >= 14, "%d", count.longest);
}
GST_END_TEST

GST_START_TEST(pictures_leave_as_early_as_the_stream_allows) {
  const struct {
    const char* name;
    const char* encoder;
    const char* parser;
    int reordered;  // pictures that come before one that is shown before them
  } streams[] = {
      {"in-order.h264", "-c:v libx264 -bf 0 -threads 1", "h264parse", 0},
      {"two-ahead.h264",
       "-c:v libx264 -bf 3 -x264-params b-pyramid=normal:b-adapt=0 -threads 1", "h264parse", 2},
      {"one-ahead.h264", "-c:v libx264 -bf 1 -x264-params b-pyramid=none:b-adapt=0 -threads 1",
       "h264parse", 1},
      {"in-order.h265", "-c:v libx265 -x265-params bframes=0:log-level=none:pools=1",
       "h265parse", 0},
      {"one-ahead.m2v", "-c:v mpeg2video -bf 2", "mpegvideoparse", 1},
      {"in-order8.mkv", "-c:v libvpx -deadline realtime -cpu-used 8", "identity", 0},
      {"in-order9.mkv", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -lag-in-frames 0",
       "vp9parse", 0},
      {"in-order1.mkv", "-c:v libaom-av1 -usage realtime -cpu-used 8 -lag-in-frames 0",
       "av1parse", 0},
  };
  for (const auto& one : streams) {
    std::printf("# %s\n", one.name);
    expect_delay(source(stream(one.name, one.encoder), one.parser), kLow, one.reordered);
  }
}
GST_END_TEST

GST_START_TEST(low_latency_loses_nothing_of_streams_that_tell_their_depth) {
  for (const char* encoder :
       {"-c:v libx264 -bf 0 -threads 1", "-c:v libx264 -bf 3 -threads 1"}) {
    const std::string name =
        std::string("told-") +
        (std::string(encoder).find("-bf 3") == std::string::npos ? "0" : "3");
    const std::string from = source(stream(name + ".h264", encoder));
    expect_same(decode(from, kLow).pictures, decode(from, "avdec_h264").pictures);
  }
}
GST_END_TEST

static Suite* dxvadec_latency_suite() {
  Suite* suite = suite_create("dxvadec_latency");
  TCase* cases = tcase_create("latency");
  tcase_set_timeout(cases, 120);
  tcase_add_test(cases, low_latency_waits_for_nothing_where_nothing_is_told);
  tcase_add_test(cases, by_default_the_reordering_that_could_come_is_waited_for);
  tcase_add_test(cases, pictures_leave_as_early_as_the_stream_allows);
  tcase_add_test(cases, low_latency_loses_nothing_of_streams_that_tell_their_depth);
  suite_add_tcase(suite, cases);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_latency_suite(), "dxvadec_latency", __FILE__);
}
