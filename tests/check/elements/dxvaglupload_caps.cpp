// SPDX-License-Identifier: LGPL-2.1-or-later
// Negotiation of dxvaglupload as pure functions: what may come in, what comes out. No OpenGL.

#include <string>

#include "gst/dxvagl/caps.hpp"
#include "gst/dxvagl/uploader.hpp"
#include "lib/base/fourcc.hpp"
#include "tests/check/support/check.hpp"

using dxva::gst::GstPtr;
using dxva::gst::TransformCaps;

namespace {

const dxva::gst::DmabufOffers kTwoModifiers = {
    {dxva::format::kNV12, {dxva::kModifierLinear, 0x0100000000000002}, {}},
    {dxva::format::kP010, {dxva::kModifierLinear}, {}}};
const TransformCaps kOld = {.offers = kTwoModifiers, .drm_caps = false};
const TransformCaps kNew = {.offers = kTwoModifiers, .drm_caps = true};

GstPtr<GstCaps> parse(const char* text) {
  auto caps = GstPtr<GstCaps>::adopt(gst_caps_from_string(text));
  fail_unless(caps, "%s", text);
  return caps;
}

GstPtr<GstCaps> transform(GstPadDirection direction, const char* text,
                          const TransformCaps& with) {
  return dxva::gst::transform_caps(direction, parse(text).get(), with);
}

void expect(const GstPtr<GstCaps>& got, const char* wanted) {
  const dxva::gst::GlibString text(gst_caps_to_string(got.get()));
  fail_unless(gst_caps_is_strictly_equal(got.get(), parse(wanted).get()), "got  %s\nwant %s",
              text.get(), wanted);
}

bool takes(const GstPtr<GstCaps>& caps, const char* candidate) {
  return gst_caps_can_intersect(caps.get(), parse(candidate).get());
}

}  // namespace

GST_START_TEST(linear_dmabuf_becomes_its_own_format_or_rgb) {
  expect(transform(GST_PAD_SINK,
                   "video/x-raw(memory:DMABuf),format=NV12,width=64,height=48,"
                   "colorimetry=bt709,chroma-site=mpeg2",
                   kOld),
         "video/x-raw(memory:GLMemory),format=NV12,width=64,height=48,colorimetry=bt709,"
         "chroma-site=mpeg2,texture-target=2D;"
         "video/x-raw(memory:GLMemory),format={RGBA,RGB10A2_LE},width=64,height=48,"
         "texture-target=2D");
}
GST_END_TEST;

GST_START_TEST(ten_bit_video_becomes_ten_bit_rgb_first) {
  expect(transform(GST_PAD_SINK, "video/x-raw(memory:DMABuf),format=P010_10LE", kOld),
         "video/x-raw(memory:GLMemory),format=P010_10LE,texture-target=2D;"
         "video/x-raw(memory:GLMemory),format={RGB10A2_LE,RGBA},texture-target=2D");
}
GST_END_TEST;

GST_START_TEST(drm_formats_become_the_format_inside) {
  expect(transform(GST_PAD_SINK,
                   "video/x-raw(memory:DMABuf),format=DMA_DRM,"
                   "drm-format={NV12,NV12:0x0100000000000002,YU12},width=64",
                   kNew),
         "video/x-raw(memory:GLMemory),format=NV12,width=64,texture-target=2D;"
         "video/x-raw(memory:GLMemory),format={RGBA,RGB10A2_LE},width=64,texture-target=2D");
}
GST_END_TEST;

GST_START_TEST(a_drm_format_nobody_knows_gives_nothing) {
  expect(transform(GST_PAD_SINK, "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=XR24",
                   kNew),
         "EMPTY");
  expect(transform(GST_PAD_SINK, "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=\"N\"",
                   kNew),
         "EMPTY");
}
GST_END_TEST;

GST_START_TEST(upstream_may_send_drm_then_dmabuf_then_system_memory) {
  expect(transform(GST_PAD_SRC,
                   "video/x-raw(memory:GLMemory),format=NV12,texture-target=2D,width=64", kNew),
         "video/x-raw(memory:GLMemory),format=NV12,texture-target=2D,width=64;"
         "video/x-raw(memory:DMABuf),format=DMA_DRM,width=64,"
         "drm-format={NV12,NV12:0x0100000000000002};"
         "video/x-raw(memory:DMABuf),format=NV12,width=64;"
         "video/x-raw,format=NV12,width=64");
}
GST_END_TEST;

GST_START_TEST(opaque_memory_is_asked_for_from_one_device_only) {
  dxva::DeviceUuids uuids;
  uuids.device[0] = 0xab;
  uuids.driver[15] = 0x12;
  auto with = kOld;
  with.opaque = uuids;
  const auto caps = transform(GST_PAD_SRC, "video/x-raw(memory:GLMemory),format=RGBA", with);
  const std::string opaque = "video/x-raw(memory:OpaqueFd),format=NV12";
  const std::string device = ",device-uuid=(string)ab" + std::string(30, '0');
  const std::string driver = ",driver-uuid=(string)" + std::string(30, '0');
  fail_unless(takes(caps, (opaque + device + driver + "12").c_str()));
  fail_unless(!takes(caps, (opaque + device + driver + "13").c_str()));
  // A context that takes none says nothing of it.
  const auto none = transform(GST_PAD_SRC, "video/x-raw(memory:GLMemory),format=RGBA", kOld);
  fail_unless(!takes(none, (opaque + device + driver + "12").c_str()));
  // What comes out no longer says where it came from.
  expect(transform(GST_PAD_SINK, (opaque + device + driver + "12").c_str(), with),
         "video/x-raw(memory:GLMemory),format=NV12,texture-target=2D;"
         "video/x-raw(memory:GLMemory),format={RGBA,RGB10A2_LE},texture-target=2D");
}
GST_END_TEST;

GST_START_TEST(old_gstreamer_is_never_offered_drm_caps) {
  const auto caps = transform(GST_PAD_SRC, "video/x-raw(memory:GLMemory),format=NV12", kOld);
  const dxva::gst::GlibString text(gst_caps_to_string(caps.get()));
  fail_unless(std::string(text.get()).find("DMA_DRM") == std::string::npos, "%s", text.get());
  fail_unless(takes(caps, "video/x-raw(memory:DMABuf),format=NV12"));
}
GST_END_TEST;

GST_START_TEST(a_consumer_of_rgba_is_served_by_both_planar_formats) {
  const auto caps =
      transform(GST_PAD_SRC, "video/x-raw(memory:GLMemory),format=RGBA,colorimetry=sRGB", kNew);
  fail_unless(takes(caps, "video/x-raw(memory:DMABuf),format=NV12,colorimetry=bt709"));
  fail_unless(takes(caps, "video/x-raw(memory:DMABuf),format=P010_10LE"));
  fail_unless(takes(caps, "video/x-raw,format=RGBA,colorimetry=sRGB"));
  fail_unless(!takes(caps, "video/x-raw(memory:DMABuf),format=RGBA"));
  fail_unless(!takes(caps, "video/x-raw,format=I420"));
}
GST_END_TEST;

// A stream may change between 8 and 10 bits, and its consumer does not.
GST_START_TEST(a_consumer_of_ten_bit_rgb_is_served_by_eight_bits_too) {
  const auto caps =
      transform(GST_PAD_SRC, "video/x-raw(memory:GLMemory),format=RGB10A2_LE", kNew);
  fail_unless(takes(caps, "video/x-raw(memory:DMABuf),format=NV12,colorimetry=bt709"));
  fail_unless(takes(caps, "video/x-raw(memory:DMABuf),format=P010_10LE"));
  fail_unless(takes(caps, "video/x-raw,format=NV12"));
  fail_unless(!takes(caps, "video/x-raw,format=I420"));
}
GST_END_TEST;

GST_START_TEST(without_shaders_nothing_is_converted) {
  TransformCaps plain = kNew;
  plain.draws = false;
  const auto caps = transform(GST_PAD_SRC, "video/x-raw(memory:GLMemory),format=RGBA", plain);
  fail_unless(!takes(caps, "video/x-raw(memory:DMABuf),format=NV12"));
  fail_unless(takes(caps, "video/x-raw,format=RGBA"));
}
GST_END_TEST;

GST_START_TEST(system_memory_of_every_format_stays_what_it_is) {
  expect(transform(GST_PAD_SINK, "video/x-raw,format={I420,YUY2,Y444_16BE,NV21},width=8", kNew),
         "video/x-raw(memory:GLMemory),format={I420,YUY2,NV21},width=8,texture-target=2D");
}
GST_END_TEST;

GST_START_TEST(textures_pass_through_untouched) {
  const char* external =
      "video/x-raw(memory:GLMemory),format=NV12,texture-target=external-oes,width=64";
  expect(transform(GST_PAD_SINK, external, kNew), external);
  // …and are the only thing that can be an external texture.
  expect(transform(GST_PAD_SRC, external, kNew), external);
}
GST_END_TEST;

GST_START_TEST(views_of_their_own_are_offered_among_textures_only) {
  // As glviewconvert lists them.
  expect(transform(GST_PAD_SRC,
                   "video/x-raw(memory:GLMemory),format=NV12,multiview-mode={mono,left,right};"
                   "video/x-raw(memory:GLMemory),format=NV12,views=2,"
                   "multiview-mode={separated,frame-by-frame}",
                   kOld),
         "video/x-raw(memory:GLMemory),format=NV12,multiview-mode={mono,left,right};"
         "video/x-raw(memory:DMABuf),format=NV12,multiview-mode={mono,left,right};"
         "video/x-raw,format=NV12,multiview-mode={mono,left,right};"
         "video/x-raw(memory:GLMemory),format=NV12,views=2,"
         "multiview-mode={separated,frame-by-frame};"
         "video/x-raw(memory:DMABuf),format=NV12,views=2,multiview-mode=frame-by-frame;"
         "video/x-raw,format=NV12,views=2,multiview-mode=frame-by-frame");
  // Nothing else is left to offer.
  const char* separated =
      "video/x-raw(memory:GLMemory),format=RGBA,multiview-mode=separated,views=[2,4]";
  expect(transform(GST_PAD_SRC, separated, kNew), separated);
  expect(transform(GST_PAD_SRC, "video/x-raw(ANY),format=RGBA,multiview-mode=separated", kNew),
         "video/x-raw(memory:GLMemory),format=RGBA,multiview-mode=separated");
  expect(transform(GST_PAD_SINK, separated, kNew), separated);

  expect(
      transform(GST_PAD_SINK, "video/x-raw,format=I420,multiview-mode=separated,views=2", kNew),
      "EMPTY");
  expect(
      transform(GST_PAD_SINK,
                "video/x-raw,format=I420,multiview-mode={separated,side-by-side,mono}", kNew),
      "video/x-raw(memory:GLMemory),format=I420,multiview-mode={side-by-side,mono},"
      "texture-target=2D");
  // One view is a picture.
  fail_unless(!gst_caps_is_empty(
      transform(GST_PAD_SINK, "video/x-raw,format=I420,multiview-mode=separated,views=1", kNew)
          .get()));
}
GST_END_TEST;

GST_START_TEST(what_is_offered_of_views_is_not_refused) {
  const char* modes[] = {"mono",
                         "left",
                         "right",
                         "side-by-side",
                         "top-bottom",
                         "side-by-side-quincunx",
                         "row-interleaved",
                         "checkerboard",
                         "frame-by-frame",
                         "separated",
                         "multiview-frame-by-frame"};
  std::string all;
  for (const char* mode : modes) all += (all.empty() ? "" : ",") + std::string(mode);
  const std::string size = ",format=NV12,width=64,height=48,framerate=25/1";
  const std::string gl = "video/x-raw(memory:GLMemory)" + size;
  for (const char* number : {"", ",views=1", ",views=2", ",views=[1,4]"}) {
    const auto offered =
        transform(GST_PAD_SRC, (gl + number + ",multiview-mode={" + all + "}").c_str(), kNew);
    for (const char* mode : modes) {
      for (const char* views : {",views=1", ",views=2", ",views=3"}) {
        const std::string more = ",multiview-mode=" + std::string(mode) + views;
        const auto in = parse(("video/x-raw" + size + more).c_str());
        const auto out = transform(GST_PAD_SINK, ("video/x-raw" + size + more).c_str(), kNew);
        dxva::gst::Uploader uploader;
        const bool taken = uploader.set_formats(in.get(), parse((gl + more).c_str()).get());
        fail_unless(taken || !gst_caps_can_intersect(offered.get(), in.get()), "%s of %s",
                    more.c_str(), number);
        fail_unless_equals_int(taken, !gst_caps_is_empty(out.get()));
      }
    }
  }
}
GST_END_TEST;

GST_START_TEST(other_fields_and_features_travel_along) {
  const char* fields =
      "width=64,height=48,framerate=25/1,interlace-mode=mixed,multiview-mode=mono,"
      "hdr-format=HDR10,content-light-level=(string)1000:400";
  const auto out = transform(
      GST_PAD_SINK,
      (std::string("video/x-raw(memory:DMABuf,meta:GstVideoOverlayComposition),format=NV12,") +
       fields)
          .c_str(),
      kNew);
  fail_unless(takes(
      out, (std::string(
                "video/x-raw(memory:GLMemory,meta:GstVideoOverlayComposition),format=NV12,") +
            fields)
               .c_str()));
  fail_unless(!takes(out, "video/x-raw(memory:GLMemory),format=NV12"));
  fail_unless(!takes(out,
                     "video/x-raw(memory:GLMemory,meta:GstVideoOverlayComposition),"
                     "format=NV12,interlace-mode=progressive"));
}
GST_END_TEST;

GST_START_TEST(the_inputs_own_format_is_chosen_before_a_conversion) {
  const auto in = parse(
      "video/x-raw(memory:DMABuf),format=NV12,width=64,height=48,framerate=25/1,"
      "colorimetry=bt709");
  // Downstream's list begins with RGBA, as glcolorconvert's does.
  const auto out = dxva::gst::fixate_output(
      in.get(),
      parse("video/x-raw(memory:GLMemory),format={RGBA,NV12},width=64,height=48;"
            "video/x-raw(memory:GLMemory),format=RGBA,width=64,height=48"),
      kTwoModifiers);
  expect(out, "video/x-raw(memory:GLMemory),format=NV12,width=64,height=48,texture-target=2D");
}
GST_END_TEST;

GST_START_TEST(rgb_is_chosen_where_it_is_preferred_and_can_be_made) {
  const char* candidates =
      "video/x-raw(memory:GLMemory),format={NV12,I420,RGBA},width=64,height=48";
  for (const auto& [format, chosen] : {std::pair{"NV12", "RGBA"}, std::pair{"I420", "I420"}}) {
    const auto in =
        parse((std::string("video/x-raw,width=64,height=48,format=") + format).c_str());
    const auto out = dxva::gst::fixate_output(in.get(), parse(candidates), kTwoModifiers,
                                              dxva::gst::PreferRgb::Yes);
    fail_unless_equals_string(
        gst_structure_get_string(gst_caps_get_structure(out.get(), 0), "format"), chosen);
  }
}
GST_END_TEST;

GST_START_TEST(converted_output_says_what_colours_it_has) {
  const auto in = parse(
      "video/x-raw(memory:DMABuf),format=P010_10LE,width=64,height=48,framerate=25/1,"
      "colorimetry=bt2100-pq");
  const auto out = dxva::gst::fixate_output(
      in.get(),
      parse("video/x-raw(memory:GLMemory),format={RGB10A2_LE,RGBA},width=64,height=48,"
            "texture-target=2D"),
      kTwoModifiers);
  GstVideoInfo info;
  fail_unless(gst_video_info_from_caps(&info, out.get()));
  fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&info), GST_VIDEO_FORMAT_RGB10A2_LE);
  fail_unless_equals_int(info.colorimetry.matrix, GST_VIDEO_COLOR_MATRIX_RGB);
  fail_unless_equals_int(info.colorimetry.range, GST_VIDEO_COLOR_RANGE_0_255);
  fail_unless_equals_int(info.colorimetry.transfer, GST_VIDEO_TRANSFER_SMPTE2084);
  fail_unless_equals_int(info.colorimetry.primaries, GST_VIDEO_COLOR_PRIMARIES_BT2020);
}
GST_END_TEST;

GST_START_TEST(drm_caps_are_parsed_on_every_gstreamer) {
  const auto input = dxva::gst::parse_input(
      parse("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=P010:0x0100000000000001,"
            "width=64,height=48,framerate=25/1,colorimetry=bt2020")
          .get());
  fail_unless(input.has_value());
  fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&input->info), GST_VIDEO_FORMAT_P010_10LE);
  fail_unless(input->memory == dxva::gst::MemoryKind::Dmabuf);
  fail_unless_equals_uint64(input->modifier, 0x0100000000000001);
  fail_unless_equals_int(input->info.colorimetry.matrix, GST_VIDEO_COLOR_MATRIX_BT2020);
}
GST_END_TEST;

// GStreamer passes such numbers on as enums.
GST_START_TEST(colours_that_nobody_knows_are_those_of_caps_without) {
  const auto input = dxva::gst::parse_input(
      parse("video/x-raw,format=NV12,width=64,height=48,framerate=25/1,colorimetry=2:99:13:-1")
          .get());
  fail_unless(input.has_value());
  const GstVideoColorimetry& colours = input->info.colorimetry;
  fail_unless_equals_int(colours.range, GST_VIDEO_COLOR_RANGE_16_235);
  fail_unless_equals_int(colours.matrix, GST_VIDEO_COLOR_MATRIX_UNKNOWN);
  fail_unless_equals_int(colours.transfer, GST_VIDEO_TRANSFER_BT2020_10);
  fail_unless_equals_int(colours.primaries, GST_VIDEO_COLOR_PRIMARIES_UNKNOWN);
}
GST_END_TEST;

namespace {

using Format = dxva::gl::ImportFormats::Format;
constexpr uint64_t kTileA = 0x0200000000000001, kTileB = 0x0200000000000002;
constexpr uint64_t kIntelY = 0x0100000000000002, kIntelCcs = 0x0100000000000007;

// What EGL lists: R8 and GR88 alike, and NV12.
dxva::gst::DmabufOffers offers_of(std::vector<uint64_t> planes, std::vector<uint64_t> whole,
                                  std::vector<uint64_t> external, bool samples_external) {
  return dxva::gst::rank_offers(
      dxva::gl::ImportFormats::of({Format{dxva::format::kR8, planes, {}},
                                   Format{dxva::format::kGR88, planes, {}},
                                   Format{dxva::format::kNV12, whole, external}}),
      samples_external);
}

void expect_modifiers(const std::vector<uint64_t>& got, const std::vector<uint64_t>& want) {
  std::string text;
  for (const uint64_t one : got) text += dxva::modifier_text(one) + " ";
  fail_unless(got == want, "got %s", text.c_str());
}

}  // namespace

GST_START_TEST(what_imports_wherever_the_planes_are_comes_first) {
  // The order in which a driver lists them says nothing.
  const auto offers = offers_of({kTileB, dxva::kModifierLinear, kIntelY}, {kTileA, kIntelY},
                                {dxva::kModifierLinear, 7}, true);
  fail_unless_equals_int(offers.size(), 1);
  expect_modifiers(offers[0].modifiers, {dxva::kModifierLinear, kTileB, kIntelY});
  expect_modifiers(offers[0].drawn_modifiers, {kIntelY, kTileA, 7, dxva::kModifierLinear});
  expect_modifiers(offers[0].for_rgb(), {kIntelY, kTileA, 7, dxva::kModifierLinear, kTileB});
}
GST_END_TEST;

GST_START_TEST(external_textures_count_where_shaders_sample_them) {
  const auto without = offers_of({dxva::kModifierLinear}, {}, {kTileA}, false);
  expect_modifiers(without[0].for_rgb(), {dxva::kModifierLinear});
  // NVIDIA: linear only as an external texture.
  const auto nvidia = offers_of({kTileA}, {}, {dxva::kModifierLinear}, true);
  expect_modifiers(nvidia[0].modifiers, {kTileA});
  expect_modifiers(nvidia[0].for_rgb(), {dxva::kModifierLinear, kTileA});
}
GST_END_TEST;

GST_START_TEST(compressed_and_unknown_layouts_are_not_offered) {
  const auto offers =
      offers_of({kIntelCcs, dxva::kModifierInvalid, kIntelY}, {kIntelCcs, kIntelY}, {}, true);
  expect_modifiers(offers[0].modifiers, {kIntelY});
  expect_modifiers(offers[0].for_rgb(), {kIntelY});
}
GST_END_TEST;

GST_START_TEST(a_driver_that_cannot_be_asked_is_offered_linear) {
  const auto offers = dxva::gst::rank_offers(dxva::gl::ImportFormats{}, true);
  fail_unless_equals_int(offers.size(), 2);
  for (const auto& offer : offers) {
    expect_modifiers(offer.modifiers, {dxva::kModifierLinear});
    expect_modifiers(offer.for_rgb(), {dxva::kModifierLinear});
  }
}
GST_END_TEST;

namespace {

const TransformCaps kWhole = {
    .offers = {{dxva::format::kNV12, {dxva::kModifierLinear}, {kTileA, dxva::kModifierLinear}}},
    .drm_caps = true};
constexpr const char* kTiledNv12 =
    "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0200000000000001";

}  // namespace

GST_START_TEST(only_a_consumer_of_rgb_is_offered_what_must_be_drawn) {
  expect(transform(GST_PAD_SRC, "video/x-raw(memory:GLMemory),format=RGBA", kWhole),
         "video/x-raw(memory:GLMemory),format=RGBA;"
         "video/x-raw(memory:DMABuf),format=DMA_DRM,"
         "drm-format={NV12:0x0200000000000001,NV12};"
         "video/x-raw,format=RGBA;"
         "video/x-raw(memory:DMABuf),format={NV12,P010_10LE};"
         "video/x-raw,format={NV12,P010_10LE}");
  const auto planes =
      transform(GST_PAD_SRC, "video/x-raw(memory:GLMemory),format=NV12", kWhole);
  fail_unless(!takes(planes, kTiledNv12));
  fail_unless(takes(planes, "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12"));
  // Both: linear for its planes, then the tiling.
  const auto both =
      transform(GST_PAD_SRC, "video/x-raw(memory:GLMemory),format={NV12,RGBA}", kWhole);
  fail_unless(takes(both, kTiledNv12));
  TransformCaps without_shaders = kWhole;
  without_shaders.draws = false;
  fail_unless(!takes(transform(GST_PAD_SRC, "video/x-raw(memory:GLMemory),format={NV12,RGBA}",
                               without_shaders),
                     kTiledNv12));
}
GST_END_TEST;

GST_START_TEST(what_must_be_drawn_becomes_rgb_and_nothing_else) {
  expect(transform(GST_PAD_SINK, kTiledNv12, kWhole),
         "video/x-raw(memory:GLMemory),format={RGBA,RGB10A2_LE},texture-target=2D");
  expect(transform(GST_PAD_SINK,
                   "video/x-raw(memory:DMABuf),format=DMA_DRM,"
                   "drm-format={NV12,NV12:0x0200000000000001}",
                   kWhole),
         "video/x-raw(memory:GLMemory),format=NV12,texture-target=2D;"
         "video/x-raw(memory:GLMemory),format={RGBA,RGB10A2_LE},texture-target=2D");
}
GST_END_TEST;

// Most decoders put tiled chroma behind the luma, where it is no image by itself.
GST_START_TEST(a_tiling_that_can_be_drawn_is_drawn_although_its_planes_are_listed) {
  TransformCaps with = kWhole;
  with.offers[0].modifiers.push_back(kTileA);
  const auto in =
      parse((std::string(kTiledNv12) + ",width=64,height=48,framerate=25/1").c_str());
  const auto chosen = [&](const char* candidates) {
    const auto out = dxva::gst::fixate_output(in.get(), parse(candidates), with.offers);
    return std::string(
        gst_structure_get_string(gst_caps_get_structure(out.get(), 0), "format"));
  };
  // Named: the macro looks at the text when a temporary is gone.
  const std::string of_both = chosen(
      "video/x-raw(memory:GLMemory),format=NV12;"
      "video/x-raw(memory:GLMemory),format={BGRA,RGBA}");
  fail_unless_equals_string(of_both.c_str(), "RGBA");
  const std::string of_planes = chosen("video/x-raw(memory:GLMemory),format={NV12,I420}");
  fail_unless_equals_string(of_planes.c_str(), "NV12");
}
GST_END_TEST;

GST_START_TEST(only_questions_about_system_memory_are_the_same_in_any_context) {
  const struct {
    const char* inputs;
    bool same;
  } cases[] = {
      {"video/x-raw,width=64", true},
      {"video/x-raw,width=[1,64];video/x-raw,format={NV12,RGBA},height=48", true},
      {"video/x-raw(memory:DMABuf),format={NV12,P010_10LE}", false},
      {"video/x-raw,width=[1,64];video/x-raw(memory:DMABuf),width=64", false},
      {"video/x-raw(memory:OpaqueFd),format=NV12", false},
      {"video/x-raw(memory:GLMemory),format=RGBA", false},
      {"video/x-raw(ANY),width=[1,64]", false},
      {"ANY", false},
  };
  const auto outputs = parse("video/x-raw(memory:GLMemory),format=RGBA");
  for (const auto& one : cases) {
    const auto inputs = parse(one.inputs);
    fail_unless(dxva::gst::is_any_context(GST_PAD_SRC, outputs.get(), inputs.get()) == one.same,
                "%s", one.inputs);
  }
  fail_if(dxva::gst::is_any_context(GST_PAD_SRC, outputs.get(), nullptr));
  // A stream's own caps are no question.
  fail_if(dxva::gst::is_any_context(
      GST_PAD_SINK, parse("video/x-raw,format=NV12,width=64,height=48").get(), nullptr));
  fail_unless(dxva::gst::is_any_context(
      GST_PAD_SINK, parse("video/x-raw,format={NV12,I420},width=64").get(), nullptr));
}
GST_END_TEST;

GST_START_TEST(drm_format_text_goes_both_ways) {
  for (const char* text : {"NV12", "P010", "NV12:0x0100000000000002"}) {
    const auto drm = dxva::gst::parse_drm_format(text);
    fail_unless(drm.has_value());
    const std::string back = dxva::gst::drm_format_text(*drm);
    fail_unless_equals_string(back.c_str(), text);
  }
  for (const char* text : {"", "NV1", "NV12:", "NV12:0x", "NV12:0xzz", "NV12:2", "NV12 0x0"})
    fail_unless(!dxva::gst::parse_drm_format(text), "%s", text);
}
GST_END_TEST;

int main(int argc, char** argv) {
  gst_check_init(&argc, &argv);
  Suite* suite = suite_create("dxvaglupload_caps");
  TCase* tests = tcase_create("general");
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, linear_dmabuf_becomes_its_own_format_or_rgb);
  tcase_add_test(tests, ten_bit_video_becomes_ten_bit_rgb_first);
  tcase_add_test(tests, drm_formats_become_the_format_inside);
  tcase_add_test(tests, a_drm_format_nobody_knows_gives_nothing);
  tcase_add_test(tests, upstream_may_send_drm_then_dmabuf_then_system_memory);
  tcase_add_test(tests, opaque_memory_is_asked_for_from_one_device_only);
  tcase_add_test(tests, old_gstreamer_is_never_offered_drm_caps);
  tcase_add_test(tests, a_consumer_of_rgba_is_served_by_both_planar_formats);
  tcase_add_test(tests, a_consumer_of_ten_bit_rgb_is_served_by_eight_bits_too);
  tcase_add_test(tests, without_shaders_nothing_is_converted);
  tcase_add_test(tests, system_memory_of_every_format_stays_what_it_is);
  tcase_add_test(tests, textures_pass_through_untouched);
  tcase_add_test(tests, views_of_their_own_are_offered_among_textures_only);
  tcase_add_test(tests, what_is_offered_of_views_is_not_refused);
  tcase_add_test(tests, other_fields_and_features_travel_along);
  tcase_add_test(tests, the_inputs_own_format_is_chosen_before_a_conversion);
  tcase_add_test(tests, rgb_is_chosen_where_it_is_preferred_and_can_be_made);
  tcase_add_test(tests, converted_output_says_what_colours_it_has);
  tcase_add_test(tests, drm_caps_are_parsed_on_every_gstreamer);
  tcase_add_test(tests, colours_that_nobody_knows_are_those_of_caps_without);
  tcase_add_test(tests, only_questions_about_system_memory_are_the_same_in_any_context);
  tcase_add_test(tests, drm_format_text_goes_both_ways);
  tcase_add_test(tests, what_imports_wherever_the_planes_are_comes_first);
  tcase_add_test(tests, external_textures_count_where_shaders_sample_them);
  tcase_add_test(tests, compressed_and_unknown_layouts_are_not_offered);
  tcase_add_test(tests, a_driver_that_cannot_be_asked_is_offered_linear);
  tcase_add_test(tests, only_a_consumer_of_rgb_is_offered_what_must_be_drawn);
  tcase_add_test(tests, what_must_be_drawn_becomes_rgb_and_nothing_else);
  tcase_add_test(tests, a_tiling_that_can_be_drawn_is_drawn_although_its_planes_are_listed);
  return gst_check_run_suite(suite, "dxvaglupload_caps", __FILE__);
}
