// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What tests of dxvaglupload stand on: frames in sealed memfds that pass for dma-bufs, the
// element in a harness, and pixels read back from its textures.

#include <gst/check/gstharness.h>
#include <gst/gl/gl.h>
#include <gst/video/video.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gst/common/gst_ptr.hpp"

namespace dxva::test {

// Prepares the environment (headless GL, the test switch), then asks a child process for an
// OpenGL context. False, with the reason printed, when there is none: exit 77.
[[nodiscard]] bool set_up_gl_rig(int* argc, char*** argv);
// DXVA_RIG says that this machine must be able to import: what is missing is then a failure.
[[nodiscard]] bool rig_must_import();

// Where a two-plane picture stands in its buffer.
struct FrameLayout {
  const char* name = "";
  GstVideoFormat format = GST_VIDEO_FORMAT_NV12;
  uint32_t width = 0;
  uint32_t height = 0;
  std::array<uint64_t, 2> offset{};
  std::array<int32_t, 2> pitch{};
  uint64_t size = 0;

  [[nodiscard]] uint32_t sample_bytes() const {
    return format == GST_VIDEO_FORMAT_P010_10LE ? 2 : 1;
  }
  [[nodiscard]] uint32_t row_bytes(uint32_t plane) const {
    return (plane == 0 ? width : (width + 1) / 2 * 2) * sample_bytes();
  }
  [[nodiscard]] uint32_t rows(uint32_t plane) const {
    return plane == 0 ? height : (height + 1) / 2;
  }
  [[nodiscard]] GstVideoInfo info() const;
  [[nodiscard]] std::string caps(const char* feature) const;  // with framerate 25/1
};
// Pitch and offsets as given, the size that ends with the last row.
[[nodiscard]] FrameLayout make_layout(const char* name, GstVideoFormat format, uint32_t width,
                                      uint32_t height, uint32_t pitch, uint32_t rows_before_uv,
                                      uint64_t start = 0);

// A byte of the pattern: any two pictures (`seed`) differ nearly everywhere.
[[nodiscard]] uint8_t pattern(uint32_t seed, uint32_t plane, uint32_t row, uint32_t index);

// A picture in memory that a dma-buf would have. Its memory object stays the same over all
// buffers made of it, as a decoder's does.
class MemfdFrame {
 public:
  explicit MemfdFrame(const FrameLayout& layout, bool sealed = true);
  ~MemfdFrame();
  MemfdFrame(const MemfdFrame&) = delete;
  MemfdFrame& operator=(const MemfdFrame&) = delete;

  void fill(uint32_t seed);
  [[nodiscard]] const FrameLayout& layout() const { return layout_; }
  [[nodiscard]] uint8_t* data() { return data_; }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] gst::GstPtr<GstBuffer> buffer();

 private:
  FrameLayout layout_;
  int fd_ = -1;
  uint8_t* data_ = nullptr;
  gst::GstPtr<GstMemory> memory_;
};

[[nodiscard]] int make_memfd(uint64_t size, bool sealed);
// A dma-buf memory around a descriptor that it will own.
[[nodiscard]] gst::GstPtr<GstMemory> dmabuf_memory(int fd, uint64_t size);
void add_video_meta(GstBuffer* buffer, const FrameLayout& layout);

// dxvaglupload between two pads.
class UploadHarness {
 public:
  UploadHarness(const std::string& sink_caps, const std::string& src_caps);
  explicit UploadHarness(const FrameLayout& layout, const char* output = nullptr);
  ~UploadHarness();
  UploadHarness(const UploadHarness&) = delete;
  UploadHarness& operator=(const UploadHarness&) = delete;

  [[nodiscard]] GstHarness* get() const { return harness_; }
  [[nodiscard]] GstElement* element() const { return harness_->element; }
  // Null when the element dropped it.
  [[nodiscard]] gst::GstPtr<GstBuffer> push(gst::GstPtr<GstBuffer> buffer);
  [[nodiscard]] bool imports() const;  // this context does import
  [[nodiscard]] uint64_t stat(const char* name) const;
  [[nodiscard]] uint64_t step(const char* name) const;
  [[nodiscard]] uint64_t reason(const char* name) const;
  [[nodiscard]] GstVideoInfo output_info() const;
  // A number of a structure within the stats.
  [[nodiscard]] uint64_t nested(const char* part, const char* name) const;

 private:
  GstHarness* harness_;
};

// The context that the element works in.
[[nodiscard]] gst::GstPtr<GstGLContext> get_gl_context(const UploadHarness& harness);

// Rows of the picture in the texture that differ from the pattern, and a sentence about the
// first.
struct Comparison {
  uint64_t wrong_bytes = 0;
  std::string first;
};
[[nodiscard]] Comparison compare(GstBuffer* output, const FrameLayout& layout, uint32_t seed);

}  // namespace dxva::test
