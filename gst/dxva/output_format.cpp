// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/output_format.hpp"

#include <gst/video/video-hdr.h>

#include "gst/common/known_colorimetry.hpp"

namespace dxva::gst {

namespace {

GstVideoFormat planar_format(decode::Chroma chroma, uint32_t depth) {
  using enum decode::Chroma;
  const auto by_depth = [depth](GstVideoFormat eight, GstVideoFormat ten,
                                GstVideoFormat twelve) {
    if (depth == 8) return eight;
    if (depth == 10) return ten;
    if (depth == 12) return twelve;
    return GST_VIDEO_FORMAT_UNKNOWN;
  };
  switch (chroma) {
    case Gray:
      return by_depth(GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_UNKNOWN,
                      GST_VIDEO_FORMAT_UNKNOWN);
    case Yuv420:
      return by_depth(GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_I420_10LE,
                      GST_VIDEO_FORMAT_I420_12LE);
    case Yuv411:
      return by_depth(GST_VIDEO_FORMAT_Y41B, GST_VIDEO_FORMAT_UNKNOWN,
                      GST_VIDEO_FORMAT_UNKNOWN);
    case Yuv422:
      return by_depth(GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_I422_10LE,
                      GST_VIDEO_FORMAT_I422_12LE);
    case Yuv440:
      return GST_VIDEO_FORMAT_UNKNOWN;
    case Yuv444:
      return by_depth(GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_Y444_10LE,
                      GST_VIDEO_FORMAT_Y444_12LE);
    case Rgb:
      return by_depth(GST_VIDEO_FORMAT_GBR, GST_VIDEO_FORMAT_GBR_10LE,
                      GST_VIDEO_FORMAT_GBR_12LE);
  }
  return GST_VIDEO_FORMAT_UNKNOWN;
}

bool says(const GstCaps* caps, const char* field) {
  return caps && gst_caps_get_size(caps) > 0 &&
         gst_structure_has_field(gst_caps_get_structure(caps, 0), field);
}

// What the container says; unknown where it says nothing.
GstVideoColorimetry colour_told(const GstCaps* input) {
  GstVideoColorimetry out{GST_VIDEO_COLOR_RANGE_UNKNOWN, GST_VIDEO_COLOR_MATRIX_UNKNOWN,
                          GST_VIDEO_TRANSFER_UNKNOWN, GST_VIDEO_COLOR_PRIMARIES_UNKNOWN};
  const char* text =
      says(input, "colorimetry")
          ? gst_structure_get_string(gst_caps_get_structure(input, 0), "colorimetry")
          : nullptr;
  GstVideoColorimetry told;
  if (!text || !gst_video_colorimetry_from_string(&told, text)) return out;
  forget_unknown_parts(told);
  return told;
}

// Each part for itself: h264parse 1.22 knows the matrix of a stream and not its range. What
// nobody says stays at GStreamer's default for the size.
void add_colour(GstVideoColorimetry& out, const GstVideoColorimetry& told,
                const decode::Colour& stream) {
  constexpr uint8_t kUnspecified = 2;
  if (told.primaries != GST_VIDEO_COLOR_PRIMARIES_UNKNOWN)
    out.primaries = told.primaries;
  else if (stream.primaries != kUnspecified)
    out.primaries = gst_video_color_primaries_from_iso(stream.primaries);
  if (told.transfer != GST_VIDEO_TRANSFER_UNKNOWN)
    out.transfer = told.transfer;
  else if (stream.transfer != kUnspecified)
    out.transfer = gst_video_transfer_function_from_iso(stream.transfer);
  if (told.matrix != GST_VIDEO_COLOR_MATRIX_UNKNOWN)
    out.matrix = told.matrix;
  else if (stream.matrix != kUnspecified)
    out.matrix = gst_video_color_matrix_from_iso(stream.matrix);
  if (told.range != GST_VIDEO_COLOR_RANGE_UNKNOWN)
    out.range = told.range;
  else if (stream.range != decode::Colour::Range::Unspecified)
    out.range = stream.range == decode::Colour::Range::Full ? GST_VIDEO_COLOR_RANGE_0_255
                                                            : GST_VIDEO_COLOR_RANGE_16_235;
}

GstVideoChromaSite chroma_site(decode::Colour::Site site) {
  switch (site) {
    using enum decode::Colour::Site;
    case Left:
      return GST_VIDEO_CHROMA_SITE_MPEG2;
    case Centre:
      return GST_VIDEO_CHROMA_SITE_JPEG;
    case TopLeft:
      return GST_VIDEO_CHROMA_SITE_COSITED;
    case Unspecified:
    case Other:
      break;
  }
  return GST_VIDEO_CHROMA_SITE_UNKNOWN;
}

}  // namespace

OutputFormat OutputFormat::of(const decode::DecodedFrame& frame) {
  OutputFormat out{.hardware = frame.surface != nullptr,
                   .width = frame.visible.width,
                   .height = frame.visible.height,
                   .interlaced = frame.interlaced,
                   .lone_field = frame.lone_field,
                   .aspect_num = frame.aspect_num,
                   .aspect_den = frame.aspect_den,
                   .colour = frame.colour,
                   .mastering = frame.mastering,
                   .light = frame.light};
  if (out.hardware)
    out.format = frame.bit_depth == 8 ? GST_VIDEO_FORMAT_NV12 : GST_VIDEO_FORMAT_P010_10LE;
  else
    out.format = planar_format(frame.chroma, frame.bit_depth);
  return out;
}

GstVideoFormat rearranged(GstVideoFormat format, uint32_t width) {
  // GStreamer's rows of packed 4:2:2 end in the middle of the last pair of an odd width.
  const auto packed_422 = [width](GstVideoFormat packed) {
    return width % 2 == 0 ? packed : GST_VIDEO_FORMAT_UNKNOWN;
  };
  switch (format) {
    case GST_VIDEO_FORMAT_I420:
    case GST_VIDEO_FORMAT_GRAY8:
      return GST_VIDEO_FORMAT_NV12;
    case GST_VIDEO_FORMAT_I420_10LE:
      return GST_VIDEO_FORMAT_P010_10LE;
    case GST_VIDEO_FORMAT_I420_12LE:
      return GST_VIDEO_FORMAT_P012_LE;
    case GST_VIDEO_FORMAT_I422_10LE:
      return packed_422(GST_VIDEO_FORMAT_Y210);
    case GST_VIDEO_FORMAT_I422_12LE:
      return packed_422(GST_VIDEO_FORMAT_Y212_LE);
    case GST_VIDEO_FORMAT_Y444_10LE:
      return GST_VIDEO_FORMAT_Y410;
    case GST_VIDEO_FORMAT_Y444_12LE:
      return GST_VIDEO_FORMAT_Y412_LE;
    case GST_VIDEO_FORMAT_NV12:
      return GST_VIDEO_FORMAT_I420;
    case GST_VIDEO_FORMAT_P010_10LE:
      return GST_VIDEO_FORMAT_I420_10LE;
    default:
      return GST_VIDEO_FORMAT_UNKNOWN;
  }
}

void add_stream_facts(GstVideoInfo& info, const OutputFormat& output, const GstCaps* input) {
  forget_unknown_parts(info.colorimetry);  // the base class has them of the input
  add_colour(info.colorimetry, colour_told(input), output.colour);
  if (!says(input, "chroma-site") && GST_VIDEO_INFO_N_COMPONENTS(&info) > 1) {
    const GstVideoChromaSite site = chroma_site(output.colour.site);
    if (site != GST_VIDEO_CHROMA_SITE_UNKNOWN) info.chroma_site = site;
  }
  if (!says(input, "pixel-aspect-ratio") && output.aspect_num > 0) {
    info.par_n = static_cast<gint>(output.aspect_num);
    info.par_d = static_cast<gint>(output.aspect_den);
  }
  if (output.lone_field) {
    // Twice as many pictures as the stream has frames, of lines that are twice as far apart.
    // GStreamer's own way for them (interlace-mode=alternate) is one that no GL element takes.
    gst_util_fraction_multiply(info.fps_n, info.fps_d, 2, 1, &info.fps_n, &info.fps_d);
    gst_util_fraction_multiply(info.par_n, info.par_d, 1, 2, &info.par_n, &info.par_d);
  }
}

void add_hdr_facts(GstCaps* caps, const OutputFormat& output) {
  if (output.mastering) {
    GstVideoMasteringDisplayInfo info{};
    const decode::MasteringDisplay& from = *output.mastering;
    const std::array<uint16_t, 2>* points[] = {&from.red, &from.green, &from.blue};
    for (int i = 0; i < 3; ++i) {
      info.display_primaries[i].x = (*points[i])[0];
      info.display_primaries[i].y = (*points[i])[1];
    }
    info.white_point.x = from.white[0];
    info.white_point.y = from.white[1];
    info.max_display_mastering_luminance = from.max_luminance;
    info.min_display_mastering_luminance = from.min_luminance;
    gst_video_mastering_display_info_add_to_caps(&info, caps);
  }
  if (output.light) {
    GstVideoContentLightLevel info{};
    info.max_content_light_level = output.light->max_content;
    info.max_frame_average_light_level = output.light->max_frame_average;
    gst_video_content_light_level_add_to_caps(&info, caps);
  }
}

}  // namespace dxva::gst
