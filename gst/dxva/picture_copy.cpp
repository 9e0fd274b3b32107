// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/picture_copy.hpp"

#include <array>
#include <cstring>
#include <optional>

#include "gst/dxva/output_format.hpp"
#include "lib/video/frame_view.hpp"

namespace dxva::gst {

namespace {

uint32_t component_of(const GstVideoFormatInfo* info, uint32_t plane) {
  for (uint32_t c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info); ++c)
    if (GST_VIDEO_FORMAT_INFO_PLANE(info, c) == plane) return c;
  return 0;
}

uint8_t* plane_data(GstVideoFrame& frame, uint32_t plane) {
  return static_cast<uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane));
}

uint32_t plane_pitch(GstVideoFrame& frame, uint32_t plane) {
  return static_cast<uint32_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane));
}

// Chroma of no colour.
void fill_neutral(GstVideoFrame& to) {
  const size_t row_bytes = (static_cast<size_t>(GST_VIDEO_FRAME_WIDTH(&to)) + 1) / 2 * 2;
  for (int row = 0; row < GST_VIDEO_FRAME_COMP_HEIGHT(&to, 1); ++row)
    std::memset(plane_data(to, 1) + static_cast<size_t>(row) * plane_pitch(to, 1), 128,
                row_bytes);
}

// P010 has its ten bits at the top of the word, planar formats at the bottom.
void copy_shifted(const video::PlaneView& from, uint8_t* to, uint32_t pitch_bytes) {
  for (uint32_t row = 0; row < from.rows; ++row) {
    const auto* in =
        reinterpret_cast<const uint16_t*>(from.data + size_t{row} * from.pitch_bytes);
    auto* out = reinterpret_cast<uint16_t*>(to + size_t{row} * pitch_bytes);
    for (uint32_t i = 0; i < from.row_bytes / 2; ++i)
      out[i] = static_cast<uint16_t>(in[i] << 6);
  }
}

// Formats of 16-bit words with the samples at the top: where those of a component lie. What
// GstVideoFormatInfo has for these serves its own unpackers and nobody else.
struct WordFormat {
  struct Component {
    uint32_t plane = 0;
    uint32_t first = 0;  // words
    uint32_t step = 0;
  };
  int shift = 0;
  std::array<Component, 3> yuv{};
  std::optional<Component> alpha;
};
WordFormat word_format(GstVideoFormat format) {
  constexpr std::array<WordFormat::Component, 3> kPairs{{{0, 0, 2}, {0, 1, 4}, {0, 3, 4}}};
  switch (format) {
    case GST_VIDEO_FORMAT_Y210:
      return {.shift = 6, .yuv = kPairs, .alpha = {}};
    case GST_VIDEO_FORMAT_Y212_LE:
      return {.shift = 4, .yuv = kPairs, .alpha = {}};
    case GST_VIDEO_FORMAT_Y412_LE:
      return {.shift = 4,
              .yuv = {{{0, 1, 4}, {0, 0, 4}, {0, 2, 4}}},
              .alpha = WordFormat::Component{0, 3, 4}};
    default:  // P012_LE
      return {.shift = 4, .yuv = {{{0, 0, 1}, {1, 0, 2}, {1, 1, 2}}}, .alpha = {}};
  }
}

uint16_t* words_of(GstVideoFrame& to, const WordFormat::Component& component, uint32_t row) {
  return reinterpret_cast<uint16_t*>(plane_data(to, component.plane) +
                                     size_t{row} * plane_pitch(to, component.plane)) +
         component.first;
}

void scatter(const std::array<video::PlaneView, 3>& planes, GstVideoFrame& to) {
  const WordFormat format = word_format(GST_VIDEO_FRAME_FORMAT(&to));
  for (size_t c = 0; c < planes.size(); ++c) {
    const video::PlaneView& from = planes[c];
    for (uint32_t row = 0; row < from.rows; ++row) {
      const auto* in =
          reinterpret_cast<const uint16_t*>(from.data + size_t{row} * from.pitch_bytes);
      uint16_t* out = words_of(to, format.yuv[c], row);
      for (uint32_t i = 0; i < from.row_bytes / 2; ++i)
        out[size_t{i} * format.yuv[c].step] = static_cast<uint16_t>(in[i] << format.shift);
    }
  }
  if (!format.alpha) return;
  for (uint32_t row = 0; row < planes[0].rows; ++row) {
    uint16_t* out = words_of(to, *format.alpha, row);
    for (uint32_t i = 0; i < planes[0].row_bytes / 2; ++i)
      out[size_t{i} * format.alpha->step] = 0xffff;
  }
}

// Y410: ten bits each of U, Y and V from the bottom, and an alpha of two.
void pack_y410(const video::PlaneView& y, const video::PlaneView& u, const video::PlaneView& v,
               GstVideoFrame& to) {
  const auto row_of = [](const video::PlaneView& plane, uint32_t row) {
    return reinterpret_cast<const uint16_t*>(plane.data + size_t{row} * plane.pitch_bytes);
  };
  for (uint32_t row = 0; row < y.rows; ++row) {
    const auto* y_row = row_of(y, row);
    const auto* u_row = row_of(u, row);
    const auto* v_row = row_of(v, row);
    uint8_t* out = plane_data(to, 0) + size_t{row} * plane_pitch(to, 0);
    for (uint32_t i = 0; i < y.row_bytes / 2; ++i)
      GST_WRITE_UINT32_LE(out + i * 4, 3u << 30 | (v_row[i] & 1023u) << 20 |
                                           (y_row[i] & 1023u) << 10 | (u_row[i] & 1023u));
  }
}

template <typename Sample, int kShift>
void interleave(const video::PlaneView& u, const video::PlaneView& v, uint8_t* to,
                uint32_t pitch_bytes) {
  for (uint32_t row = 0; row < u.rows; ++row) {
    const auto* u_row = reinterpret_cast<const Sample*>(u.data + size_t{row} * u.pitch_bytes);
    const auto* v_row = reinterpret_cast<const Sample*>(v.data + size_t{row} * v.pitch_bytes);
    auto* out = reinterpret_cast<Sample*>(to + size_t{row} * pitch_bytes);
    for (uint32_t i = 0; i < u.row_bytes / sizeof(Sample); ++i) {
      out[2 * i] = static_cast<Sample>(u_row[i] << kShift);
      out[2 * i + 1] = static_cast<Sample>(v_row[i] << kShift);
    }
  }
}

// Both chroma planes out of one. Rows of whole samples, shifted down to the low bits.
template <typename Sample, int kShift>
void split_picture(const PictureView& from, const decode::Rect& visible, GstVideoFrame& to) {
  const auto row_of = [&to](uint32_t plane, uint32_t row) {
    return reinterpret_cast<Sample*>(plane_data(to, plane) +
                                     size_t{row} * plane_pitch(to, plane));
  };
  const auto y = crop_plane(from, 0, visible);
  if constexpr (kShift == 0) {
    video::copy_plane(y, plane_data(to, 0), plane_pitch(to, 0));
  } else {
    for (uint32_t row = 0; row < y.rows; ++row) {
      const auto* in = reinterpret_cast<const Sample*>(y.data + size_t{row} * y.pitch_bytes);
      Sample* out = row_of(0, row);
      for (uint32_t i = 0; i < y.row_bytes / sizeof(Sample); ++i)
        out[i] = static_cast<Sample>(in[i] >> kShift);
    }
  }
  const auto uv = crop_plane(from, 1, visible);
  for (uint32_t row = 0; row < uv.rows; ++row) {
    const auto* in = reinterpret_cast<const Sample*>(uv.data + size_t{row} * uv.pitch_bytes);
    Sample* u = row_of(1, row);
    Sample* v = row_of(2, row);
    for (uint32_t i = 0; i < uv.row_bytes / (2 * sizeof(Sample)); ++i) {
      u[i] = static_cast<Sample>(in[2 * i] >> kShift);
      v[i] = static_cast<Sample>(in[2 * i + 1] >> kShift);
    }
  }
}

}  // namespace

video::PlaneView crop_plane(const PictureView& from, uint32_t plane,
                            const decode::Rect& visible) {
  const GstVideoFormatInfo* info = gst_video_format_get_info(from.format);
  const uint32_t c = component_of(info, plane);
  const auto step = static_cast<uint32_t>(GST_VIDEO_FORMAT_INFO_PSTRIDE(info, c));
  const uint32_t x = visible.x >> GST_VIDEO_FORMAT_INFO_W_SUB(info, c);
  const uint32_t y = visible.y >> GST_VIDEO_FORMAT_INFO_H_SUB(info, c);
  const auto width = static_cast<uint32_t>(
      GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(info, c, static_cast<gint>(visible.width)));
  const auto height = static_cast<uint32_t>(
      GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(info, c, static_cast<gint>(visible.height)));
  const PictureView::Plane& p = from.planes[plane];
  return {.data = p.data + size_t{y} * p.pitch_bytes + size_t{x} * step,
          .pitch_bytes = p.pitch_bytes,
          .row_bytes = width * step,
          .rows = height};
}

bool copy_picture(const PictureView& from, const decode::Rect& visible, GstVideoFrame& to) {
  const GstVideoFormatInfo* info = gst_video_format_get_info(from.format);
  const GstVideoFormat wanted = GST_VIDEO_FRAME_FORMAT(&to);
  if (!info || from.plane_count != GST_VIDEO_FORMAT_INFO_N_PLANES(info)) return false;
  if (static_cast<uint32_t>(GST_VIDEO_FRAME_WIDTH(&to)) != visible.width ||
      static_cast<uint32_t>(GST_VIDEO_FRAME_HEIGHT(&to)) != visible.height)
    return false;

  if (wanted == from.format) {
    for (uint32_t i = 0; i < from.plane_count; ++i)
      from.plane_copy(crop_plane(from, i, visible), plane_data(to, i), plane_pitch(to, i));
    return true;
  }
  if (wanted == GST_VIDEO_FORMAT_UNKNOWN || wanted != rearranged(from.format, visible.width))
    return false;
  switch (from.format) {
    case GST_VIDEO_FORMAT_NV12:
      split_picture<uint8_t, 0>(from, visible, to);
      return true;
    case GST_VIDEO_FORMAT_P010_10LE:
      split_picture<uint16_t, 6>(from, visible, to);
      return true;
    default:
      break;
  }
  const auto y = crop_plane(from, 0, visible);
  if (from.plane_count == 1) {
    video::copy_plane(y, plane_data(to, 0), plane_pitch(to, 0));
    fill_neutral(to);
    return true;
  }
  const auto u = crop_plane(from, 1, visible);
  const auto v = crop_plane(from, 2, visible);
  switch (wanted) {
    case GST_VIDEO_FORMAT_NV12:
      video::copy_plane(y, plane_data(to, 0), plane_pitch(to, 0));
      interleave<uint8_t, 0>(u, v, plane_data(to, 1), plane_pitch(to, 1));
      break;
    case GST_VIDEO_FORMAT_P010_10LE:
      copy_shifted(y, plane_data(to, 0), plane_pitch(to, 0));
      interleave<uint16_t, 6>(u, v, plane_data(to, 1), plane_pitch(to, 1));
      break;
    case GST_VIDEO_FORMAT_Y410:
      pack_y410(y, u, v, to);
      break;
    default:
      scatter({y, u, v}, to);
  }
  return true;
}

}  // namespace dxva::gst
