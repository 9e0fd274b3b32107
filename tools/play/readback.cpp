// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/play/readback.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace dxva::play {
namespace {

int halve(int n) {
  return (n + 1) / 2;
}

struct Plane {
  const uint8_t* first;  // of the visible pixels
  int pitch_bytes;
};

Plane component(const MappedFrame& mapped, int index) {
  const GstVideoFrame* frame = &mapped.frame();
  const GstVideoFormatInfo* info = frame->info.finfo;
  const int x = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(info, index, mapped.crop().x);
  const int y = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(info, index, mapped.crop().y);
  const int pitch = GST_VIDEO_FRAME_COMP_STRIDE(frame, index);
  return {static_cast<const uint8_t*>(GST_VIDEO_FRAME_COMP_DATA(frame, index)) +
              static_cast<ptrdiff_t>(y) * pitch +
              x * GST_VIDEO_FRAME_COMP_PSTRIDE(frame, index),
          pitch};
}

void append_rows(std::vector<uint8_t>& out, const Plane& plane, int row_bytes, int rows) {
  for (int row = 0; row < rows; ++row) {
    const uint8_t* first = plane.first + static_cast<ptrdiff_t>(row) * plane.pitch_bytes;
    out.insert(out.end(), first, first + row_bytes);
  }
}

void append_interleaved_8(std::vector<uint8_t>& out, const Plane& u, const Plane& v, int u_step,
                          int columns, int rows) {
  for (int row = 0; row < rows; ++row) {
    const uint8_t* u_row = u.first + static_cast<ptrdiff_t>(row) * u.pitch_bytes;
    const uint8_t* v_row = v.first + static_cast<ptrdiff_t>(row) * v.pitch_bytes;
    for (int column = 0; column < columns; ++column) {
      out.push_back(u_row[column * u_step]);
      out.push_back(v_row[column * u_step]);
    }
  }
}

// Little-endian samples of 10 bits, moved from the low end of their word to the high end.
void append_shifted_10(std::vector<uint8_t>& out, std::initializer_list<Plane> planes,
                       int columns, int rows) {
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      for (const Plane& plane : planes) {
        const uint8_t* sample =
            plane.first + static_cast<ptrdiff_t>(row) * plane.pitch_bytes + column * 2;
        const unsigned value = (sample[0] | sample[1] << 8) << 6;
        out.push_back(static_cast<uint8_t>(value));
        out.push_back(static_cast<uint8_t>(value >> 8));
      }
    }
  }
}

// Formats of 16-bit words with the samples at the top of them, that OpenGL has in place of
// planes with the samples at the bottom. What GstVideoFormatInfo says of their components
// serves its own unpackers and nobody else.
struct WordFormat {
  struct Component {
    int plane;
    int first;  // words
    int step;
  };
  const char* planar_name;  // FFmpeg's, of such planes
  int shift;
  std::array<Component, 3> yuv;
};
const WordFormat* word_format(GstVideoFormat format) {
  static const WordFormat y210{"yuv422p10le", 6, {{{0, 0, 2}, {0, 1, 4}, {0, 3, 4}}}};
  static const WordFormat y212{"yuv422p12le", 4, {{{0, 0, 2}, {0, 1, 4}, {0, 3, 4}}}};
  static const WordFormat y412{"yuv444p12le", 4, {{{0, 1, 4}, {0, 0, 4}, {0, 2, 4}}}};
  static const WordFormat p012{"yuv420p12le", 4, {{{0, 0, 1}, {1, 0, 2}, {1, 1, 2}}}};
  switch (format) {
    case GST_VIDEO_FORMAT_Y210:
      return &y210;
    case GST_VIDEO_FORMAT_Y212_LE:
      return &y212;
    case GST_VIDEO_FORMAT_Y412_LE:
      return &y412;
    case GST_VIDEO_FORMAT_P012_LE:
      return &p012;
    default:
      return nullptr;
  }
}

void append_word(std::vector<uint8_t>& out, unsigned value) {
  out.push_back(static_cast<uint8_t>(value));
  out.push_back(static_cast<uint8_t>(value >> 8));
}

void append_planes_of_words(std::vector<uint8_t>& out, const MappedFrame& mapped,
                            const WordFormat& format) {
  const GstVideoFrame* frame = &mapped.frame();
  const GstVideoFormatInfo* info = frame->info.finfo;
  for (int c = 0; c < 3; ++c) {
    const WordFormat::Component& where = format.yuv[c];
    const auto scaled_x = [info, c](int x) {
      return GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(info, c, x);
    };
    const auto scaled_y = [info, c](int y) {
      return GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(info, c, y);
    };
    for (int row = 0; row < scaled_y(mapped.crop().height); ++row) {
      const uint8_t* words =
          static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(frame, where.plane)) +
          static_cast<ptrdiff_t>(row + scaled_y(mapped.crop().y)) *
              GST_VIDEO_FRAME_PLANE_STRIDE(frame, where.plane);
      for (int column = 0; column < scaled_x(mapped.crop().width); ++column) {
        const int at = where.first + (column + scaled_x(mapped.crop().x)) * where.step;
        append_word(out,
                    static_cast<unsigned>(GST_READ_UINT16_LE(words + at * 2)) >> format.shift);
      }
    }
  }
}

// Y410: U, Y and V of ten bits each from the bottom of a word.
void append_planes_of_y410(std::vector<uint8_t>& out, const MappedFrame& mapped) {
  const auto* first =
      static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&mapped.frame(), 0)) +
      static_cast<ptrdiff_t>(mapped.crop().y) *
          GST_VIDEO_FRAME_PLANE_STRIDE(&mapped.frame(), 0) +
      mapped.crop().x * 4;
  for (const int shift : {10, 0, 20}) {
    for (int row = 0; row < mapped.crop().height; ++row) {
      const uint8_t* at = first + static_cast<ptrdiff_t>(row) *
                                      GST_VIDEO_FRAME_PLANE_STRIDE(&mapped.frame(), 0);
      for (int column = 0; column < mapped.crop().width; ++column) {
        append_word(out, GST_READ_UINT32_LE(at + column * 4) >> shift & 1023);
      }
    }
  }
}

// FFmpeg's names of the formats that both sides lay out alike.
const char* native_name(GstVideoFormat format) {
  switch (format) {
    case GST_VIDEO_FORMAT_Y41B:
      return "yuv411p";
    case GST_VIDEO_FORMAT_Y42B:
      return "yuv422p";
    case GST_VIDEO_FORMAT_Y444:
      return "yuv444p";
    case GST_VIDEO_FORMAT_I422_10LE:
      return "yuv422p10le";
    case GST_VIDEO_FORMAT_Y444_10LE:
      return "yuv444p10le";
    case GST_VIDEO_FORMAT_I420_12LE:
      return "yuv420p12le";
    case GST_VIDEO_FORMAT_I422_12LE:
      return "yuv422p12le";
    case GST_VIDEO_FORMAT_Y444_12LE:
      return "yuv444p12le";
    case GST_VIDEO_FORMAT_GRAY16_LE:
      return "gray16le";
    case GST_VIDEO_FORMAT_NV16:
      return "nv16";
    case GST_VIDEO_FORMAT_GBR:
      return "gbrp";
    case GST_VIDEO_FORMAT_RGBA:
      return "rgba";
    case GST_VIDEO_FORMAT_BGRA:
      return "bgra";
    default:
      return "";
  }
}

void append_native(std::vector<uint8_t>& out, const MappedFrame& mapped) {
  const GstVideoFrame* frame = &mapped.frame();
  const GstVideoFormatInfo* info = frame->info.finfo;
  for (guint plane = 0; plane < GST_VIDEO_FORMAT_INFO_N_PLANES(info); ++plane) {
    gint components[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component(info, plane, components);
    const int first = components[0];
    append_rows(out, component(mapped, first),
                GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(info, first, mapped.crop().width) *
                    GST_VIDEO_FRAME_COMP_PSTRIDE(frame, first),
                GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(info, first, mapped.crop().height));
  }
}

}  // namespace

Result<MappedFrame> MappedFrame::map(GstSample* sample) {
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  GstVideoInfo info;
  if (!buffer || !gst_video_info_from_caps(&info, gst_sample_get_caps(sample)))
    return Error{
        .code = ErrorCode::Failed, .call = "", .text = "a frame came without video caps"};
  MappedFrame mapped;
  if (!gst_video_frame_map(&mapped.frame_, &info, buffer, GST_MAP_READ))
    return Error{.code = ErrorCode::Failed,
                 .call = "gst_video_frame_map",
                 .text = "a frame could not be read back from GL"};
  mapped.mapped_ = true;
  mapped.crop_ = {0, 0, GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info)};
  if (const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer)) {
    // The meta is relative to the frame as it is mapped, and a frame may claim anything.
    const int width = GST_VIDEO_FRAME_WIDTH(&mapped.frame_);
    const int height = GST_VIDEO_FRAME_HEIGHT(&mapped.frame_);
    mapped.crop_.x = std::min(static_cast<int>(crop->x), width);
    mapped.crop_.y = std::min(static_cast<int>(crop->y), height);
    mapped.crop_.width = std::min(static_cast<int>(crop->width), width - mapped.crop_.x);
    mapped.crop_.height = std::min(static_cast<int>(crop->height), height - mapped.crop_.y);
  }
  return mapped;
}

MappedFrame::MappedFrame(MappedFrame&& other) noexcept
    : frame_(other.frame_), crop_(other.crop_), mapped_(std::exchange(other.mapped_, false)) {}

MappedFrame::~MappedFrame() {
  if (mapped_) gst_video_frame_unmap(&frame_);
}

TightFrame tighten(const MappedFrame& mapped) {
  const int width = mapped.crop().width;
  const int height = mapped.crop().height;
  TightFrame tight{.width = width, .height = height};
  std::vector<uint8_t>& out = tight.bytes;
  out.reserve(static_cast<size_t>(width) * height * 3);
  const GstVideoFormat format = GST_VIDEO_FRAME_FORMAT(&mapped.frame());
  switch (format) {
    case GST_VIDEO_FORMAT_NV12:
    case GST_VIDEO_FORMAT_NV21:
    case GST_VIDEO_FORMAT_I420:
    case GST_VIDEO_FORMAT_YV12:
      tight.pixel_format = "nv12";
      append_rows(out, component(mapped, GST_VIDEO_COMP_Y), width, height);
      append_interleaved_8(out, component(mapped, GST_VIDEO_COMP_U),
                           component(mapped, GST_VIDEO_COMP_V),
                           GST_VIDEO_FRAME_COMP_PSTRIDE(&mapped.frame(), GST_VIDEO_COMP_U),
                           halve(width), halve(height));
      break;
    case GST_VIDEO_FORMAT_GRAY8:
      tight.pixel_format = "nv12";
      append_rows(out, component(mapped, GST_VIDEO_COMP_Y), width, height);
      out.insert(out.end(), static_cast<size_t>(halve(width)) * 2 * halve(height), 128);
      break;
    case GST_VIDEO_FORMAT_P010_10LE:
      tight.pixel_format = "p010le";
      append_rows(out, component(mapped, GST_VIDEO_COMP_Y), width * 2, height);
      append_rows(out, component(mapped, GST_VIDEO_COMP_U), halve(width) * 4, halve(height));
      break;
    case GST_VIDEO_FORMAT_I420_10LE:
      tight.pixel_format = "p010le";
      append_shifted_10(out, {component(mapped, GST_VIDEO_COMP_Y)}, width, height);
      append_shifted_10(
          out, {component(mapped, GST_VIDEO_COMP_U), component(mapped, GST_VIDEO_COMP_V)},
          halve(width), halve(height));
      break;
    case GST_VIDEO_FORMAT_Y410:
      tight.pixel_format = "yuv444p10le";
      append_planes_of_y410(out, mapped);
      break;
    default:
      if (const WordFormat* words = word_format(format)) {
        tight.pixel_format = words->planar_name;
        append_planes_of_words(out, mapped, *words);
        break;
      }
      tight.pixel_format = native_name(format);
      append_native(out, mapped);
      break;
  }
  return tight;
}

}  // namespace dxva::play
