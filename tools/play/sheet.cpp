// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/play/sheet.hpp"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include <algorithm>
#include <cstring>

#include "tools/play/handles.hpp"

namespace dxva::play {
namespace {

Error sheet_error(const std::string& text) {
  return {.code = ErrorCode::Failed, .call = "", .text = "contact sheet: " + text};
}

// GStreamer's encoder: the program needs no PNG library of its own.
Status encode_png(GstBuffer* picture, int width, int height, const OutputFile& file) {
  GError* failure = nullptr;
  const Owned<GstElement> pipeline(gst_parse_launch(
      "appsrc name=in format=time ! pngenc snapshot=true ! appsink name=out sync=false",
      &failure));
  const Owned<GError> owned(failure);
  if (failure) {
    gst_buffer_unref(picture);
    return sheet_error(failure->message);
  }
  const Owned<GstElement> in(gst_bin_get_by_name(GST_BIN(pipeline.get()), "in"));
  const Owned<GstElement> out(gst_bin_get_by_name(GST_BIN(pipeline.get()), "out"));
  const Owned<GstCaps> caps(gst_caps_new_simple(
      "video/x-raw", "format", G_TYPE_STRING, "RGB", "width", G_TYPE_INT, width, "height",
      G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, 1, 1, nullptr));
  g_object_set(in.get(), "caps", caps.get(), nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  gst_app_src_push_buffer(GST_APP_SRC(in.get()), picture);
  gst_app_src_end_of_stream(GST_APP_SRC(in.get()));
  // Without a picture the end of the stream, or of an encoder that failed, wakes it.
  const Owned<GstSample> png(gst_app_sink_pull_sample(GST_APP_SINK(out.get())));
  if (png) {
    GstMapInfo map;
    gst_buffer_map(gst_sample_get_buffer(png.get()), &map, GST_MAP_READ);  // of plain memory
    const Status written = file.write({reinterpret_cast<const char*>(map.data), map.size});
    gst_buffer_unmap(gst_sample_get_buffer(png.get()), &map);
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
    return written;
  }
  const Owned<GstBus> bus(gst_element_get_bus(pipeline.get()));
  const Owned<GstMessage> end(gst_bus_timed_pop_filtered(bus.get(), 0, GST_MESSAGE_ERROR));
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  if (!end) return sheet_error("pngenc gave no picture");
  GError* cause = nullptr;
  gst_message_parse_error(end.get(), &cause, nullptr);
  const Owned<GError> owned_cause(cause);
  return sheet_error(cause->message);
}

}  // namespace

Status ContactSheet::add(const MappedFrame& mapped) {
  const Crop& crop = mapped.crop();
  if (crop.width <= 0 || crop.height <= 0) return sheet_error("an empty frame");
  const int height = std::clamp(kWidth * crop.height / crop.width, 1, 4 * kWidth);
  GstVideoInfo from = mapped.frame().info;
  GstVideoInfo to;
  gst_video_info_set_format(&to, GST_VIDEO_FORMAT_RGB, kWidth, height);
  // Frame rates take no part in a picture, and the converter wants them equal.
  GST_VIDEO_INFO_FPS_N(&from) = GST_VIDEO_INFO_FPS_N(&to);
  GST_VIDEO_INFO_FPS_D(&from) = GST_VIDEO_INFO_FPS_D(&to);
  // A frame of two fields is shown as it stands. The converter asks the frame for that as well
  // as what it was made for, and has no scaler for fields then.
  GST_VIDEO_INFO_INTERLACE_MODE(&from) = GST_VIDEO_INTERLACE_MODE_PROGRESSIVE;
  GstVideoFrame whole = mapped.frame();
  whole.info = from;
  whole.flags = static_cast<GstVideoFrameFlags>(whole.flags & ~GST_VIDEO_FRAME_FLAG_INTERLACED);
  GstVideoConverter* converter = gst_video_converter_new(
      &from, &to,
      gst_structure_new("options", GST_VIDEO_CONVERTER_OPT_SRC_X, G_TYPE_INT, crop.x,
                        GST_VIDEO_CONVERTER_OPT_SRC_Y, G_TYPE_INT, crop.y,
                        GST_VIDEO_CONVERTER_OPT_SRC_WIDTH, G_TYPE_INT, crop.width,
                        GST_VIDEO_CONVERTER_OPT_SRC_HEIGHT, G_TYPE_INT, crop.height, nullptr));
  if (!converter) return sheet_error("no conversion from this format");
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&to), nullptr);
  GstVideoFrame picture;
  gst_video_frame_map(&picture, &to, buffer, GST_MAP_WRITE);
  gst_video_converter_frame(converter, &whole, &picture);
  gst_video_converter_free(converter);

  Thumbnail thumbnail{.height = height, .rgb = {}};
  for (int row = 0; row < height; ++row) {
    const auto* first = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&picture, 0)) +
                        static_cast<ptrdiff_t>(row) * GST_VIDEO_FRAME_PLANE_STRIDE(&picture, 0);
    thumbnail.rgb.insert(thumbnail.rgb.end(), first, first + kWidth * 3);
  }
  gst_video_frame_unmap(&picture);
  gst_buffer_unref(buffer);

  thumbnails_.push_back(std::move(thumbnail));
  if (thumbnails_.size() == 2 * kPictures) {
    for (size_t kept = 1; kept < kPictures; ++kept)
      thumbnails_[kept] = std::move(thumbnails_[2 * kept]);
    thumbnails_.resize(kPictures);
    step_ *= 2;
  }
  return Done{};
}

Status ContactSheet::write(const OutputFile& file) const {
  if (thumbnails_.empty()) return sheet_error("there was no frame");
  std::vector<const Thumbnail*> chosen;
  const size_t pictures = std::min(kPictures, thumbnails_.size());
  for (size_t i = 0; i < pictures; ++i)
    chosen.push_back(&thumbnails_[i * thumbnails_.size() / pictures]);

  int cell_height = 0;
  for (const Thumbnail* thumbnail : chosen)
    cell_height = std::max(cell_height, thumbnail->height);
  const int columns = std::min<int>(kColumns, static_cast<int>(pictures));
  const int rows = (static_cast<int>(pictures) + columns - 1) / columns;
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_RGB, columns * kWidth, rows * cell_height);
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr);
  gst_buffer_memset(buffer, 0, 0x20, GST_VIDEO_INFO_SIZE(&info));
  const int pitch = GST_VIDEO_INFO_PLANE_STRIDE(&info, 0);
  for (size_t i = 0; i < pictures; ++i) {
    const int x = static_cast<int>(i) % columns * kWidth * 3;
    const int y = static_cast<int>(i) / columns * cell_height;
    for (int row = 0; row < chosen[i]->height; ++row)
      gst_buffer_fill(buffer, static_cast<gsize>(y + row) * pitch + x,
                      chosen[i]->rgb.data() + static_cast<size_t>(row) * kWidth * 3,
                      kWidth * 3);
  }
  return encode_png(buffer, columns * kWidth, rows * cell_height, file);
}

}  // namespace dxva::play
