// SPDX-License-Identifier: LGPL-2.1-or-later
// dxvadec when things go wrong: no device, a driver that fails, streams that are broken. The
// pictures stay right, and the element says what happened.
#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <random>

#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

std::vector<Picture> reference() {
  return decode(source(h264_mp4()), "avdec_h264").pictures;
}

Decoded decode_with_fault(const char* fault, const Options& options = {},
                          const std::string& decoder = "dxvadec") {
  g_setenv("DXVASOFT_FAULT", fault, TRUE);
  return decode(source(h264_mp4()), decoder, options);
}

void expect_all_right(const Decoded& out) {
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, reference());
}

void without_a_driver() {
  g_setenv("LIBVA_DRIVERS_PATH", make_folder("no-driver").c_str(), TRUE);
}

}  // namespace

// --- no device

GST_START_TEST(without_a_driver_everything_is_decoded_in_software) {
  without_a_driver();
  const Decoded out = decode(source(h264_mp4()), "dxvadec");
  expect_all_right(out);
  fail_unless_equals_uint64(out.step("software"), 60);
  fail_unless_equals_uint64(out.reason("no-device"), 60);
  fail_unless_equals_string(gst_structure_get_string(out.stats.get(), "device"), "none");
  fail_unless_equals_uint64(out.stat("errors"), 0);
}
GST_END_TEST

GST_START_TEST(software_pictures_take_the_form_that_downstream_wants) {
  without_a_driver();
  for (const char* caps : {"video/x-raw,format=NV12", "video/x-raw,format=I420"}) {
    const Decoded out = decode(source(h264_mp4()), "dxvadec", {.sink_caps = caps});
    expect_all_right(out);
  }
}
GST_END_TEST

namespace {

// What the bus has when a dxvadec of this device is READY.
std::vector<std::string> warnings_at_ready(const char* device) {
  GstElement* dec = gst_element_factory_make("dxvadec", nullptr);
  auto bus = GstPtr<GstBus>::adopt(gst_bus_new());
  gst_element_set_bus(dec, bus.get());
  g_object_set(dec, "device", device, nullptr);
  fail_unless_equals_int(gst_element_set_state(dec, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  std::vector<std::string> out;
  while (GstMessage* raw = gst_bus_pop_filtered(bus.get(), GST_MESSAGE_WARNING)) {
    const auto message = GstPtr<GstMessage>::adopt(raw);
    GError* warning = nullptr;
    gst_message_parse_warning(raw, &warning, nullptr);
    out.emplace_back(warning->message);
    g_error_free(warning);
  }
  gst_element_set_state(dec, GST_STATE_NULL);
  gst_object_unref(dec);
  return out;
}

}  // namespace

GST_START_TEST(a_named_device_that_does_not_start_is_one_warning) {
  fail_unless(warnings_at_ready("software").empty());
  const auto warnings = warnings_at_ready("/dev/dri/renderD999");
  fail_unless_equals_int(warnings.size(), 1);
  fail_unless(warnings[0].find("/dev/dri/renderD999 does not start") != std::string::npos, "%s",
              warnings[0].c_str());
  fail_unless(warnings[0].find(g_strerror(ENOENT)) != std::string::npos, "%s",
              warnings[0].c_str());
  without_a_driver();
  fail_unless_equals_int(warnings_at_ready("software").size(), 1);
  fail_unless(warnings_at_ready("auto").empty());
}
GST_END_TEST

GST_START_TEST(without_fallback_a_missing_driver_is_an_error_at_ready) {
  without_a_driver();
  GstElement* dec = gst_element_factory_make("dxvadec", nullptr);
  g_object_set(dec, "software-fallback", FALSE, nullptr);
  fail_unless_equals_int(gst_element_set_state(dec, GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  gst_element_set_state(dec, GST_STATE_NULL);
  gst_object_unref(dec);
}
GST_END_TEST

GST_START_TEST(without_fallback_a_stream_the_device_lacks_is_an_error) {
  const std::string from =
      source(clip("444.mp4", "-pix_fmt yuv444p -c:v libx264 -threads 1", "352x286", 10));
  const Decoded out = decode(from, "dxvadec software-fallback=false");
  for (const char* part : {"profile-unsupported", "h264, profile", "4:4:4", "dxvasoft",
                           "software-fallback is off"})
    fail_unless(out.error.find(part) != std::string::npos, "no %s: %s", part,
                out.error.c_str());
  fail_unless(out.pictures.empty());
}
GST_END_TEST

// Refused caps are "not-negotiated" of whoever sent them, a refused link "not-linked".
GST_START_TEST(without_fallback_a_codec_the_device_lacks_is_an_error_that_names_both) {
  // A driver with fewer codecs than the bundled one.
  const char* fake = g_getenv("DXVA_FAKE_DRIVER");
  fail_unless(fake != nullptr);
  g_setenv("LIBVA_DRIVERS_PATH", fake, TRUE);
  const std::string file = clip("clip.m2v", "-c:v mpeg2video -threads 1", "352x286", 10);
  for (const char* parser : {"mpegvideoparse", "typefind ! mpegvideoparse"}) {
    const Decoded out = decode(source(file, parser), "dxvadec software-fallback=false");
    for (const char* part : {"mpeg2", "fake", "software-fallback is off"})
      fail_unless(out.error.find(part) != std::string::npos, "no %s: %s", part,
                  out.error.c_str());
  }
}
GST_END_TEST

GST_START_TEST(without_fallback_only_the_devices_codecs_are_accepted) {
  GstElement* dec = gst_element_factory_make("dxvadec", nullptr);
  auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(dec, "sink"));
  const auto accepts = [&pad](const char* text) {
    auto caps = GstPtr<GstCaps>::adopt(gst_caps_from_string(text));
    return gst_pad_query_accept_caps(pad.get(), caps.get()) != FALSE;
  };
  const char* h264 =
      "video/x-h264,stream-format=avc,alignment=au,width=64,height=64,framerate=25/1";
  const char* vp8 = "video/x-vp8,width=64,height=64,framerate=25/1";
  for (const bool fallback : {true, false}) {
    g_object_set(dec, "software-fallback", gboolean{fallback}, nullptr);
    fail_unless_equals_int(gst_element_set_state(dec, GST_STATE_READY),
                           GST_STATE_CHANGE_SUCCESS);
    fail_unless(accepts(h264));
    if (fallback) fail_unless(accepts(vp8));  // else as the device says
    fail_if(accepts("video/x-theora"));
    gst_element_set_state(dec, GST_STATE_NULL);
  }
  gst_object_unref(dec);
}
GST_END_TEST

GST_START_TEST(a_format_that_downstream_lacks_is_an_error_with_both_names) {
  const std::string from =
      source(clip("422-10.mp4", "-pix_fmt yuv422p10le -c:v libx264 -threads 1", "352x286", 5));
  for (const char* caps : {"video/x-raw,format={NV12,I420,P010_10LE}",
                           "video/x-raw(memory:DMABuf),format={NV12,I420,P010_10LE}"}) {
    const Decoded out = decode(from, "dxvadec", {.sink_caps = caps});
    fail_unless(out.error.find("are I422_10LE, 352x286") != std::string::npos, "%s",
                out.error.c_str());
    fail_unless(out.error.find("takes NV12, I420, P010_10LE.") != std::string::npos, "%s",
                out.error.c_str());
    fail_unless(out.pictures.empty());
  }
  fail_unless_equals_int(decode(from, "dxvadec").pictures.size(), 5);
}
GST_END_TEST

// Of a byte stream: demuxers that know the size are told of downstream's, and are not linked.
GST_START_TEST(a_size_that_downstream_lacks_is_an_error_that_names_it) {
  const std::string from = source(h264_byte_stream());
  const struct {
    const char* caps;
    const char* text;
  } cases[] = {
      {"video/x-raw,format=NV12,width=64,height=[16,64]",
       "NV12 with width=64, height=[ 16, 64 ]."},
      {"video/x-raw,format={RGBA,I420},width=64", "I420 with width=64."},
      {"video/x-raw,format=RGBA;video/x-raw,format=NV12,framerate=30/1",
       "NV12 with framerate=30/1."},
      {"video/x-raw(memory:DMABuf),format=NV12,width=64", "NV12 in dma-bufs with width=64."},
  };
  for (const auto& one : cases) {
    const Decoded out = decode(from, "dxvadec", {.sink_caps = one.caps});
    fail_unless(out.error.find("they are NV12, 352x286, and it takes " +
                               std::string(one.text)) != std::string::npos,
                "%s: %s", one.caps, out.error.c_str());
  }
}
GST_END_TEST

namespace {

struct Told {
  std::mutex lock;
  std::condition_variable end_seen;
  bool ended = false;
  std::vector<std::string> errors;  // of dxvadec
};

GstBusSyncReply note_error(GstBus*, GstMessage* message, gpointer user) {
  auto& told = *static_cast<Told*>(user);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR &&
      g_strcmp0(GST_OBJECT_NAME(GST_MESSAGE_SRC(message)), "dec") == 0) {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    const std::lock_guard guard(told.lock);
    told.errors.emplace_back(error->message);
    g_error_free(error);
  }
  return GST_BUS_PASS;
}

GstPadProbeReturn note_end(GstPad*, GstPadProbeInfo* info, gpointer user) {
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) != GST_EVENT_EOS) return GST_PAD_PROBE_OK;
  auto& told = *static_cast<Told*>(user);
  const std::lock_guard guard(told.lock);
  told.ended = true;
  told.end_seen.notify_all();
  return GST_PAD_PROBE_OK;
}

// What dxvadec says on the bus until the end of the stream has gone through it, which whoever
// pushed the packets sends behind an error.
std::vector<std::string> errors_to_the_end(const std::string& from, const std::string& decoder,
                                           const std::string& sink_caps) {
  Told told;
  const auto pipeline = launch(from + " ! " + decoder + " name=dec ! capsfilter caps=\"" +
                               sink_caps + "\" ! fakesink async=false");
  const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline.get()));
  gst_bus_set_sync_handler(bus.get(), note_error, &told, nullptr);
  const auto pad =
      GstPtr<GstPad>::adopt(gst_element_get_static_pad(child(pipeline, "dec").get(), "sink"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note_end, &told, nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  {
    std::unique_lock guard(told.lock);
    told.end_seen.wait(guard, [&told] { return told.ended; });
  }
  // Waits for the streaming thread, which is in the probe.
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return told.errors;
}

}  // namespace

GST_START_TEST(what_ends_a_stream_is_told_once) {
  const std::string h264 = source(h264_byte_stream());
  const std::string deep =
      source(clip("422-10.mp4", "-pix_fmt yuv422p10le -c:v libx264 -threads 1", "352x286", 5));
  const struct {
    std::string from;
    const char* decoder;
    const char* caps;
    const char* text;
  } cases[] = {
      {h264, "dxvadec", "video/x-raw,format=NV12,width=64", "with width=64"},
      {deep, "dxvadec", "video/x-raw,format={NV12,I420}", "are I422_10LE"},
      {h264, "dxvadec zero-copy=require", "video/x-raw,format=NV12", "zero-copy is require"},
      {deep, "dxvadec software-fallback=false", "video/x-raw", "software-fallback is off"},
  };
  for (const auto& one : cases) {
    const auto errors = errors_to_the_end(one.from, one.decoder, one.caps);
    for (const std::string& error : errors) std::printf("# %s\n", error.c_str());
    fail_unless_equals_int(errors.size(), 1);
    fail_unless(errors[0].find(one.text) != std::string::npos, "no %s", one.text);
  }
}
GST_END_TEST

// Larger than what the driver says it takes.
GST_START_TEST(a_size_that_the_device_lacks_is_that_and_no_profile) {
  const std::string from =
      source(clip("wide.mkv", "-c:v mjpeg -pix_fmt yuvj420p", "8208x16", 3), "jpegparse");
  const Decoded out = decode(from, "dxvadec");
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, decode(from, "avdec_mjpeg").pictures);
  fail_unless_equals_uint64(out.reason("size-out-of-range"), 3);
  const Decoded strict = decode(from, "dxvadec software-fallback=false");
  for (const char* part : {"size-out-of-range", "8208x16", "software-fallback is off"})
    fail_unless(strict.error.find(part) != std::string::npos, "no %s: %s", part,
                strict.error.c_str());
}
GST_END_TEST

// --- a driver that fails

GST_START_TEST(a_context_that_cannot_be_made_means_software) {
  const Decoded out = decode_with_fault("createcontext:from=1");
  expect_all_right(out);
  fail_unless_equals_uint64(out.step("software"), 60);
}
GST_END_TEST

GST_START_TEST(a_device_lost_in_the_middle_costs_no_picture) {
  for (const char* fault : {"endpicture:from=40", "endpicture:at=1", "endpicture:at=20",
                            "endpicture:at=21", "endpicture:at=33", "beginpicture:from=50"}) {
    std::printf("# %s\n", fault);
    for (const char* caps : {"", kDmabufNv12}) {
      if (*caps) {
        // Surfaces first, then system memory under the caps that such a consumer has too.
        const Decoded out = decode_with_fault(
            fault,
            {.sink_caps = std::string(kDmabufNv12) + ";video/x-raw", .video_meta = true});
        expect_all_right(out);
        continue;
      }
      const Decoded out = decode_with_fault(fault);
      expect_all_right(out);
      fail_unless(out.step("software") > 0);
      fail_unless(out.reason("decode-errors") > 0);
      if (out.step("cpu-copy") == 0) continue;
      fail_unless_equals_int(out.path_changes.size(), 1);
      fail_unless_equals_string(out.path_changes[0].c_str(),
                                "cpu-copy>software: decode-errors");
    }
  }
}
GST_END_TEST

// A buffer for each part of a picture, whichever it is. libavcodec goes on without a slice of
// H.264 that got none, and says nothing.
GST_START_TEST(a_buffer_that_is_not_made_costs_no_picture) {
  const std::string from =
      source(clip("slices.mp4", "-c:v libx264 -g 20 -bf 2 -slices 4 -threads 1"));
  const auto wanted = decode(from, "avdec_h264").pictures;
  // Two of parameters and two for each slice make a picture.
  for (int at = 101; at <= 110; ++at) {
    const std::string fault = "createbuffer:at=" + std::to_string(at);
    std::printf("# %s\n", fault.c_str());
    g_setenv("DXVASOFT_FAULT", fault.c_str(), TRUE);
    const Decoded out = decode(from, "dxvadec");
    fail_unless(out.error.empty(), "%s", out.error.c_str());
    expect_same(out.pictures, wanted);
    fail_unless_equals_int(out.path_changes.size(), 1);
    fail_unless_equals_string(out.path_changes[0].c_str(), "cpu-copy>software: decode-errors");
    const Decoded strict = decode(from, "dxvadec software-fallback=false");
    fail_unless(strict.error.find("decode-errors") != std::string::npos, "%s",
                strict.error.c_str());
  }
}
GST_END_TEST

GST_START_TEST(a_buffer_that_is_not_made_costs_no_picture_of_any_codec) {
  for (const CodecClip& codec : codec_clips()) {
    const std::string from = codec.source();
    const auto wanted = decode(from, codec.reference).pictures;
    for (int at = 21; at <= 25; ++at) {
      const std::string fault = "createbuffer:at=" + std::to_string(at);
      std::printf("# %s %s\n", codec.file, fault.c_str());
      g_setenv("DXVASOFT_FAULT", fault.c_str(), TRUE);
      const Decoded out = decode(from, "dxvadec");
      fail_unless(out.error.empty(), "%s", out.error.c_str());
      expect_same(out.pictures, wanted);
      fail_unless(out.reason("decode-errors") > 0);
    }
  }
}
GST_END_TEST

// Pictures before a sync point in output order refer to the group before it.
GST_START_TEST(a_device_lost_behind_an_open_group_costs_no_picture) {
  const std::string from = source(
      clip("open.mp4", "-c:v libx264 -threads 1 -bf 3 -x264-params open-gop=1:keyint=15"));
  const auto wanted = decode(from, "avdec_h264").pictures;
  for (int at = 14; at < 22; ++at) {
    g_setenv("DXVASOFT_FAULT", ("endpicture:at=" + std::to_string(at)).c_str(), TRUE);
    const Decoded out = decode(from, "dxvadec");
    fail_unless(out.error.empty(), "%s", out.error.c_str());
    expect_same(out.pictures, wanted);
  }
}
GST_END_TEST

GST_START_TEST(without_fallback_a_lost_device_is_an_error) {
  const Decoded out =
      decode_with_fault("endpicture:from=40", {}, "dxvadec software-fallback=false");
  fail_unless(out.error.find("software-fallback is off") != std::string::npos, "%s",
              out.error.c_str());
}
GST_END_TEST

GST_START_TEST(a_surface_that_cannot_be_read_is_decoded_again) {
  for (const char* fault :
       {"sync:at=1", "sync:every=9", "sync:at=119", "deriveimage:from=1,getimage:from=1",
        "mapbuffer:from=30,getimage:from=1"}) {
    std::printf("# %s\n", fault);
    expect_all_right(decode_with_fault(fault));
  }
}
GST_END_TEST

namespace {

// Closed groups of 25.
std::string long_clip() {
  return clip("long.mp4", "-c:v libx264 -preset ultrafast -g 25 -threads 1", "64x64", 700);
}

}  // namespace

// 250 packets after a failure, at the next picture that needs nothing from before it.
GST_START_TEST(a_device_that_failed_once_is_used_again_later) {
  const std::string from = source(long_clip());
  const auto wanted = decode(from, "avdec_h264").pictures;
  const Options options{.sink_caps = std::string(kDmabufNv12) + ";video/x-raw",
                        .video_meta = true};
  for (const char* fault : {"endpicture:at=40", "sync:at=40"}) {
    std::printf("# %s\n", fault);
    g_setenv("DXVASOFT_FAULT", fault, TRUE);
    const Decoded out = decode(from, "dxvadec", options);
    fail_unless(out.error.empty(), "%s", out.error.c_str());
    expect_same(out.pictures, wanted);
    fail_unless(out.pictures.back().dmabuf);
    fail_unless(out.step("software") >= 250 && out.step("software") < 330);
    fail_unless_equals_uint64(out.step("exported"), 700 - out.step("software"));
    // There and back, and no more.
    fail_unless_equals_int(out.path_changes.size(), 2);
    fail_unless_equals_string(out.path_changes[1].c_str(), "software>exported: none");
  }
}
GST_END_TEST

GST_START_TEST(a_device_that_goes_on_failing_is_tried_ever_more_seldom) {
  const std::string from = source(long_clip());
  const auto wanted = decode(from, "avdec_h264").pictures;
  const std::string log = new_driver_log();
  g_setenv("DXVASOFT_FAULT", "endpicture:from=40", TRUE);
  const Decoded out =
      decode(from, "dxvadec",
             {.sink_caps = std::string(kDmabufNv12) + ";video/x-raw", .video_meta = true});
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, wanted);
  fail_unless_equals_int(out.path_changes.size(), 1);
  // Once more after 250 packets, and then not before another 500.
  fail_unless_equals_int(count_driver_calls(log, "endpicture"), 41);
}
GST_END_TEST

GST_START_TEST(other_caps_give_a_failed_device_another_chance) {
  const auto wanted = decode(source(h264_two_sizes()), "avdec_h264").pictures;
  fail_unless_equals_int(wanted.size(), 20);
  g_setenv("DXVASOFT_FAULT", "endpicture:at=5", TRUE);
  const Decoded out = decode(source(h264_two_sizes()), "dxvadec");
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, wanted);
  // All ten of the second size, and what came out before the failure.
  fail_unless(out.step("software") > 0 && out.step("cpu-copy") > 10);
}
GST_END_TEST

GST_START_TEST(a_failed_export_is_one_copy_that_is_a_dma_buf_too) {
  const Decoded out =
      decode_with_fault("export:every=3", {.sink_caps = kDmabufNv12, .video_meta = true});
  expect_all_right(out);
  fail_unless(out.step("exported") > 0);
  fail_unless(out.step("cpu-copy") > 0);
  fail_unless_equals_uint64(out.reason("export-failed"), out.step("cpu-copy"));
  for (const Picture& picture : out.pictures) fail_unless(picture.dmabuf);
  fail_unless_equals_int(out.caps.size(), 1);
}
GST_END_TEST

GST_START_TEST(a_driver_that_exports_nothing_gets_system_caps) {
  const Decoded out = decode_with_fault(
      "export:from=1",
      {.sink_caps = std::string(kDmabufNv12) + ";video/x-raw", .video_meta = true});
  expect_all_right(out);
  fail_unless_equals_uint64(out.step("cpu-copy"), 60);
  fail_unless_equals_uint64(out.reason("export-failed"), 60);
  fail_unless_equals_int(out.caps.size(), 1);
}
GST_END_TEST

GST_START_TEST(after_a_failed_first_export_dma_bufs_are_tried_again) {
  const Decoded out = decode_with_fault(
      "export:at=1",
      {.sink_caps = std::string(kDmabufNv12) + ";video/x-raw", .video_meta = true});
  expect_all_right(out);
  fail_if(out.pictures.front().dmabuf);
  fail_unless(out.pictures.back().dmabuf);
  fail_unless_equals_int(out.caps.size(), 2);
}
GST_END_TEST

GST_START_TEST(surfaces_that_cannot_be_made_mean_software) {
  const Decoded out = decode_with_fault("createsurfaces:from=1");
  expect_all_right(out);
  fail_unless_equals_uint64(out.step("software"), 60);
}
GST_END_TEST

// --- broken streams

// No picture is promised; no crash, no hang, no critical, and an end.
GST_START_TEST(broken_streams_come_to_an_end) {
  char* data = nullptr;
  gsize size = 0;
  fail_unless(g_file_get_contents(h264_byte_stream().c_str(), &data, &size, nullptr));
  const std::string file = make_folder("broken") + "/broken.h264";
  for (unsigned seed = 1; seed <= 6; ++seed) {
    std::mt19937 random(seed);
    std::string broken(data, size);
    // The first bytes stay, or the parser finds no stream at all.
    const unsigned holes = seed * 15;
    for (unsigned i = 0; i < holes; ++i)
      broken[1000 + random() % (size - 1000)] = static_cast<char>(random());
    if (seed % 2 == 0) broken.erase(size / 2, 3000);
    fail_unless(g_file_set_contents(file.c_str(), broken.data(),
                                    static_cast<gssize>(broken.size()), nullptr));
    for (const char* caps : {"", kDmabufNv12}) {
      const Decoded out = decode(source(file), "dxvadec", {.sink_caps = caps});
      fail_unless(out.error.empty(), "%s", out.error.c_str());
      fail_unless(out.pictures.size() > 10);
    }
  }
  g_free(data);
}
GST_END_TEST

GST_START_TEST(noise_is_no_stream_and_no_crash) {
  std::mt19937 random(7);
  std::string noise(60000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  // Start codes, so that something comes through the parser.
  for (size_t at = 0; at + 5 < noise.size(); at += 500) noise.replace(at, 4, "\0\0\0\1", 4);
  const std::string file = make_folder("broken") + "/noise.h264";
  fail_unless(g_file_set_contents(file.c_str(), noise.data(), static_cast<gssize>(noise.size()),
                                  nullptr));
  (void)decode(source(file), "dxvadec");
}
GST_END_TEST

// --- life

GST_START_TEST(playing_again_and_again_leaks_no_descriptor) {
  const Options options{.sink_caps = kDmabufNv12, .video_meta = true};
  const std::string from = source(clip("short.mp4", "-c:v libx264 -threads 1", "64x64", 4));
  size_t before = 0;
  for (int i = 0; i < 100; ++i) {
    fail_unless_equals_int(decode(from, "dxvadec", options).pictures.size(), 4);
    if (i == 9) before = count_open_descriptors();
  }
  fail_unless_equals_int(count_open_descriptors(), before);
}
GST_END_TEST

static int warnings;
static void count_warnings(GstDebugCategory*, GstDebugLevel level, const gchar*, const gchar*,
                           gint, GObject*, GstDebugMessage* message, gpointer) {
  if (level > GST_LEVEL_WARNING || level == GST_LEVEL_NONE) return;
  std::printf("# %s\n", gst_debug_message_get(message));
  ++warnings;
}

GST_START_TEST(a_normal_run_warns_of_nothing) {
  const std::string from = source(h264_mp4());
  gst_debug_remove_log_function(gst_debug_log_default);
  for (const char* name : {"dxvadec", "dxva-base", "dxva-session", "dxva-va", "dxva-cuda", "dxva-dmabuf",
                           "dxva-decode", "libav", "videodecoder"})
    gst_debug_set_threshold_for_name(name, GST_LEVEL_WARNING);
  gst_debug_add_log_function(count_warnings, nullptr, nullptr);
  fail_unless(decode(from, "dxvadec").error.empty());
  fail_unless(decode(from, "dxvadec", {.sink_caps = kDmabufNv12}).error.empty());
  without_a_driver();
  fail_unless(decode(from, "dxvadec device=auto").error.empty());
  gst_debug_remove_log_function(count_warnings);
  fail_unless_equals_int(warnings, 0);
}
GST_END_TEST

static Suite* dxvadec_faults_suite() {
  Suite* suite = suite_create("dxvadec_faults");
  TCase* device = tcase_create("no device");
  tcase_set_timeout(device, 120);
  tcase_add_test(device, without_a_driver_everything_is_decoded_in_software);
  tcase_add_test(device, a_named_device_that_does_not_start_is_one_warning);
  tcase_add_test(device, software_pictures_take_the_form_that_downstream_wants);
  tcase_add_test(device, without_fallback_a_missing_driver_is_an_error_at_ready);
  tcase_add_test(device, without_fallback_a_stream_the_device_lacks_is_an_error);
  tcase_add_test(device, without_fallback_a_codec_the_device_lacks_is_an_error_that_names_both);
  tcase_add_test(device, without_fallback_only_the_devices_codecs_are_accepted);
  tcase_add_test(device, a_format_that_downstream_lacks_is_an_error_with_both_names);
  tcase_add_test(device, a_size_that_downstream_lacks_is_an_error_that_names_it);
  tcase_add_test(device, what_ends_a_stream_is_told_once);
  tcase_add_test(device, a_size_that_the_device_lacks_is_that_and_no_profile);
  suite_add_tcase(suite, device);
  TCase* driver = tcase_create("failing driver");
  tcase_set_timeout(driver, 180);
  tcase_add_test(driver, a_context_that_cannot_be_made_means_software);
  tcase_add_test(driver, a_device_lost_in_the_middle_costs_no_picture);
  tcase_add_test(driver, a_buffer_that_is_not_made_costs_no_picture);
  tcase_add_test(driver, a_buffer_that_is_not_made_costs_no_picture_of_any_codec);
  tcase_add_test(driver, a_device_lost_behind_an_open_group_costs_no_picture);
  tcase_add_test(driver, without_fallback_a_lost_device_is_an_error);
  tcase_add_test(driver, a_surface_that_cannot_be_read_is_decoded_again);
  tcase_add_test(driver, a_device_that_failed_once_is_used_again_later);
  tcase_add_test(driver, a_device_that_goes_on_failing_is_tried_ever_more_seldom);
  tcase_add_test(driver, other_caps_give_a_failed_device_another_chance);
  tcase_add_test(driver, a_failed_export_is_one_copy_that_is_a_dma_buf_too);
  tcase_add_test(driver, a_driver_that_exports_nothing_gets_system_caps);
  tcase_add_test(driver, after_a_failed_first_export_dma_bufs_are_tried_again);
  tcase_add_test(driver, surfaces_that_cannot_be_made_mean_software);
  suite_add_tcase(suite, driver);
  TCase* streams = tcase_create("broken streams");
  tcase_set_timeout(streams, 180);
  tcase_add_test(streams, broken_streams_come_to_an_end);
  tcase_add_test(streams, noise_is_no_stream_and_no_crash);
  suite_add_tcase(suite, streams);
  TCase* life = tcase_create("life");
  tcase_set_timeout(life, 180);
  tcase_add_test(life, playing_again_and_again_leaks_no_descriptor);
  tcase_add_test(life, a_normal_run_warns_of_nothing);
  suite_add_tcase(suite, life);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_faults_suite(), "dxvadec_faults", __FILE__);
}
