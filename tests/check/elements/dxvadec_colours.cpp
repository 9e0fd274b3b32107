// SPDX-License-Identifier: LGPL-2.1-or-later
// Colours all the way: what the decoders give reaches textures of ten-bit RGB as the reference
// conversion of libavcodec's pictures, and what a stream and its container say of colours and
// of the display they were made for reaches the caps behind the uploader.
#include <algorithm>
#include <cstdlib>

#include "lib/base/fourcc.hpp"
#include "lib/video/reference_conversion.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::video::Colorimetry;
using dxva::video::Matrix;
using dxva::video::Range;

namespace {

constexpr uint32_t kWidth = 174;  // no multiple of what a surface or a texture is rounded to
constexpr uint32_t kHeight = 142;
constexpr const char* kSize = "174x142";
constexpr int kPictures = 4;
constexpr const char* kUploader = "dxvadec ! dxvaglupload";

// How a codec is encoded, and told of its colours by the words of FFmpeg's encoders, or, in
// `parameters`, by those of x264 and x265.
struct Codec {
  const char* ending;
  const char* encoder;
  const char* parser;
  const char* reference;
};
constexpr Codec kH264{"h264", "-c:v libx264 -threads 1", "h264parse", "avdec_h264"};
constexpr Codec kH265{"h265", "-pix_fmt yuv420p10le -c:v libx265 -preset ultrafast",
                      "h265parse", "avdec_h265"};
constexpr Codec kVp9{
    "mkv", "-pix_fmt yuv420p10le -c:v libvpx-vp9 -profile:v 2 -deadline realtime -cpu-used 8",
    "vp9parse", "avdec_vp9"};
constexpr Codec kAv1{"obu",
                     "-pix_fmt yuv420p10le -c:v libaom-av1 -cpu-used 8 -usage realtime -f obu",
                     "video/x-av1 ! av1parse", "av1dec"};

std::string clip_of(const Codec& codec, const std::string& name, const std::string& options) {
  return clip(name + "." + codec.ending, std::string(codec.encoder) + " " + options, kSize,
              kPictures);
}
std::string x265(const std::string& parameters) {
  return "-x265-params log-level=none:pools=1:" + parameters;
}

// A picture as the device's surface would hold it.
struct SemiPlanar {
  uint32_t bytes = 1;  // of a sample
  std::vector<uint8_t> pixels;
};

SemiPlanar semi_planar(GstSample* sample) {
  GstVideoInfo info;
  GstVideoFrame frame;
  fail_unless(gst_video_info_from_caps(&info, gst_sample_get_caps(sample)));
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&info);
  fail_unless(format == GST_VIDEO_FORMAT_I420 || format == GST_VIDEO_FORMAT_I420_10LE);
  fail_unless(gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ));
  SemiPlanar out{.bytes = format == GST_VIDEO_FORMAT_I420 ? 1u : 2u, .pixels = {}};
  const auto add = [&](guint plane, uint32_t row, uint32_t column) {
    const auto* data =
        static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane)) +
        gsize{row} * static_cast<gsize>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane)) +
        gsize{column} * out.bytes;
    if (out.bytes == 1) return out.pixels.push_back(*data);
    const unsigned word = GST_READ_UINT16_LE(data) << 6;
    out.pixels.push_back(static_cast<uint8_t>(word));
    out.pixels.push_back(static_cast<uint8_t>(word >> 8));
  };
  for (uint32_t row = 0; row < kHeight; ++row)
    for (uint32_t x = 0; x < kWidth; ++x) add(0, row, x);
  for (uint32_t row = 0; row < kHeight / 2; ++row)
    for (uint32_t x = 0; x < kWidth / 2; ++x)
      for (const guint plane : {1u, 2u}) add(plane, row, x);
  gst_video_frame_unmap(&frame);
  return out;
}

using Words = std::vector<uint16_t>;

Words reference_of(GstSample* sample, const Colorimetry& colorimetry) {
  const SemiPlanar picture = semi_planar(sample);
  const uint32_t pitch = kWidth * picture.bytes;
  const dxva::video::FrameView view{
      .fourcc = picture.bytes == 1 ? dxva::format::kNV12 : dxva::format::kP010,
      .width = kWidth,
      .height = kHeight,
      .plane_count = 2,
      .planes = {{{.data = picture.pixels.data(),
                   .pitch_bytes = pitch,
                   .row_bytes = pitch,
                   .rows = kHeight},
                  {.data = picture.pixels.data() + size_t{pitch} * kHeight,
                   .pitch_bytes = pitch,
                   .row_bytes = pitch,
                   .rows = kHeight / 2}}}};
  auto rgb = dxva::video::reference_rgb(view, colorimetry, 10);
  fail_unless(bool(rgb));
  return std::move(*rgb);
}

// Code values; of RGB10A2, read back from the texture.
int difference(GstSample* sample, const Words& wanted) {
  GstVideoInfo info;
  GstVideoFrame frame;
  fail_unless(gst_video_info_from_caps(&info, gst_sample_get_caps(sample)));
  fail_unless(gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ));
  int worst = 0;
  for (uint32_t row = 0; row < kHeight; ++row) {
    const auto* pixels = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                         row * static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0));
    for (uint32_t x = 0; x < kWidth; ++x)
      for (uint32_t c = 0; c < 3; ++c) {
        const int got = GST_READ_UINT32_LE(pixels + x * 4) >> (10 * c) & 1023;
        worst = std::max(worst, std::abs(got - wanted[(row * kWidth + x) * 3 + c]));
      }
  }
  gst_video_frame_unmap(&frame);
  return worst;
}

void check_conversion(const Codec& codec, const std::string& file, const Colorimetry& meant) {
  const std::string from = source(file, codec.parser);
  std::vector<Words> wanted;
  const Decoded reference =
      decode(from, codec.reference,
             {.at_sample = [&](GstSample* s) { wanted.push_back(reference_of(s, meant)); }});
  fail_unless(reference.error.empty(), "%s", reference.error.c_str());
  fail_unless_equals_int(wanted.size(), kPictures);

  for (const char* import : {"auto", "copy"}) {
    size_t pictures = 0;
    int worst = 0;
    Options options{.sink_caps = "video/x-raw(memory:GLMemory),format=RGB10A2_LE"};
    options.at_sample = [&](GstSample* sample) {
      if (pictures < wanted.size())
        worst = std::max(worst, difference(sample, wanted[pictures]));
      ++pictures;
    };
    const Decoded got = decode(from, std::string(kUploader) + " import=" + import, options);
    fail_unless(got.error.empty(), "%s: %s", file.c_str(), got.error.c_str());
    fail_unless_equals_int(pictures, kPictures);
    fail_unless(worst <= 1, "%s, import=%s: off by %d code values of 1023", file.c_str(),
                import, worst);
    if (rig_must_import())
      fail_unless_equals_uint64(got.step(*import == 'a' ? "egl" : "cpu-copy"), kPictures);
  }
}

struct Space {
  const char* matrix;  // as FFmpeg, x264 and x265 call it
  Matrix meant;
};
constexpr Space kSpaces[] = {
    {"smpte170m", Matrix::Bt601}, {"bt709", Matrix::Bt709}, {"bt2020nc", Matrix::Bt2020}};
constexpr Range kRanges[] = {Range::Limited, Range::Full};

std::string name_of(const Space& space, Range range) {
  return std::string("rgb-") + space.matrix + (range == Range::Full ? "-full" : "-limited");
}

// --- what is said of colours

// Metadata OBUs (AV1 5.8.3, 5.8.4) behind the sequence header, which no encoder of FFmpeg 5.1
// writes: 1000 and 400 cd/m2, and the display of kMastering.
std::string with_av1_metadata(const std::string& file) {
  const std::string light("\x2a\x06\x01\x03\xe8\x01\x90\x80", 8);
  const std::string display(
      "\x2a\x1a\x02\xae\x14\x51\xec\x43\xd7\xb0\xa4\x26\x66\x0f\x5c\x50\x0d\x54\x39"
      "\x00\x03\xe8\x00\x00\x00\x00\x02\x80",
      28);
  std::string stream = read_file(file);
  // A delimiter without a payload, then the sequence header; both say their size.
  fail_unless(stream.compare(0, 3, std::string("\x12\x00\x0a", 3)) == 0);
  const auto header_size = static_cast<unsigned char>(stream[3]);
  fail_unless(header_size < 128);
  stream.insert(4 + header_size, light + display);
  const std::string out = make_folder("metadata") + "/hdr.obu";
  write_file(out, stream);
  return out;
}

// 1000 cd/m2, 0.0001 cd/m2.
constexpr const char* kMastering =
    "mastering-display-info=(string)34000:16000:13250:34500:7500:3000:15635:16450:10000000:1";
constexpr const char* kLight = "content-light-level=(string)1000:400";

// Both kinds of textures; RGB is of the same primaries and transfer, full range and a matrix
// that is none. `transfer` is GStreamer's number.
void expect_colours(const Codec& codec, const std::string& file, const char* colorimetry,
                    int transfer, std::initializer_list<const char*> more) {
  const std::string rgb = "1:1:" + std::to_string(transfer) + ":7";
  const struct {
    const char* format;
    const char* colorimetry;
  } outputs[] = {{"P010_10LE", colorimetry}, {"RGB10A2_LE", rgb.c_str()}};
  for (const auto& output : outputs) {
    const Decoded got = decode(
        source(file, codec.parser), kUploader,
        {.sink_caps = std::string("video/x-raw(memory:GLMemory),format=") + output.format});
    fail_unless(got.error.empty(), "%s: %s", file.c_str(), got.error.c_str());
    fail_unless_equals_int(got.pictures.size(), kPictures);
    fail_unless_equals_int(got.caps.size(), 1);
    fail_unless_equals_uint64(got.step("software"), 0);
    std::vector<std::string> parts(more.begin(), more.end());
    parts.push_back("memory:GLMemory");
    parts.push_back(std::string("colorimetry=(string)") + output.colorimetry);
    for (const std::string& part : parts)
      fail_unless(got.caps[0].find(part) != std::string::npos, "%s: no %s in %s", file.c_str(),
                  part.c_str(), got.caps[0].c_str());
  }
}

constexpr int kPq = GST_VIDEO_TRANSFER_SMPTE2084;
constexpr int kHlg = GST_VIDEO_TRANSFER_ARIB_STD_B67;

// Said of the pictures: FFmpeg 7.1 believes those, and not the encoder's options.
std::string bt2020(const char* transfer) {
  return std::string("-vf setparams=color_primaries=bt2020:colorspace=bt2020nc:color_trc=") +
         transfer;
}

}  // namespace

GST_START_TEST(ten_bit_rgb_is_the_reference_conversion_within_one_code_value) {
  for (const Space& space : kSpaces)
    for (const Range range : kRanges)
      check_conversion(kH265,
                       clip_of(kH265, name_of(space, range),
                               x265(std::string("colormatrix=") + space.matrix +
                                    ":range=" + (range == Range::Full ? "full" : "limited"))),
                       {space.meant, range});
}
GST_END_TEST

// A consumer that wants ten bits has them of eight, which are exact in them.
GST_START_TEST(eight_bit_video_becomes_ten_bit_rgb_too) {
  for (const Space& space : kSpaces)
    for (const Range range : kRanges)
      check_conversion(kH264,
                       clip_of(kH264, name_of(space, range),
                               std::string("-x264-params colormatrix=") + space.matrix +
                                   ":fullrange=" + (range == Range::Full ? "on" : "off")),
                       {space.meant, range});
}
GST_END_TEST

GST_START_TEST(ten_bit_rgb_of_other_codecs_is_right_too) {
  for (const Codec& codec : {kVp9, kAv1})
    for (const Range range : kRanges)
      check_conversion(codec,
                       clip_of(codec, name_of(kSpaces[2], range) + codec.reference,
                               std::string("-colorspace bt2020nc -color_range ") +
                                   (range == Range::Full ? "pc" : "tv")),
                       {Matrix::Bt2020, range});
}
GST_END_TEST

GST_START_TEST(h265_says_what_display_it_was_made_for) {
  expect_colours(
      kH265,
      clip_of(kH265, "hdr-textures",
              x265("colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:max-cll=1000,400:"
                   "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L("
                   "10000000,1)")),
      "bt2100-pq", kPq, {kLight, kMastering});
  expect_colours(kH265,
                 clip_of(kH265, "hlg-textures",
                         x265("colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc")),
                 "bt2100-hlg", kHlg, {});
}
GST_END_TEST

GST_START_TEST(av1_says_what_display_it_was_made_for) {
  expect_colours(kAv1, with_av1_metadata(clip_of(kAv1, "pq1-told", bt2020("smpte2084"))),
                 "bt2100-pq", kPq, {kLight, kMastering});
  expect_colours(kAv1, clip_of(kAv1, "hlg1-told", bt2020("arib-std-b67")), "bt2100-hlg", kHlg,
                 {});
}
GST_END_TEST

// VP9 itself says nothing of HDR; its containers do. FFmpeg 5.1 writes none that do, so this is
// what a demuxer would say.
GST_START_TEST(the_container_says_what_display_vp9_was_made_for) {
  const std::string parser = std::string("vp9parse ! capssetter caps=\"video/x-vp9,") +
                             kMastering + "," + kLight + "\"";
  Codec told = kVp9;
  told.parser = parser.c_str();
  expect_colours(told, clip_of(kVp9, "pq9-told", bt2020("smpte2084")), "bt2100-pq", kPq,
                 {kLight, kMastering});
  expect_colours(kVp9, clip_of(kVp9, "hlg9-told", bt2020("arib-std-b67")), "bt2100-hlg", kHlg,
                 {});
}
GST_END_TEST

static Suite* dxvadec_colours_suite() {
  Suite* suite = suite_create("dxvadec_colours");
  TCase* cases = tcase_create("colours");
  tcase_set_timeout(cases, 180);
  tcase_add_test(cases, ten_bit_rgb_is_the_reference_conversion_within_one_code_value);
  tcase_add_test(cases, eight_bit_video_becomes_ten_bit_rgb_too);
  tcase_add_test(cases, ten_bit_rgb_of_other_codecs_is_right_too);
  tcase_add_test(cases, h265_says_what_display_it_was_made_for);
  tcase_add_test(cases, av1_says_what_display_it_was_made_for);
  tcase_add_test(cases, the_container_says_what_display_vp9_was_made_for);
  suite_add_tcase(suite, cases);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv) || !set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_colours_suite(), "dxvadec_colours", __FILE__);
}
