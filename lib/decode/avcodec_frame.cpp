// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/avcodec_frame.hpp"

extern "C" {
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"

namespace dxva::decode {

namespace {

Chroma chroma_of(const AVPixFmtDescriptor& description) {
  if (description.flags & AV_PIX_FMT_FLAG_RGB) return Chroma::Rgb;
  if (description.nb_components < 3) return Chroma::Gray;
  const int w = description.log2_chroma_w;
  const int h = description.log2_chroma_h;
  if (w == 1 && h == 1) return Chroma::Yuv420;
  if (w == 2 && h == 0) return Chroma::Yuv411;
  if (w == 1 && h == 0) return Chroma::Yuv422;
  if (w == 0 && h == 1) return Chroma::Yuv440;
  return Chroma::Yuv444;
}

// What a software picture may look like to be described by SoftwarePicture.
bool is_describable(const AVPixFmtDescriptor& description) {
  const uint64_t wanted = description.nb_components > 1 ? AV_PIX_FMT_FLAG_PLANAR : 0;
  constexpr uint64_t kRefused = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL |
                                AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL |
                                AV_PIX_FMT_FLAG_FLOAT;
  return (description.flags & (wanted | kRefused)) == wanted &&
         description.comp[0].shift == 0 && description.nb_components != 2;
}

Colour colour_of(const AVFrame& frame) {
  Colour out;
  out.primaries = static_cast<uint8_t>(frame.color_primaries);
  out.transfer = static_cast<uint8_t>(frame.color_trc);
  out.matrix = static_cast<uint8_t>(frame.colorspace);
  if (frame.color_range == AVCOL_RANGE_JPEG) out.range = Colour::Range::Full;
  if (frame.color_range == AVCOL_RANGE_MPEG) out.range = Colour::Range::Limited;
  switch (frame.chroma_location) {
    case AVCHROMA_LOC_UNSPECIFIED:
      break;
    case AVCHROMA_LOC_LEFT:
      out.site = Colour::Site::Left;
      break;
    case AVCHROMA_LOC_CENTER:
      out.site = Colour::Site::Centre;
      break;
    case AVCHROMA_LOC_TOPLEFT:
      out.site = Colour::Site::TopLeft;
      break;
    default:
      out.site = Colour::Site::Other;
  }
  return out;
}

uint32_t scaled(AVRational value, int64_t units) {
  if (value.den <= 0 || value.num < 0) return 0;
  return static_cast<uint32_t>(
      std::min<int64_t>(av_rescale(value.num, units, value.den), UINT32_MAX));
}

std::optional<MasteringDisplay> mastering_of(const AVFrame& frame) {
  const AVFrameSideData* side =
      av_frame_get_side_data(&frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
  if (!side) return std::nullopt;
  const auto* data = reinterpret_cast<const AVMasteringDisplayMetadata*>(side->data);
  if (!data->has_primaries || !data->has_luminance) return std::nullopt;
  const auto point = [](const AVRational(&xy)[2]) {
    return std::array<uint16_t, 2>{
        static_cast<uint16_t>(std::min(scaled(xy[0], 50000), 65535u)),
        static_cast<uint16_t>(std::min(scaled(xy[1], 50000), 65535u))};
  };
  return MasteringDisplay{.red = point(data->display_primaries[0]),
                          .green = point(data->display_primaries[1]),
                          .blue = point(data->display_primaries[2]),
                          .white = point(data->white_point),
                          .max_luminance = scaled(data->max_luminance, 10000),
                          .min_luminance = scaled(data->min_luminance, 10000)};
}

std::optional<ContentLight> light_of(const AVFrame& frame) {
  const AVFrameSideData* side =
      av_frame_get_side_data(&frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
  if (!side) return std::nullopt;
  const auto* data = reinterpret_cast<const AVContentLightMetadata*>(side->data);
  return ContentLight{
      .max_content = static_cast<uint16_t>(std::min(data->MaxCLL, 65535u)),
      .max_frame_average = static_cast<uint16_t>(std::min(data->MaxFALL, 65535u))};
}

void describe_fields(const AVFrame& frame, DecodedFrame& out) {
#ifdef AV_FRAME_FLAG_INTERLACED  // FFmpeg 6.1; the old members are deprecated there
  out.interlaced = (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
  out.top_field_first = (frame.flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
  out.interlaced = frame.interlaced_frame != 0;
  out.top_field_first = frame.top_field_first != 0;
#endif
  // 1: one field more; 2 and 4: whole frames more, which GStreamer has no flag for.
  out.repeat_first_field = frame.repeat_pict == 1;
}

Rect visible_part(const AVFrame& frame) {
  const auto width = static_cast<uint32_t>(frame.width);
  const auto height = static_cast<uint32_t>(frame.height);
  const size_t crop_x = frame.crop_left + frame.crop_right;
  const size_t crop_y = frame.crop_top + frame.crop_bottom;
  if (crop_x >= width || crop_y >= height) return {.width = width, .height = height};
  return {.x = static_cast<uint32_t>(frame.crop_left),
          .y = static_cast<uint32_t>(frame.crop_top),
          .width = static_cast<uint32_t>(width - crop_x),
          .height = static_cast<uint32_t>(height - crop_y)};
}

struct Pixels {
  FramePtr frame;
  std::vector<uint16_t> neutral_row;
  std::array<std::vector<uint8_t>, 2> doubled;
};

// GStreamer has no 4:4:0 (a camera's 4:2:2 JPEG that was turned): it is 4:4:4 in which two rows
// have the same colours.
void double_chroma_rows(Pixels& pixels, DecodedFrame& out) {
  const uint32_t row_bytes = out.width * (out.bit_depth > 8 ? 2 : 1);
  out.chroma = Chroma::Yuv444;
  for (uint32_t i = 0; i < 2; ++i) {
    SoftwarePicture::Plane& plane = out.software.planes[i + 1];
    auto& doubled = pixels.doubled[i];
    doubled.resize(size_t{row_bytes} * out.height);
    for (uint32_t row = 0; row < out.height; ++row)
      std::memcpy(doubled.data() + size_t{row} * row_bytes,
                  plane.data + size_t{row / 2} * plane.pitch_bytes, row_bytes);
    plane = {.data = doubled.data(), .pitch_bytes = row_bytes};
  }
}

// GStreamer has no gray format of more than 8 bits: such a picture is 4:2:0 without colour.
void add_neutral_chroma(Pixels& pixels, DecodedFrame& out) {
  pixels.neutral_row.assign((out.width + 1) / 2,
                            static_cast<uint16_t>(1u << (out.bit_depth - 1)));
  out.chroma = Chroma::Yuv420;
  out.software.plane_count = 3;
  for (const int plane : {1, 2})
    out.software.planes[plane] = {
        .data = reinterpret_cast<const uint8_t*>(pixels.neutral_row.data()),
        .pitch_bytes = 0};  // every row is the same one
}

bool take_pixels(AVFrame& frame, DecodedFrame& out) {
  const auto* description = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  if (!description || !is_describable(*description)) {
    DXVA_WARNING(Decode, "pictures of format %s cannot be shown",
                 description ? description->name : "unknown");
    return false;
  }
  out.chroma = chroma_of(*description);
  // An alpha channel is left behind. JPEG's CMYK comes with one, of which nothing shines
  // through.
  constexpr uint32_t kWithoutAlpha = 3;
  out.bit_depth = static_cast<uint32_t>(description->comp[0].depth);
  out.software.plane_count = std::min(
      kWithoutAlpha,
      static_cast<uint32_t>(av_pix_fmt_count_planes(static_cast<AVPixelFormat>(frame.format))));
  for (uint32_t i = 0; i < out.software.plane_count; ++i) {
    if (frame.linesize[i] <= 0) return false;  // upside down: no decoder of ours does it
    out.software.planes[i] = {.data = frame.data[i],
                              .pitch_bytes = static_cast<uint32_t>(frame.linesize[i])};
  }
  // The J formats say full range by their name.
  if (std::strncmp(description->name, "yuvj", 4) == 0) out.colour.range = Colour::Range::Full;
  auto pixels = std::make_shared<Pixels>();
  pixels->frame.reset(av_frame_alloc());
  av_frame_move_ref(pixels->frame.get(), &frame);
  if (out.chroma == Chroma::Gray && out.bit_depth > 8) add_neutral_chroma(*pixels, out);
  if (out.chroma == Chroma::Yuv440) double_chroma_rows(*pixels, out);
  out.software.owner = std::move(pixels);
  return true;
}

}  // namespace

std::optional<DecodedFrame> describe(AVFrame& frame, Hwaccel* device) {
  DecodedFrame out{.width = static_cast<uint32_t>(frame.width),
                   .height = static_cast<uint32_t>(frame.height),
                   .visible = visible_part(frame)};
  // libavcodec sets its own mark only in software.
  out.corrupt = (frame.flags & AV_FRAME_FLAG_CORRUPT) != 0;
  describe_fields(frame, out);
  if (frame.sample_aspect_ratio.num > 0 && frame.sample_aspect_ratio.den > 0) {
    out.aspect_num = static_cast<uint32_t>(frame.sample_aspect_ratio.num);
    out.aspect_den = static_cast<uint32_t>(frame.sample_aspect_ratio.den);
  }
  out.colour = colour_of(frame);
  out.mastering = mastering_of(frame);
  out.light = light_of(frame);

  if (device && frame.format == device->pixel_format()) {
    out.surface = device->surface_of(frame);
    if (!out.surface) return std::nullopt;
    out.chroma = Chroma::Yuv420;
    out.bit_depth = out.surface->fourcc() == format::kP010 ? 10 : 8;
    return out;
  }
  if (!take_pixels(frame, out)) return std::nullopt;
  return out;
}

}  // namespace dxva::decode
