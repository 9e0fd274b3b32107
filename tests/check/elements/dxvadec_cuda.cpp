// SPDX-License-Identifier: LGPL-2.1-or-later
// dxvadec on NVDEC, with stand-ins for NVIDIA's libraries (support/fakecuda): VP8 and VP9 are
// really decoded by them, so every picture is compared; what the driver may refuse is refused.

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "gst/common/gl_device_context.hpp"
#include "gst/common/opaque_memory.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;

namespace {

constexpr const char* kOpaque = "video/x-raw(memory:OpaqueFd)";
const std::string kOpaqueOrSystem = std::string(kOpaque) + ";video/x-raw";
constexpr const char* kDecoder = "dxvadec device=cuda";

struct Stream {
  const char* name;
  std::string source;
  const char* software;
};

std::string vpx_source(const std::string& name, const std::string& encoder,
                       const std::string& size = "176x144", int pictures = 20,
                       const char* parser = "vp9parse") {
  return source(
      clip("cuda-" + name + ".mkv", "-c:v " + encoder + " -deadline realtime -cpu-used 8 -g 20",
           size, pictures),
      parser);
}
std::string jpeg_source(const std::string& name, const std::string& size,
                        const std::string& options = "") {
  return source(clip("cuda-" + name + ".mkv",
                     "-c:v mjpeg -qscale:v 3 -pix_fmt yuvj420p " + options, size, 10),
                "jpegparse");
}
std::string vp9_clip() {
  return vpx_source("vp9", "libvpx-vp9", "176x144", 60);
}
std::vector<Stream> streams() {
  return {
      {"VP9", vp9_clip(), "avdec_vp9"},
      {"VP9, odd", vpx_source("131x97", "libvpx-vp9 -vf scale=131:97", "132x98"), "avdec_vp9"},
      {"VP9, 10 bits", vpx_source("ten", "libvpx-vp9 -pix_fmt yuv420p10le -profile:v 2"),
       "avdec_vp9"},
      {"VP8", vpx_source("vp8", "libvpx", "176x144", 20, "identity"), "avdec_vp8"},
      {"VP8, odd",
       vpx_source("vp8-131x97", "libvpx -vf scale=131:97", "132x98", 20, "identity"),
       "avdec_vp8"},
      {"VP9, odd, 10 bits",
       vpx_source("ten-131x97", "libvpx-vp9 -pix_fmt yuv420p10le -profile:v 2 -vf scale=131:97",
                  "132x98"),
       "avdec_vp9"},
      {"JPEG", jpeg_source("jpeg", "176x144"), "avdec_mjpeg"},
      {"JPEG, odd", jpeg_source("jpeg-131x97", "132x98", "-vf scale=131:97"), "avdec_mjpeg"},
  };
}

const std::vector<Picture>& vp9_reference() {
  static const auto all = decode(vp9_clip(), "avdec_vp9").pictures;
  return all;
}

void set_fault(const char* words) {
  if (words)
    g_setenv("DXVA_FAKE_CUDA", words, TRUE);
  else
    g_unsetenv("DXVA_FAKE_CUDA");
}

Decoded decode_opaque(const std::string& from, const std::string& decoder = kDecoder) {
  return decode(from, decoder, {.sink_caps = kOpaqueOrSystem, .video_meta = true});
}

// Of the stand-in: 0 also where nothing has loaded it.
int live(const char* what) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!library) return 0;
  const auto count = reinterpret_cast<int (*)(const char*)>(dlsym(library, "fake_cuda_live"));
  const int out = count ? count(what) : -1;
  dlclose(library);
  return out;
}

void expect_right(const Decoded& out, const std::vector<Picture>& wanted) {
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, wanted);
}

void play_to_end(const dxva::gst::GstPtr<GstElement>& pipeline) {
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  expect_end_of_stream(pipeline);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

// The device's UUID, as pictures in its memory say it.
dxva::DeviceUuids::Uuid uuid_of_device() {
  const Decoded out = decode_opaque(vp9_clip());
  const auto caps =
      dxva::gst::GstPtr<GstCaps>::adopt(gst_caps_from_string(out.caps.front().c_str()));
  const auto uuids = dxva::gst::uuids_of(gst_caps_get_structure(caps.get(), 0));
  fail_unless(uuids.has_value());
  return uuids->device;
}

// All right, the first from the device (which leave by `step`), the rest from software for
// `reason`.
void expect_software_after(const char* fault, const char* reason, const std::string& sink_caps,
                           const char* step) {
  std::printf("# %s\n", fault);
  set_fault(fault);
  const Decoded out =
      decode(vp9_clip(), kDecoder, {.sink_caps = sink_caps, .video_meta = true});
  set_fault(nullptr);
  expect_right(out, vp9_reference());
  fail_unless(out.step(step) > 0 && out.step("software") > 0);
  fail_unless_equals_uint64(out.step(step) + out.step("software"), vp9_reference().size());
  fail_unless_equals_uint64(out.reason(reason), out.step("software"));
}

}  // namespace

GST_START_TEST(pictures_leave_in_the_devices_memory_and_are_right) {
  for (const Stream& stream : streams()) {
    std::printf("# %s\n", stream.name);
    const auto wanted = decode(stream.source, stream.software).pictures;
    fail_unless(!wanted.empty());
    size_t opaque = 0;
    const Decoded out = decode(
        stream.source, kDecoder,
        {.sink_caps = kOpaque, .video_meta = true, .at_sample = [&](GstSample* sample) {
           GstBuffer* buffer = gst_sample_get_buffer(sample);
           opaque += dxva::gst::opaque_identity(gst_buffer_peek_memory(buffer, 0)).has_value();
         }});
    expect_right(out, wanted);
    fail_unless_equals_uint64(out.step("exported"), wanted.size());
    fail_unless_equals_uint64(opaque, wanted.size());
  }
}
GST_END_TEST

// Also rearranged: then the samples are read one by one, and not by the device's copies.
GST_START_TEST(who_takes_system_memory_gets_one_copy) {
  for (const char* caps : {"video/x-raw,format=NV12", "video/x-raw,format=I420"}) {
    std::printf("# %s\n", caps);
    const Decoded out = decode(vp9_clip(), kDecoder, {.sink_caps = caps, .video_meta = true});
    expect_right(out, vp9_reference());
    fail_unless_equals_uint64(out.step("cpu-copy"), out.pictures.size());
    fail_unless_equals_uint64(out.reason("downstream-no-dmabuf"), out.pictures.size());
  }
}
GST_END_TEST

GST_START_TEST(another_gpus_opengl_gets_copies_and_the_reason) {
  const std::string other(32, '1');
  const Decoded out =
      decode(vp9_clip(), kDecoder,
             {.sink_caps = std::string(kOpaque) + ",device-uuid=(string)" + other +
                           ",driver-uuid=(string)" + other + ";video/x-raw",
              .video_meta = true});
  expect_right(out, vp9_reference());
  fail_unless_equals_uint64(out.step("cpu-copy"), out.pictures.size());
  fail_unless_equals_uint64(out.reason("uuid-mismatch"), out.pictures.size());
}
GST_END_TEST

// CUDA does not tell the driver's UUID, so the caps must have the reader's.
GST_START_TEST(the_reader_says_which_driver_it_is) {
  const std::string device = dxva::uuid_text(uuid_of_device());
  const std::string driver(32, '7');
  const Decoded out = decode(vp9_clip(), kDecoder,
                             {.sink_caps = std::string(kOpaque) + ",device-uuid=(string)" +
                                           device + ",driver-uuid=(string)" + driver,
                              .video_meta = true});
  expect_right(out, vp9_reference());
  fail_unless_equals_uint64(out.step("exported"), out.pictures.size());
  fail_unless(out.caps.front().find(driver) != std::string::npos, "%s",
              out.caps.front().c_str());
}
GST_END_TEST

GST_START_TEST(a_full_gate_copies_for_our_own_uploader) {
  const Decoded out = decode(
      vp9_clip(), "dxvadec device=cuda extra-surfaces=4",
      {.sink_caps = kOpaqueOrSystem, .video_meta = true, .mixed_memory = true, .keep = 12});
  expect_right(out, vp9_reference());
  fail_unless(out.step("exported") > 0 && out.step("cpu-copy") > 0);
  fail_unless_equals_int(out.caps.size(), 1);
  fail_unless_equals_uint64(out.stat("late-surfaces"), 0);
}
GST_END_TEST

GST_START_TEST(kept_buffers_stay_right_and_play_on) {
  const Decoded out =
      decode(vp9_clip(), kDecoder, {.sink_caps = kOpaque, .video_meta = true, .keep = 60});
  expect_right(out, vp9_reference());
  for (size_t i = 0; i < out.kept.size(); ++i)
    fail_unless(hash_of(gst_sample_get_buffer(out.kept[i].get()),
                        gst_sample_get_caps(out.kept[i].get())) == out.pictures[i].hash,
                "kept picture %zu changed", i);
}
GST_END_TEST

GST_START_TEST(pictures_are_right_after_seeks) {
  const auto plain = decode_opaque(vp9_clip());
  expect_right_after_seeks(kOpaque, plain.pictures, [](const Options& options) {
    return decode(vp9_clip(), kDecoder, options);
  });
}
GST_END_TEST

namespace {

// Of the stand-in's AV1: the picture has the size that the decoder was made for.
constexpr int kAv1Fits = 1;

// Each picture's luma, of codecs of which the stand-in gives pictures of one value.
Options telling_lumas(std::vector<int>& to) {
  Options options{.sink_caps = kOpaqueOrSystem, .video_meta = true};
  options.at_sample = [&to](GstSample* sample) {
    GstMapInfo map;
    fail_unless(gst_buffer_map(gst_sample_get_buffer(sample), &map, GST_MAP_READ));
    to.push_back(map.data[0]);
    gst_buffer_unmap(gst_sample_get_buffer(sample), &map);
  };
  return options;
}

std::vector<int> lumas_of(const std::string& from) {
  std::vector<int> out;
  const Decoded decoded = decode(from, kDecoder, telling_lumas(out));
  fail_unless(decoded.error.empty(), "%s", decoded.error.c_str());
  fail_unless_equals_uint64(decoded.step("software"), 0);
  return out;
}

}  // namespace

// The last pictures of a stream come all at once: each has its source until its copy is made.
GST_START_TEST(pictures_that_wait_for_their_turn_are_right) {
  const auto lumas = lumas_of(source(h264_mp4()));
  fail_unless_equals_int(lumas.size(), 60);
  // A group's pictures have the numbers from 0 on.
  for (size_t i = 1; i < lumas.size(); ++i)
    fail_unless(lumas[i] == lumas[i - 1] + 1 || lumas[i] == 0, "%d after %d", lumas[i],
                lumas[i - 1]);
}
GST_END_TEST

GST_START_TEST(another_size_in_the_middle_of_a_stream_is_taken) {
  const auto lumas = lumas_of(source(h264_two_sizes()));
  fail_unless_equals_int(lumas.size(), 20);
}
GST_END_TEST

// --- refusals

namespace {

// What the pipeline of `line` encodes, in Matroska; made once, and there whole or not at all.
std::string recorded(const char* name, const std::string& line) {
  const std::string folder = make_folder(name);
  const std::string path = folder + "/all.mkv";
  if (g_file_test(path.c_str(), G_FILE_TEST_EXISTS)) return path;
  const std::string part = folder + "/" + std::to_string(getpid()) + ".mkv";
  play_to_end(launch(line + " ! matroskamux ! filesink location=\"" + part + "\""));
  fail_unless(g_rename(part.c_str(), path.c_str()) == 0, "%s", g_strerror(errno));
  return path;
}

// VP9 that goes from 640x360 to 480x270 and 320x180, as libvpx does when a line is slow:
// without a key frame. Empty: there is no such encoder.
std::string vp9_that_shrinks() {
  if (!has_element("vp9enc")) return "";
  return source(
      recorded("cuda-shrinks",
               "videotestsrc pattern=snow num-buffers=100"
               " ! video/x-raw,format=I420,width=640,height=360,framerate=30/1"
               " ! vp9enc resize-allowed=true end-usage=cbr target-bitrate=60000 deadline=1 "
               "cpu-used=8"
               " keyframe-max-dist=1000 lag-in-frames=0 buffer-size=500 buffer-initial-size=300"
               " buffer-optimal-size=400"),
      "vp9parse");
}

}  // namespace

// NVDEC's decoder for the new size would have none of the pictures that the stream predicts
// from.
GST_START_TEST(vp9_that_changes_its_size_and_goes_on_predicting_goes_to_software) {
  const std::string from = vp9_that_shrinks();
  if (from.empty()) {
    std::printf("# SKIP there is no vp9enc\n");
    return;
  }
  const auto wanted = decode(from, "avdec_vp9").pictures;
  const Decoded out = decode_opaque(from);
  expect_right(out, wanted);
  fail_unless(out.step("exported") > 0 && out.step("software") > 0);
  fail_unless_equals_uint64(out.step("exported") + out.step("software"), wanted.size());
  fail_unless_equals_uint64(out.reason("size-out-of-range"), out.step("software"));
}
GST_END_TEST

namespace {

// AV1 whose pictures are of any size up to the sequence's, without key frames in between.
// Empty: there is no such encoder. Without quantisers av1enc is lossless, of which libaom 3.6
// cannot change the size.
std::string av1_of_many_sizes() {
  if (!has_element("av1enc") || !has_element("av1dec")) return "";
  return source(
      recorded(
          "cuda-many-sizes",
          "videotestsrc pattern=zone-plate kx2=20 ky2=20 kt=3 num-buffers=30"
          " ! video/x-raw,format=I420,width=320,height=180,framerate=25/1"
          " ! av1enc cpu-used=6 target-bitrate=300 min-quantizer=8 max-quantizer=56 threads=1"
          " resize-mode=random ! av1parse"),
      "av1parse");
}

}  // namespace

// NVDEC would stretch them to the sequence's size.
GST_START_TEST(av1_pictures_of_other_sizes_go_to_software) {
  const std::string from = av1_of_many_sizes();
  if (from.empty()) {
    std::printf("# SKIP there is no av1enc or no av1dec\n");
    return;
  }
  const auto wanted = decode(from, "av1dec").pictures;
  std::set<int> widths;
  for (const Picture& picture : wanted) widths.insert(picture.width);
  if (widths.size() < 2) {
    std::printf("# SKIP this av1enc keeps to one size\n");
    return;
  }
  std::vector<int> lumas;
  const Decoded out = decode(from, kDecoder, telling_lumas(lumas));
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  fail_unless_equals_int(out.pictures.size(), wanted.size());
  const uint64_t from_device = out.step("exported");
  fail_unless(from_device < wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    fail_unless_equals_int(out.pictures[i].width, wanted[i].width);
    fail_unless_equals_int(out.pictures[i].height, wanted[i].height);
    fail_unless(i < from_device ? lumas[i] == kAv1Fits : out.pictures[i] == wanted[i],
                "picture %zu differs", i);
  }
  fail_unless_equals_uint64(out.reason("size-out-of-range"), out.step("software"));
}
GST_END_TEST

// Within the same sizes rounded to even ones, and without other caps, as containers give them:
// the decoder for the size before would stretch the narrower pictures by a column.
GST_START_TEST(av1_that_becomes_a_column_narrower_has_another_decoder) {
  const std::string encoder = "-c:v libaom-av1 -cpu-used 8 -usage realtime -f obu ";
  const std::string path =
      joined("cuda-narrower.obu",
             {clip("cuda-176x144.obu", encoder, "176x144", 10),
              clip("cuda-175x144.obu", encoder + "-vf scale=175:144", "176x144", 10)});
  const auto lumas =
      lumas_of(source(path,
                      "video/x-av1 ! av1parse ! video/x-av1,alignment=tu"
                      " ! capssetter caps=\"video/x-av1,width=176,height=144\""));
  fail_unless_equals_int(lumas.size(), 20);
  for (const int luma : lumas) fail_unless_equals_int(luma, kAv1Fits);
}
GST_END_TEST

GST_START_TEST(without_a_device_software_decodes) {
  set_fault("no-device");
  const Decoded out = decode_opaque(vp9_clip());
  expect_right(out, vp9_reference());
  fail_unless_equals_uint64(out.step("software"), out.pictures.size());
  fail_unless_equals_uint64(out.reason("no-device"), out.pictures.size());
  const Decoded strict =
      decode_opaque(vp9_clip(), "dxvadec device=cuda software-fallback=false");
  fail_unless(strict.error.find("device=cuda") != std::string::npos, "%s",
              strict.error.c_str());
  set_fault(nullptr);
  const Decoded absent = decode_opaque(vp9_clip(), "dxvadec device=cuda:1");
  expect_right(absent, vp9_reference());
  fail_unless_equals_uint64(absent.step("software"), absent.pictures.size());
}
GST_END_TEST

GST_START_TEST(memory_that_is_not_exported_is_copied_once) {
  for (const auto& [fault, reason] : {std::pair("no-export", "export-unsupported"),
                                      std::pair("export-fails", "export-failed")}) {
    std::printf("# %s\n", fault);
    set_fault(fault);
    const Decoded out = decode_opaque(vp9_clip());
    expect_right(out, vp9_reference());
    fail_unless_equals_uint64(out.step("cpu-copy"), out.pictures.size());
    fail_unless_equals_uint64(out.reason(reason), out.pictures.size());
    set_fault(nullptr);
  }
}
GST_END_TEST

GST_START_TEST(without_device_memory_software_decodes) {
  set_fault("oom");
  const Decoded out = decode_opaque(vp9_clip());
  set_fault(nullptr);
  expect_right(out, vp9_reference());
  fail_unless_equals_uint64(out.step("software"), out.pictures.size());
  fail_unless_equals_uint64(out.reason("surfaces-not-made"), out.pictures.size());
}
GST_END_TEST

GST_START_TEST(a_decoder_that_is_not_made_is_replaced_by_software) {
  set_fault("create-fails");
  const Decoded out = decode_opaque(vp9_clip());
  set_fault(nullptr);
  expect_right(out, vp9_reference());
  fail_unless_equals_uint64(out.step("software"), out.pictures.size());
  fail_unless_equals_uint64(out.reason("context-not-made"), out.pictures.size());
}
GST_END_TEST

GST_START_TEST(a_device_that_fails_in_the_middle_is_replaced_by_software) {
  expect_software_after("decode-fails-at=30", "decode-errors", kOpaqueOrSystem, "exported");
  expect_software_after("map-fails-at=30", "decode-errors", kOpaqueOrSystem, "exported");
  expect_software_after("event-fails-at=100", "sync-failed", kOpaqueOrSystem, "exported");
}
GST_END_TEST

// The last pictures come when there is no packet any more.
GST_START_TEST(a_device_that_fails_on_the_last_pictures_is_replaced_by_software) {
  set_fault("map-fails-at=60");
  const Decoded out = decode_opaque(source(h264_mp4()));
  set_fault(nullptr);
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  fail_unless_equals_int(out.pictures.size(), 60);
  fail_unless(out.step("exported") > 0 && out.step("software") > 0);
  fail_unless_equals_uint64(out.reason("decode-errors"), out.step("software"));
}
GST_END_TEST

GST_START_TEST(a_lost_device_is_replaced_by_software_and_started_anew_for_the_next_stream) {
  // Nobody reads what is in a lost device's memory: these are copied by the decoder.
  expect_software_after("lost-at=61", "device-lost", "video/x-raw", "cpu-copy");
  const Decoded again = decode_opaque(vp9_clip());
  expect_right(again, vp9_reference());
  fail_unless_equals_uint64(again.step("exported"), again.pictures.size());
}
GST_END_TEST

// A call into NVDEC is where the loss is noticed, and not the copy of a picture.
GST_START_TEST(a_device_that_is_lost_while_it_decodes_is_told_from_one_that_fails) {
  for (const char* fault : {"decode-loses-at=30", "map-loses-at=30"}) {
    expect_software_after(fault, "device-lost", "video/x-raw", "cpu-copy");
    const Decoded again = decode_opaque(vp9_clip());
    expect_right(again, vp9_reference());
    fail_unless_equals_uint64(again.step("exported"), again.pictures.size());
  }
}
GST_END_TEST

GST_START_TEST(a_device_that_is_lost_on_the_last_pictures_is_replaced_by_software) {
  set_fault("map-loses-at=60");
  const Decoded out = decode(source(h264_mp4()), kDecoder, {.sink_caps = "video/x-raw"});
  set_fault(nullptr);
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  fail_unless_equals_int(out.pictures.size(), 60);
  fail_unless(out.step("cpu-copy") > 0 && out.step("software") > 0);
  fail_unless_equals_uint64(out.reason("device-lost"), out.step("software"));
}
GST_END_TEST

GST_START_TEST(streams_that_nvdec_does_not_decode_go_to_software) {
  const std::string mpeg2 =
      source(clip("cuda-mpeg2.mkv", "-c:v mpeg2video -q:v 4 -threads 1", "176x144", 20),
             "mpegvideoparse");
  const Decoded other = decode_opaque(mpeg2);
  expect_right(other, decode(mpeg2, "avdec_mpeg2video").pictures);
  fail_unless_equals_uint64(other.reason("profile-unsupported"), other.pictures.size());
  const std::string small = vpx_source("small", "libvpx-vp9", "24x24", 10);
  const Decoded tiny = decode_opaque(small);
  expect_right(tiny, decode(small, "avdec_vp9").pictures);
  fail_unless_equals_uint64(tiny.reason("size-out-of-range"), tiny.pictures.size());
}
GST_END_TEST

GST_START_TEST(nothing_is_left_on_the_device_nor_in_the_process) {
  (void)decode_opaque(vp9_clip());
  const size_t before = count_open_descriptors();
  (void)decode_opaque(vp9_clip());
  fail_unless_equals_int(count_open_descriptors(), before);
  for (const char* what : {"contexts", "streams", "events", "blocks", "reservations"})
    fail_unless_equals_int(live(what), 0);
}
GST_END_TEST

// Where neither VA-API nor anything else names a GPU, NVDEC is found by itself.
GST_START_TEST(auto_finds_it) {
  if (g_file_test("/dev/dri", G_FILE_TEST_EXISTS)) {
    std::printf("# SKIP there is a GPU, which would be found first\n");
    return;
  }
  const Decoded out = decode_opaque(vp9_clip(), "dxvadec device=auto");
  expect_right(out, vp9_reference());
  fail_unless_equals_uint64(out.step("exported"), out.pictures.size());
  set_fault("no-device");
  const Decoded none = decode_opaque(vp9_clip(), "dxvadec device=auto");
  set_fault(nullptr);
  expect_right(none, vp9_reference());
  fail_unless_equals_uint64(none.step("software"), none.pictures.size());
}
GST_END_TEST

namespace {

// What decodes where OpenGL draws with that device and no DRM node.
std::string device_beside(const dxva::DeviceUuids::Uuid& opengl, const std::string& wish) {
  const auto pipeline =
      launch(vp9_clip() + " ! dxvadec name=dec device=" + wish + " ! fakesink");
  const auto context =
      dxva::gst::make_gl_device_context({.node = "", .renderer = "test", .uuid = opengl});
  gst_element_set_context(pipeline.get(), context.get());
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  expect_end_of_stream(pipeline);
  const auto dec = child(pipeline, "dec");
  GstStructure* stats = nullptr;
  g_object_get(dec.get(), "stats", &stats, nullptr);
  std::string out = gst_structure_get_string(stats, "device");
  gst_structure_free(stats);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return out;
}

}  // namespace

GST_START_TEST(auto_takes_it_on_opengls_gpu_only) {
  if (g_file_test("/dev/dri", G_FILE_TEST_EXISTS)) {
    std::printf("# SKIP there is a GPU, which would be found first\n");
    return;
  }
  const auto ours = uuid_of_device();
  auto other = ours;
  other[0] = static_cast<uint8_t>(~other[0]);
  const auto expect = [](const dxva::DeviceUuids::Uuid& opengl, const char* wish,
                         const char* device) {
    const std::string got = device_beside(opengl, wish);
    fail_unless_equals_string(got.c_str(), device);
  };
  expect(ours, "auto", "Fake CUDA (cuda:0)");
  expect(other, "auto", "none");
  // Who names it gets it.
  expect(other, "cuda", "Fake CUDA (cuda:0)");
}
GST_END_TEST

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvadec_cuda");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 120);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, pictures_leave_in_the_devices_memory_and_are_right);
  tcase_add_test(tests, who_takes_system_memory_gets_one_copy);
  tcase_add_test(tests, another_gpus_opengl_gets_copies_and_the_reason);
  tcase_add_test(tests, the_reader_says_which_driver_it_is);
  tcase_add_test(tests, a_full_gate_copies_for_our_own_uploader);
  tcase_add_test(tests, kept_buffers_stay_right_and_play_on);
  tcase_add_test(tests, pictures_are_right_after_seeks);
  tcase_add_test(tests, pictures_that_wait_for_their_turn_are_right);
  tcase_add_test(tests, another_size_in_the_middle_of_a_stream_is_taken);
  tcase_add_test(tests, without_a_device_software_decodes);
  tcase_add_test(tests, memory_that_is_not_exported_is_copied_once);
  tcase_add_test(tests, without_device_memory_software_decodes);
  tcase_add_test(tests, a_decoder_that_is_not_made_is_replaced_by_software);
  tcase_add_test(tests, a_device_that_fails_in_the_middle_is_replaced_by_software);
  tcase_add_test(tests, a_device_that_fails_on_the_last_pictures_is_replaced_by_software);
  tcase_add_test(tests,
                 a_lost_device_is_replaced_by_software_and_started_anew_for_the_next_stream);
  tcase_add_test(tests, a_device_that_is_lost_while_it_decodes_is_told_from_one_that_fails);
  tcase_add_test(tests, a_device_that_is_lost_on_the_last_pictures_is_replaced_by_software);
  tcase_add_test(tests, streams_that_nvdec_does_not_decode_go_to_software);
  tcase_add_test(tests, av1_pictures_of_other_sizes_go_to_software);
  tcase_add_test(tests, av1_that_becomes_a_column_narrower_has_another_decoder);
  tcase_add_test(tests, vp9_that_changes_its_size_and_goes_on_predicting_goes_to_software);
  tcase_add_test(tests, nothing_is_left_on_the_device_nor_in_the_process);
  tcase_add_test(tests, auto_finds_it);
  tcase_add_test(tests, auto_takes_it_on_opengls_gpu_only);
  return gst_check_run_suite(suite, "dxvadec_cuda", __FILE__);
}
