// SPDX-License-Identifier: LGPL-2.1-or-later
// What H.265 streams do that others do not: they change between 8 and 10 bits, carry HDR
// metadata, and begin in the middle of groups whose first pictures cannot be decoded then.
#include <cstdio>

#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;

namespace {

constexpr const char* kEncoder =
    "-c:v libx265 -preset ultrafast -x265-params log-level=none:pools=1";
constexpr const char* kDmabuf = "video/x-raw(memory:DMABuf),format={NV12,P010_10LE}";

std::vector<Picture> reference(const std::string& from) {
  Decoded out = decode(from, "avdec_h265");
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  return std::move(out.pictures);
}

// Every picture came from the device.
Decoded decode_on_device(const std::string& from, const Options& options = {}) {
  Decoded out = decode(from, "dxvadec", options);
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  fail_unless_equals_uint64(out.step("software"), 0);
  fail_unless_equals_uint64(out.stat("errors"), 0);
  return out;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

GST_START_TEST(a_stream_may_change_its_depth_and_size) {
  const std::string ten = std::string("-pix_fmt yuv420p10le ") + kEncoder;
  const std::string eight_small = clip("eight.h265", kEncoder, "352x286", 12);
  const std::string ten_small = clip("ten.h265", ten, "352x286", 12);
  const std::string ten_large = clip("ten-large.h265", ten, "480x270", 12);
  const std::string from = source(
      joined("depths.h265", {eight_small, ten_small, ten_large, eight_small}), "h265parse");
  for (const char* caps : {"", kDmabuf}) {
    const Decoded out = decode_on_device(from, {.sink_caps = caps});
    expect_same(out.pictures, reference(from));
    fail_unless_equals_int(out.pictures.size(), 48);
    fail_unless_equals_int(out.caps.size(), 4);
    const char* formats[] = {"format=(string)NV12", "format=(string)P010_10LE",
                             "format=(string)P010_10LE", "format=(string)NV12"};
    for (int i = 0; i < 4; ++i)
      fail_unless(contains(out.caps[i], formats[i]), "%s", out.caps[i].c_str());
    if (*caps == '\0') continue;
    fail_unless_equals_uint64(out.step("exported"), 48);
    for (const Picture& picture : out.pictures) fail_unless(picture.dmabuf);
  }
}
GST_END_TEST

// At new headers libavcodec asks whether there are surfaces, and may be refused in the middle
// of a stream, where it has set itself up for the device. SAO's edges would then be written to
// memory that 5.1 has not allocated; they are, at this quality.
GST_START_TEST(a_stream_may_lose_the_device_at_new_headers) {
  const std::string coarse = "-c:v libx265 -crf 40 -x265-params log-level=none:pools=1:ctu=";
  const std::string from =
      source(joined("headers.h265", {clip("ctu64.h265", coarse + "64", "352x286", 8),
                                     clip("ctu32.h265", coarse + "32", "352x286", 8)}),
             "h265parse");
  const auto wanted = reference(from);
  g_setenv("DXVASOFT_FAULT", "createcontext:from=2", TRUE);
  const Decoded out = decode(from, "dxvadec");
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, wanted);
  // And those before that had not come out yet.
  fail_unless(out.step("software") >= 8 && out.step("software") < 16);
  fail_unless_equals_uint64(out.reason("context-not-made"), out.step("software"));
  // Without software behind the device that is the end.
  const Decoded refused = decode(from, "dxvadec software-fallback=false");
  fail_unless(contains(refused.error, "context-not-made"), "%s", refused.error.c_str());
}
GST_END_TEST

GST_START_TEST(hdr_metadata_comes_with_dma_bufs) {
  const std::string from =
      source(clip("hdr-device.h265",
                  std::string("-pix_fmt yuv420p10le ") + kEncoder +
                      ":colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:max-cll=1000,"
                      "400:master-display="
                      "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)",
                  "352x286", 10),
             "h265parse");
  const Decoded out = decode_on_device(from, {.sink_caps = kDmabuf});
  expect_same(out.pictures, reference(from));
  for (const char* part : {"format=(string)P010_10LE", "content-light-level=(string)1000:400",
                           "mastering-display-info=(string)34000:16000:13250:34500:7500:3000:"
                           "15635:16450:10000000:1",
                           "colorimetry=(string)bt2100-pq"})
    fail_unless(contains(out.caps[0], part), "%s", out.caps[0].c_str());
}
GST_END_TEST

// Metadata that comes later, or changes, is news for whoever shows the pictures.
GST_START_TEST(hdr_metadata_may_change_in_the_stream) {
  const std::string ten = std::string("-pix_fmt yuv420p10le ") + kEncoder + ":max-cll=";
  const std::string from =
      source(joined("lights.h265", {clip("dim.h265", ten + "200,100", "352x286", 6),
                                    clip("bright.h265", ten + "4000,900", "352x286", 6)}),
             "h265parse");
  const Decoded out = decode_on_device(from);
  expect_same(out.pictures, reference(from));
  fail_unless_equals_int(out.caps.size(), 2);
  fail_unless(contains(out.caps[0], "content-light-level=(string)200:100"), "%s",
              out.caps[0].c_str());
  fail_unless(contains(out.caps[1], "content-light-level=(string)4000:900"), "%s",
              out.caps[1].c_str());
}
GST_END_TEST

// H.265 codes interlaced video as fields that nothing pairs. A picture of one field is no
// interlaced one: a deinterlacer would tear it apart.
GST_START_TEST(fields_leave_as_pictures_of_their_shape) {
  const std::string file =
      clip("field-pictures.h265", std::string(kEncoder) + ":interlace=tff", "352x288", 20);
  const Decoded out = decode_on_device(source(file, "h265parse"));
  expect_same(out.pictures, hashes_of_ffmpeg(file, 352, 288));
  for (const char* part : {"height=(int)288", "interlace-mode=(string)progressive",
                           "pixel-aspect-ratio=(fraction)1/2"})
    fail_unless(contains(out.caps[0], part), "%s", out.caps[0].c_str());
  // Twice the rate that h265parse has for frames: 25/2, and in GStreamer 1.22 wrongly 25/1.
  fail_unless(contains(out.caps[0], "framerate=(fraction)50/1") ||
                  contains(out.caps[0], "framerate=(fraction)25/1"),
              "%s", out.caps[0].c_str());
  for (const Picture& picture : out.pictures)
    fail_if(picture.flags & GST_VIDEO_BUFFER_FLAG_INTERLACED);
}
GST_END_TEST

namespace {

// Each picture once more in layer 1 (H.265 7.3.1.2), as views and alpha channels come.
std::string with_second_layer(const std::string& file) {
  const std::string stream = read_file(file);
  constexpr int kFirstNonSlice = 32;
  const std::string start_code("\0\0\1", 3);
  std::string out;
  for (size_t at = stream.find(start_code); at != std::string::npos;) {
    const size_t next = stream.find(start_code, at + 3);
    std::string unit = stream.substr(at, next == std::string::npos ? next : next - at);
    out += unit;
    if ((unit[3] >> 1 & 63) < kFirstNonSlice) {
      unit[4] = static_cast<char>((unit[4] & 7) | 1 << 3);
      out += unit;
    }
    at = next;
  }
  const std::string path = make_folder("layers") + "/two.h265";
  write_file(path, out);
  return path;
}

}  // namespace

GST_START_TEST(layers_above_the_base_are_left_out) {
  const std::string base = clip("base.h265", kEncoder, "352x286", 12);
  const auto wanted = reference(source(base, "h265parse"));
  fail_unless_equals_int(wanted.size(), 12);
  const std::string from = source(with_second_layer(base), "h265parse");
  for (const char* caps : {"", kDmabuf})
    expect_same(decode_on_device(from, {.sink_caps = caps}).pictures, wanted);
}
GST_END_TEST

// The pictures that a CRA picture leads refer to what came before it.
GST_START_TEST(pictures_after_a_seek_into_open_groups_are_those_of_their_time) {
  const std::string from =
      source(clip("open.mkv",
                  std::string(kEncoder) +
                      ":open-gop=1:keyint=15:min-keyint=15:scenecut=0:bframes=4:b-adapt=0",
                  "352x286", 60),
             "h265parse");
  const auto wanted = reference(from);
  for (const char* caps : {"", kDmabuf})
    expect_right_after_seeks(
        caps, wanted, [&](const Options& options) { return decode_on_device(from, options); });
}
GST_END_TEST

static Suite* dxvadec_hevc_suite() {
  Suite* suite = suite_create("dxvadec-hevc");
  TCase* cases = tcase_create("hevc");
  tcase_set_timeout(cases, 180);
  tcase_add_test(cases, a_stream_may_change_its_depth_and_size);
  tcase_add_test(cases, a_stream_may_lose_the_device_at_new_headers);
  tcase_add_test(cases, hdr_metadata_comes_with_dma_bufs);
  tcase_add_test(cases, hdr_metadata_may_change_in_the_stream);
  tcase_add_test(cases, fields_leave_as_pictures_of_their_shape);
  tcase_add_test(cases, layers_above_the_base_are_left_out);
  tcase_add_test(cases, pictures_after_a_seek_into_open_groups_are_those_of_their_time);
  suite_add_tcase(suite, cases);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_hevc_suite(), "dxvadec_hevc", __FILE__);
}
