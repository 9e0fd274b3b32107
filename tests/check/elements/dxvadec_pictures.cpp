// SPDX-License-Identifier: LGPL-2.1-or-later
// dxvadec gives the pictures that libavcodec's software decoders give, from every kind of
// stream, with caps and flags that say what they are.
#include <unistd.h>

#include <cstdio>

#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;

namespace {

std::vector<Picture> reference(const std::string& from, const char* decoder = "avdec_h264") {
  Decoded out = decode(from, decoder);
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  return std::move(out.pictures);
}

Decoded decode_well(const std::string& from, const std::string& decoder,
                    const Options& options = {}) {
  Decoded out = decode(from, decoder, options);
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  return out;
}

void expect_on_device(const Decoded& out) {
  fail_unless_equals_uint64(out.step("software"), 0);
  fail_unless_equals_uint64(out.stat("frames"), out.pictures.size());
  fail_unless_equals_uint64(out.stat("errors"), 0);
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

GST_START_TEST(pictures_in_system_memory_are_exact) {
  const std::string from = source(h264_mp4());
  const Decoded out = decode_well(from, "dxvadec");
  expect_same(out.pictures, reference(from));
  expect_on_device(out);
  fail_unless_equals_uint64(out.step("cpu-copy"), 60);
  fail_unless_equals_uint64(out.reason("downstream-no-dmabuf"), 60);
  fail_unless_equals_string(gst_structure_get_string(out.stats.get(), "codec"), "h264");
  fail_unless_equals_string(gst_structure_get_string(out.stats.get(), "profile"), "High");
}
GST_END_TEST

GST_START_TEST(pictures_in_dma_bufs_are_exact_and_none_is_copied) {
  const std::string from = source(h264_mp4());
  const Decoded out = decode_well(from, "dxvadec", {.sink_caps = kDmabufNv12});
  expect_same(out.pictures, reference(from));
  expect_on_device(out);
  fail_unless_equals_uint64(out.step("exported"), 60);
  for (const Picture& picture : out.pictures) fail_unless(picture.dmabuf);
}
GST_END_TEST

GST_START_TEST(a_byte_stream_is_exact) {
  const std::string from = source(h264_byte_stream());
  const Decoded out = decode_well(from, "dxvadec");
  expect_same(out.pictures, reference(from));
  expect_on_device(out);
}
GST_END_TEST

// P_Skip, CAVLC, one reference: what a camera sends.
GST_START_TEST(constrained_baseline_is_exact) {
  const std::string from = source(
      clip("baseline.mp4", "-c:v libx264 -profile:v baseline -x264-params ref=1 -threads 1"));
  const Decoded out = decode_well(from, "dxvadec");
  expect_same(out.pictures, reference(from));
  expect_on_device(out);
}
GST_END_TEST

GST_START_TEST(low_latency_is_exact_where_the_stream_tells_its_depth) {
  const std::string from = source(h264_mp4());
  const Decoded out = decode_well(from, "dxvadec low-latency=true");
  expect_same(out.pictures, reference(from));
}
GST_END_TEST

// Against ffmpeg itself: avdec_h264 shows another rectangle (1.22 ignores a left or top crop).
GST_START_TEST(cropped_streams_show_the_visible_part) {
  const std::string file =
      clip("crop.mp4",
           "-c:v libx264 -threads 1 -bsf:v "
           "h264_metadata=crop_left=32:crop_right=6:crop_top=10:crop_bottom=4");
  const int width = 352 - 38;
  const int height = 288 - 14;  // of whole macroblocks
  const auto wanted = hashes_of_ffmpeg(file, width, height);
  fail_unless_equals_int(wanted.size(), 60);
  for (const char* caps : {"", kDmabufNv12}) {
    const Decoded out = decode_well(source(file), "dxvadec", {.sink_caps = caps});
    expect_same(out.pictures, wanted);
    expect_on_device(out);
    fail_unless_equals_int(out.pictures[0].width, width);
    fail_unless_equals_int(out.pictures[0].height, height);
    fail_unless_equals_uint64(out.step("exported"), *caps ? 60 : 0);
  }
}
GST_END_TEST

GST_START_TEST(odd_sizes_are_exact) {
  // H.264 4:2:0 cannot say odd sizes, so this is the smallest that is no whole macroblock.
  const std::string from = source(clip("small.mp4", "-c:v libx264 -threads 1", "34x18", 20));
  for (const char* caps : {"", kDmabufNv12}) {
    const Decoded out = decode_well(from, "dxvadec", {.sink_caps = caps});
    expect_same(out.pictures, reference(from));
    expect_on_device(out);
  }
}
GST_END_TEST

GST_START_TEST(interlaced_pictures_carry_their_fields_order) {
  const std::string from = source(clip(
      "fields.mp4", "-vf setfield=tff -c:v libx264 -threads 1 -flags +ildct+ilme", "352x288"));
  const Decoded out = decode_well(from, "dxvadec");
  expect_same(out.pictures, reference(from));
  expect_on_device(out);
  fail_unless(contains(out.caps[0], "interlace-mode=(string)mixed"), "%s", out.caps[0].c_str());
  for (const Picture& picture : out.pictures) {
    fail_unless(picture.flags & GST_VIDEO_BUFFER_FLAG_INTERLACED);
    fail_unless(picture.flags & GST_VIDEO_BUFFER_FLAG_TFF);
  }
}
GST_END_TEST

GST_START_TEST(colours_and_shape_reach_the_caps) {
  const std::string from = source(
      clip("colours.h264",
           "-c:v libx264 -threads 1 -bsf:v "
           "h264_metadata=colour_primaries=9:transfer_characteristics=16:matrix_coefficients=9:"
           "video_full_range_flag=0:sample_aspect_ratio=4/3,filter_units=remove_types=6",
           "352x286", 10));
  const Decoded out = decode_well(from, "dxvadec");
  fail_unless(contains(out.caps[0], "colorimetry=(string)bt2100-pq"), "%s",
              out.caps[0].c_str());
  fail_unless(contains(out.caps[0], "pixel-aspect-ratio=(fraction)4/3"), "%s",
              out.caps[0].c_str());
}
GST_END_TEST

GST_START_TEST(hdr_metadata_reaches_the_caps) {
  const std::string from = source(
      clip(
          "hdr.mkv",
          "-c:v libx265 -pix_fmt yuv420p10le -x265-params log-level=error:pools=1:"
          "colorprim=9:transfer=16:colormatrix=9:max-cll=1000,400:"
          "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)",
          "352x286", 10),
      "h265parse");
  const Decoded out = decode_well(from, "dxvadec");
  expect_same(out.pictures, reference(from, "avdec_h265"));
  fail_unless(contains(out.caps[0], "content-light-level=(string)1000:400"), "%s",
              out.caps[0].c_str());
  fail_unless(contains(out.caps[0], "mastering-display-info=(string)34000:16000:"), "%s",
              out.caps[0].c_str());
}
GST_END_TEST

GST_START_TEST(a_byte_stream_may_change_its_size) {
  const std::string one = h264_byte_stream();
  const std::string two = clip(
      "larger.h264", "-c:v libx264 -g 20 -bf 3 -threads 1 -bsf:v filter_units=remove_types=6",
      "480x270", 30);
  const std::string both = make_folder("joined") + "/sizes.h264";
  std::string bytes;
  for (const std::string& file : {one, two, one}) bytes += read_file(file);
  write_file(both, bytes);
  const std::string from = source(both);
  for (const char* caps : {"", kDmabufNv12}) {
    const Decoded out = decode_well(from, "dxvadec", {.sink_caps = caps});
    expect_same(out.pictures, reference(from));
    expect_on_device(out);
    fail_unless_equals_int(out.caps.size(), 3);
  }
}
GST_END_TEST

GST_START_TEST(caps_may_change_the_size) {
  const std::string larger =
      clip("larger.mp4", "-c:v libx264 -g 20 -bf 3 -threads 1", "480x270", 30);
  const std::string avc = "h264parse ! video/x-h264,stream-format=avc ! c. ";
  const std::string from =
      "concat name=c adjust-base=true " + source(h264_mp4(), avc) + source(larger, avc) + "c.";
  const Decoded out = decode_well(from, "dxvadec");
  expect_same(out.pictures, reference(from));
  expect_on_device(out);
  fail_unless_equals_int(out.pictures.size(), 90);
}
GST_END_TEST

// The device knows H.264 only, or more; either way the pictures are right.
GST_START_TEST(every_codec_is_exact) {
  for (const CodecClip& codec : codec_clips()) {
    std::printf("# %s\n", codec.file);
    const std::string from = codec.source();
    const Decoded out = decode_well(from, "dxvadec");
    fail_unless_equals_uint64(out.stat("frames"), out.pictures.size());
    // MPEG-2 and JPEG are not exact by their standards, but both sides are libavcodec here.
    expect_same(out.pictures, reference(from, codec.reference));
  }
}
GST_END_TEST

namespace {

constexpr const char* kSwitchFrames =
    "-c:v libsvtav1 -preset 8 -svtav1-params sframe-dist=8:sframe-mode=2:pred-struct=1:lp=1";

void put_bits(std::string& bytes, size_t at, int count, unsigned value) {
  for (int i = 0; i < count; ++i) {
    auto& byte = reinterpret_cast<unsigned char&>(bytes[(at + i) / 8]);
    const auto bit = static_cast<unsigned char>(0x80 >> (at + i) % 8);
    byte = static_cast<unsigned char>(value >> (count - 1 - i) & 1 ? byte | bit : byte & ~bit);
  }
}

struct SwitchFrames {
  std::string stream;
  std::string header;  // of its sequence (AV1 5.5.1), with the header of its unit
  // SVT-AV1 1.4 writes that such sequences may be 16384 wide, in a level that there is not:
  // then av1parse refuses them, and a device has no surfaces for them.
  bool oversized = false;
};
SwitchFrames switch_frames() {
  SwitchFrames out{.stream = read_file(clip(
                       "switch.obu", std::string(kSwitchFrames) + " -f obu", "352x288", 30))};
  // Behind a delimiter without a payload.
  out.header = out.stream.substr(2, 14);
  std::string widest = out.header;
  put_bits(widest, 54, 14, 16383);  // max_frame_width_minus_1, of 14 bits
  out.oversized =
      out.stream.compare(0, 4, std::string("\x12\x00\x0a\x0c", 4)) == 0 && widest == out.header;
  return out;
}

std::string with_its_size(SwitchFrames frames) {
  std::string header = frames.header;
  put_bits(header, 40, 5, 8);     // seq_level_idx: 4.0
  put_bits(header, 54, 14, 351);  // max_frame_width_minus_1
  put_bits(header, 68, 14, 287);  // max_frame_height_minus_1
  for (size_t at = 0; (at = frames.stream.find(frames.header, at)) != std::string::npos;)
    frames.stream.replace(at, header.size(), header);
  return std::move(frames.stream);
}

// To be read by anybody.
std::string readable_switch_frames() {
  SwitchFrames frames = switch_frames();
  const std::string path = make_folder("switch") + "/switch.obu";
  write_file(path, frames.oversized ? with_its_size(std::move(frames)) : frames.stream);
  return source(path, "video/x-av1 ! av1parse");
}

}  // namespace

// At which a viewer may change to another stream (AV1 6.8.2: SWITCH_FRAME).
GST_START_TEST(av1_switch_frames_are_exact) {
  if (!has_element("av1dec")) DXVA_SKIP("av1dec is not installed");
  const std::string from = readable_switch_frames();
  const Decoded out = decode_well(from, "dxvadec");
  fail_unless_equals_int(out.pictures.size(), 30);
  expect_on_device(out);
  expect_same(out.pictures, reference(from, "av1dec"));
}
GST_END_TEST

GST_START_TEST(av1_that_may_outgrow_the_device_is_decoded_in_software) {
  if (!has_element("av1dec")) DXVA_SKIP("av1dec is not installed");
  if (!switch_frames().oversized) DXVA_SKIP("this SVT-AV1 writes the size that there is");
  const std::string from =
      source(clip("outgrow.mkv", kSwitchFrames, "352x288", 30), "identity");
  const Decoded out = decode_well(from, "dxvadec");
  fail_unless_equals_uint64(out.reason("size-out-of-range"), 30);
  // That level is an error to libaom 3.12; the pictures are those of the other header.
  expect_same(out.pictures, reference(readable_switch_frames(), "av1dec"));
}
GST_END_TEST

// libavcodec's own AV1 decoder has no software half and complains about that on stderr, where
// it must not be seen: nobody did anything wrong. From MP4, because there the headers come with
// the caps, and so it complains while it is opened.
GST_START_TEST(a_codec_that_the_device_lacks_is_decoded_in_software_without_noise) {
  const std::string from =
      source(clip("av1.mp4", "-c:v libaom-av1 -cpu-used 8 -usage realtime", "352x286", 20),
             "av1parse");
  std::FILE* written = std::tmpfile();
  const int real_stderr = dup(STDERR_FILENO);
  dup2(fileno(written), STDERR_FILENO);
  const Decoded out = decode(from, "dxvadec");
  dup2(real_stderr, STDERR_FILENO);
  close(real_stderr);
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  if (out.step("software") == 0) DXVA_SKIP("the device decodes AV1");
  fail_unless_equals_uint64(out.reason("profile-unsupported"), out.pictures.size());
  fail_unless_equals_uint64(out.reason("no-device"), 0);
  std::rewind(written);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), written));
  std::fclose(written);
  fail_if(contains(text, "[av1 @"), "%s", text.c_str());
}
GST_END_TEST

GST_START_TEST(formats_that_no_surface_has_come_out_as_they_are) {
  const std::string from =
      source(clip("444.mp4", "-pix_fmt yuv444p -c:v libx264 -threads 1", "352x286", 10));
  const Decoded out = decode_well(from, "dxvadec");
  expect_same(out.pictures, reference(from));
  fail_unless(contains(out.caps[0], "format=(string)Y444"));
  fail_unless_equals_uint64(out.step("software"), 10);
  fail_unless_equals_uint64(out.reason("profile-unsupported"), 10);
}
GST_END_TEST

namespace {

// No encoder here makes one. The blocks of a 4:2:2 picture, whose chroma is said to be halved
// the other way (ITU-T T.81 B.2.2): scrambled, and the same for all decoders.
std::string jpeg_440(const std::string& from) {
  std::string data = read_file(from);
  const size_t frame = data.find("\xff\xc0");
  fail_unless(frame != std::string::npos && data[frame + 14] == 0x12);
  data[frame + 14] = data[frame + 17] = 0x21;
  const std::string path = make_folder("440") + "/440.jpg";
  write_file(path, data);
  return path;
}

}  // namespace

GST_START_TEST(jpeg_of_half_the_chroma_rows_is_shown) {
  constexpr size_t kWidth = 64, kHeight = 48, kLuma = kWidth * kHeight;
  const std::string file =
      jpeg_440(clip("422.jpg", "-pix_fmt yuvj422p", std::to_string(kWidth) + "x48", 1));
  const std::string raw = make_folder("440") + "/440.yuv";
  const std::string command =
      "ffmpeg -y -v error -i \"" + file + "\" -pix_fmt yuvj440p -f rawvideo \"" + raw + "\"";
  gint status = -1;
  fail_unless(g_spawn_command_line_sync(command.c_str(), nullptr, nullptr, &status, nullptr) &&
              status == 0);
  const std::string planar = read_file(raw);
  fail_unless_equals_int(planar.size(), 2 * kLuma);
  std::string wanted = planar.substr(0, kLuma);
  for (size_t row = 0; row < kHeight * 2; ++row)  // of both chroma planes
    wanted += planar.substr(kLuma + row / 2 * kWidth, kWidth);
  const dxva::gst::GlibString hash(g_compute_checksum_for_string(
      G_CHECKSUM_MD5, wanted.data(), static_cast<gssize>(wanted.size())));
  const Decoded out = decode_well(source(file, "jpegparse"), "dxvadec");
  fail_unless_equals_int(out.pictures.size(), 1);
  fail_unless(contains(out.caps[0], "format=(string)Y444"), "%s", out.caps[0].c_str());
  fail_unless_equals_string(out.pictures[0].hash.c_str(), hash.get());
}
GST_END_TEST

GST_START_TEST(monochrome_is_exact) {
  for (const auto* codec : {"h265", "h264"}) {
    const bool h265 = std::string(codec) == "h265";
    const std::string from = source(
        clip(std::string("gray.") + codec,
             std::string("-pix_fmt gray -c:v ") +
                 (h265 ? "libx265 -x265-params log-level=none:pools=1" : "libx264 -threads 1"),
             "352x286", 10),
        h265 ? "h265parse" : "h264parse");
    const Decoded out = decode_well(from, "dxvadec");
    fail_unless_equals_int(out.pictures.size(), 10);
    // H.265's leaves as GRAY8; H.264's device, and avdec_h264, give chroma of 128.
    fail_unless(contains(out.caps[0], h265 ? "format=(string)GRAY8" : "format=(string)NV12"),
                "%s", out.caps[0].c_str());
    expect_same(out.pictures, reference(from, h265 ? "avdec_h265" : "avdec_h264"));
  }
}
GST_END_TEST

// --- seeking

// After a seek the pictures are those that have the same time in a plain run.
GST_START_TEST(pictures_after_a_seek_are_those_of_their_time) {
  const std::string from = source(h264_mp4());
  const auto wanted = reference(from);
  for (const char* caps : {"", kDmabufNv12})
    expect_right_after_seeks(caps, wanted, [&](const Options& options) {
      return decode_well(from, "dxvadec", options);
    });
}
GST_END_TEST

static Suite* dxvadec_pictures_suite() {
  Suite* suite = suite_create("dxvadec_pictures");
  TCase* h264 = tcase_create("h264");
  tcase_set_timeout(h264, 120);
  tcase_add_test(h264, pictures_in_system_memory_are_exact);
  tcase_add_test(h264, pictures_in_dma_bufs_are_exact_and_none_is_copied);
  tcase_add_test(h264, a_byte_stream_is_exact);
  tcase_add_test(h264, constrained_baseline_is_exact);
  tcase_add_test(h264, low_latency_is_exact_where_the_stream_tells_its_depth);
  tcase_add_test(h264, cropped_streams_show_the_visible_part);
  tcase_add_test(h264, odd_sizes_are_exact);
  tcase_add_test(h264, interlaced_pictures_carry_their_fields_order);
  tcase_add_test(h264, colours_and_shape_reach_the_caps);
  tcase_add_test(h264, a_byte_stream_may_change_its_size);
  tcase_add_test(h264, caps_may_change_the_size);
  tcase_add_test(h264, pictures_after_a_seek_are_those_of_their_time);
  suite_add_tcase(suite, h264);
  TCase* codecs = tcase_create("other codecs and formats");
  tcase_set_timeout(codecs, 180);
  tcase_add_test(codecs, hdr_metadata_reaches_the_caps);
  tcase_add_test(codecs, every_codec_is_exact);
  tcase_add_test(codecs, av1_switch_frames_are_exact);
  tcase_add_test(codecs, av1_that_may_outgrow_the_device_is_decoded_in_software);
  tcase_add_test(codecs, a_codec_that_the_device_lacks_is_decoded_in_software_without_noise);
  tcase_add_test(codecs, formats_that_no_surface_has_come_out_as_they_are);
  tcase_add_test(codecs, jpeg_of_half_the_chroma_rows_is_shown);
  tcase_add_test(codecs, monochrome_is_exact);
  suite_add_tcase(suite, codecs);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_pictures_suite(), "dxvadec_pictures", __FILE__);
}
