// SPDX-License-Identifier: LGPL-2.1-or-later
// Ten bits all the way: what H.265's decoder gives reaches textures of ten-bit RGB as the
// reference conversion of libavcodec's pictures, and what the stream says of its colours and of
// the display it was made for reaches the caps behind the uploader.
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

std::string ten_bit_clip(const std::string& name, const std::string& parameters) {
  return clip(name,
              "-pix_fmt yuv420p10le -c:v libx265 -preset ultrafast -x265-params "
              "log-level=none:pools=1:" +
                  parameters,
              kSize, kPictures);
}

using Words = std::vector<uint16_t>;

// I420_10LE as P010: what the device's surface would hold.
Words p010_of(GstSample* sample) {
  GstVideoInfo info;
  GstVideoFrame frame;
  fail_unless(gst_video_info_from_caps(&info, gst_sample_get_caps(sample)));
  fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&info), GST_VIDEO_FORMAT_I420_10LE);
  fail_unless(gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ));
  const auto code = [&frame](guint plane, uint32_t row, uint32_t column) {
    const auto* data = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane));
    return static_cast<uint16_t>(
        GST_READ_UINT16_LE(data +
                           gsize{row} *
                               static_cast<gsize>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane)) +
                           gsize{column} * 2)
        << 6);
  };
  Words out;
  for (uint32_t row = 0; row < kHeight; ++row)
    for (uint32_t x = 0; x < kWidth; ++x) out.push_back(code(0, row, x));
  for (uint32_t row = 0; row < kHeight / 2; ++row)
    for (uint32_t x = 0; x < kWidth / 2; ++x)
      for (const guint plane : {1u, 2u}) out.push_back(code(plane, row, x));
  gst_video_frame_unmap(&frame);
  return out;
}

Words reference_of(GstSample* sample, const Colorimetry& colorimetry) {
  const Words pixels = p010_of(sample);
  const auto* bytes = reinterpret_cast<const uint8_t*>(pixels.data());
  constexpr uint32_t kPitch = kWidth * 2;
  const dxva::video::FrameView view{
      .fourcc = dxva::format::kP010,
      .width = kWidth,
      .height = kHeight,
      .plane_count = 2,
      .planes = {{{.data = bytes, .pitch_bytes = kPitch, .row_bytes = kPitch, .rows = kHeight},
                  {.data = bytes + kPitch * kHeight,
                   .pitch_bytes = kPitch,
                   .row_bytes = kPitch,
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

void check_conversion(const char* matrix, const char* range, const Colorimetry& meant) {
  const std::string from =
      source(ten_bit_clip(std::string("rgb-") + matrix + "-" + range + ".h265",
                          std::string("colormatrix=") + matrix + ":range=" + range),
             "h265parse");
  std::vector<Words> wanted;
  const Decoded reference =
      decode(from, "avdec_h265",
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
    fail_unless(got.error.empty(), "%s", got.error.c_str());
    fail_unless_equals_int(pictures, kPictures);
    fail_unless(worst <= 1, "%s %s, import=%s: off by %d code values of 1023", matrix, range,
                import, worst);
    if (rig_must_import())
      fail_unless_equals_uint64(got.step(*import == 'a' ? "egl" : "cpu-copy"), kPictures);
  }
}

void expect_parts(const std::string& caps, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    fail_unless(caps.find(part) != std::string::npos, "no %s in %s", part, caps.c_str());
}

}  // namespace

GST_START_TEST(ten_bit_rgb_is_the_reference_conversion_within_one_code_value) {
  check_conversion("smpte170m", "limited", {Matrix::Bt601, Range::Limited});
  check_conversion("smpte170m", "full", {Matrix::Bt601, Range::Full});
  check_conversion("bt709", "limited", {Matrix::Bt709, Range::Limited});
  check_conversion("bt709", "full", {Matrix::Bt709, Range::Full});
  check_conversion("bt2020nc", "limited", {Matrix::Bt2020, Range::Limited});
  check_conversion("bt2020nc", "full", {Matrix::Bt2020, Range::Full});
}
GST_END_TEST

GST_START_TEST(hdr_metadata_reaches_the_caps_of_textures) {
  const std::string from = source(
      ten_bit_clip("hdr-textures.h265",
                   "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:max-cll=1000,400:"
                   "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L("
                   "10000000,1)"),
      "h265parse");
  // RGB of the same primaries and transfer: full range, and a matrix that is none.
  const struct {
    const char* format;
    const char* colorimetry;
  } outputs[] = {{"P010_10LE", "colorimetry=(string)bt2100-pq"},
                 {"RGB10A2_LE", "colorimetry=(string)1:1:14:7"}};
  for (const auto& output : outputs) {
    const Decoded got = decode(
        from, kUploader,
        {.sink_caps = std::string("video/x-raw(memory:GLMemory),format=") + output.format});
    fail_unless(got.error.empty(), "%s", got.error.c_str());
    fail_unless_equals_int(got.pictures.size(), kPictures);
    fail_unless_equals_int(got.caps.size(), 1);
    expect_parts(
        got.caps[0],
        {"memory:GLMemory", output.colorimetry, "content-light-level=(string)1000:400",
         "mastering-display-info=(string)34000:16000:13250:34500:7500:3000:15635:16450:"
         "10000000:1"});
  }
}
GST_END_TEST

static Suite* dxvadec_colours_suite() {
  Suite* suite = suite_create("dxvadec_colours");
  TCase* cases = tcase_create("ten bits");
  tcase_set_timeout(cases, 180);
  tcase_add_test(cases, ten_bit_rgb_is_the_reference_conversion_within_one_code_value);
  tcase_add_test(cases, hdr_metadata_reaches_the_caps_of_textures);
  suite_add_tcase(suite, cases);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv) || !set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_colours_suite(), "dxvadec_colours", __FILE__);
}
