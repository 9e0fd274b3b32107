// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Pictures in system memory of every format that GstGL holds, and their comparison with what
// came back from the textures. For one program's use.

#include <gst/gl/gl.h>
#include <gst/video/video.h>

#include <cstring>
#include <string>
#include <vector>

#include "gst/common/gst_ptr.hpp"
#include "tests/check/support/check.hpp"

namespace dxva::test {

using gst::GstPtr;

inline std::vector<GstVideoFormat> gl_formats() {
  std::vector<GstVideoFormat> out;
  const auto caps = GstPtr<GstCaps>::adopt(
      gst_caps_from_string("video/x-raw,format=" GST_GL_MEMORY_VIDEO_FORMATS_STR));
  const GValue* list = gst_structure_get_value(gst_caps_get_structure(caps.get(), 0), "format");
  for (guint i = 0; i < gst_value_list_get_size(list); ++i)
    out.push_back(
        gst_video_format_from_string(g_value_get_string(gst_value_list_get_value(list, i))));
  return out;
}

// Half a macropixel has no place in a texture.
inline bool takes_odd_sizes(const GstVideoFormatInfo* format) {
  const bool packed_pairs = GST_VIDEO_FORMAT_INFO_N_PLANES(format) == 1 &&
                            GST_VIDEO_FORMAT_INFO_IS_YUV(format) &&
                            GST_VIDEO_FORMAT_INFO_W_SUB(format, 1) != 0;
  return !packed_pairs && !GST_VIDEO_FORMAT_INFO_IS_TILED(format);
}

struct Plane {
  size_t row_bytes;
  size_t rows;
};
inline Plane plane_of(const GstVideoInfo& info, guint plane) {
  const GstVideoFormatInfo* format = info.finfo;
  if (GST_VIDEO_FORMAT_INFO_IS_TILED(format)) {
    const gint stride = GST_VIDEO_INFO_PLANE_STRIDE(&info, plane);
    return {.row_bytes = static_cast<size_t>(GST_VIDEO_TILE_X_TILES(stride)) *
                         GST_VIDEO_FORMAT_INFO_TILE_STRIDE(format, plane),
            .rows = static_cast<size_t>(GST_VIDEO_TILE_Y_TILES(stride)) *
                    GST_VIDEO_FORMAT_INFO_TILE_HEIGHT(format, plane)};
  }
  gint components[GST_VIDEO_MAX_COMPONENTS];
  gst_video_format_info_component(format, plane, components);
  const gint c = components[0];
  size_t row = static_cast<size_t>(GST_VIDEO_INFO_COMP_WIDTH(&info, c)) *
               static_cast<size_t>(GST_VIDEO_INFO_COMP_PSTRIDE(&info, c));
  if (GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_v210)
    row = static_cast<size_t>((GST_VIDEO_INFO_WIDTH(&info) + 5) / 6) * 16;
  return {.row_bytes = row, .rows = static_cast<size_t>(GST_VIDEO_INFO_COMP_HEIGHT(&info, c))};
}

inline size_t pitch_of(const GstVideoInfo& info, guint plane) {
  return GST_VIDEO_FORMAT_INFO_IS_TILED(info.finfo)
             ? plane_of(info, plane).row_bytes
             : static_cast<size_t>(GST_VIDEO_INFO_PLANE_STRIDE(&info, plane));
}

inline void fill(GstBuffer* buffer, guint seed) {
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; ++i)
    map.data[i] = static_cast<guint8>(i * 2654435761u >> 11) ^ static_cast<guint8>(seed);
  gst_buffer_unmap(buffer, &map);
}

inline void check_same(GstBuffer* output, const GstVideoInfo& info, GstBuffer* input,
                       const GstVideoInfo& layout) {
  GstMapInfo map;
  GstVideoFrame frame;
  GstVideoInfo wanted = info;
  fail_unless(gst_buffer_map(input, &map, GST_MAP_READ));
  fail_unless(gst_video_frame_map(&frame, &wanted, output, GST_MAP_READ));
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    const Plane plane = plane_of(info, p);
    const auto* got = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
    const guint8* want = map.data + GST_VIDEO_INFO_PLANE_OFFSET(&layout, p);
    for (size_t row = 0; row < plane.rows; ++row)
      fail_unless(std::memcmp(got + row * pitch_of(frame.info, p),
                              want + row * pitch_of(layout, p), plane.row_bytes) == 0,
                  "%s %dx%d: plane %u row %zu differs", GST_VIDEO_INFO_NAME(&info), info.width,
                  info.height, p, row);
  }
  gst_video_frame_unmap(&frame);
  gst_buffer_unmap(input, &map);
}

// Other strides and gaps between planes, as decoders have them.
inline GstVideoInfo padded(const GstVideoInfo& info) {
  GstVideoInfo out = info;
  if (GST_VIDEO_FORMAT_INFO_IS_TILED(info.finfo)) return out;
  gsize offset = 96;
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    out.offset[p] = offset;
    out.stride[p] = info.stride[p] + 36;  // a multiple of 3 and of 4, not of 8
    offset += plane_of(info, p).rows * static_cast<gsize>(out.stride[p]) + 64;
  }
  out.size = offset;
  return out;
}

inline std::string caps_of(const GstVideoInfo& info) {
  const auto caps = GstPtr<GstCaps>::adopt(gst_video_info_to_caps(&info));
  gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, 25, 1, nullptr);
  const gst::GlibString text(gst_caps_to_string(caps.get()));
  return text.get();
}

inline GstPtr<GstBuffer> system_buffer(GstVideoInfo layout, guint seed, bool with_meta) {
  auto buffer =
      GstPtr<GstBuffer>::adopt(gst_buffer_new_allocate(nullptr, layout.size, nullptr));
  fill(buffer.get(), seed);
  if (with_meta)
    gst_buffer_add_video_meta_full(
        buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&layout),
        static_cast<guint>(layout.width), static_cast<guint>(layout.height),
        GST_VIDEO_INFO_N_PLANES(&layout), layout.offset, layout.stride);
  return buffer;
}

}  // namespace dxva::test
