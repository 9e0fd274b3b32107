// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/support/gl_rig.hpp"

#include <fcntl.h>
#include <gst/allocators/gstdmabuf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gst/dxvagl/gl_upload.hpp"
#include "gst/dxvagl/gstdxvaglupload.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/in_child.hpp"

namespace dxva::test {
namespace {

// In a child, because check forks for each test and a GL context does not survive that.
bool gl_works() {
  return yes_in_child([] {
    gst_init(nullptr, nullptr);
    GstGLDisplay* display = gst_gl_display_new();
    GstGLContext* context = nullptr;
    GError* error = nullptr;
    const bool ok = gst_gl_display_create_context(display, nullptr, &context, &error);
    if (!ok) std::printf("# %s\n", error ? error->message : "no context");
    return ok;
  });
}

}  // namespace

bool set_up_gl_rig(int* argc, char*** argv) {
  const bool headless = !getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY");
  if (headless && !getenv("GST_GL_WINDOW") && !getenv("GST_GL_PLATFORM")) {
    setenv("GST_GL_WINDOW", "egl-device", 1);
    setenv("GST_GL_PLATFORM", "egl", 1);
  }
  // GLES cannot read 16-bit textures back, and GStreamer 1.26 would choose it.
  setenv("GST_GL_API", "opengl3", 0);
  const char* switches = getenv("GST_DXVA_TEST");
  const std::string with_verify =
      std::string(switches ? switches : "memfd,software-import") + ",verify";
  setenv("GST_DXVA_TEST", with_verify.c_str(), 1);
  setenv("GST_REGISTRY_UPDATE", "no", 0);
  if (!gl_works()) {
    std::printf("# SKIP no OpenGL context can be made here\n");
    return false;
  }
  gst_check_init(argc, argv);
  gst_element_register(nullptr, "dxvaglupload", GST_RANK_NONE, GST_TYPE_DXVA_GL_UPLOAD);
  return true;
}

bool rig_must_import() {
  const char* rig = getenv("DXVA_RIG");
  return rig && std::strcmp(rig, "memfd") == 0;
}

GstVideoInfo FrameLayout::info() const {
  GstVideoInfo out;
  gst_video_info_set_format(&out, format, width, height);
  return out;
}

std::string FrameLayout::caps(const char* feature) const {
  return std::string("video/x-raw") + (feature ? std::string("(") + feature + ")" : "") +
         ",format=" + gst_video_format_to_string(format) + ",width=" + std::to_string(width) +
         ",height=" + std::to_string(height) + ",framerate=25/1";
}

FrameLayout make_layout(const char* name, GstVideoFormat format, uint32_t width,
                        uint32_t height, uint32_t pitch, uint32_t rows_before_uv,
                        uint64_t start) {
  FrameLayout out{.name = name, .format = format, .width = width, .height = height};
  out.pitch = {static_cast<int32_t>(pitch), static_cast<int32_t>(pitch)};
  out.offset = {start, start + uint64_t{pitch} * rows_before_uv};
  out.size = out.offset[1] + uint64_t{pitch} * (out.rows(1) - 1) + out.row_bytes(1);
  return out;
}

uint8_t pattern(uint32_t seed, uint32_t plane, uint32_t row, uint32_t index) {
  return static_cast<uint8_t>(seed * 53 + plane * 97 + row * 7 + index * 3 + index / 64);
}

int make_memfd(uint64_t size, bool sealed) {
  const int fd = memfd_create("frame", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  fail_unless(fd >= 0 && ftruncate(fd, static_cast<off_t>(size)) == 0);
  if (sealed) fail_unless(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
  return fd;
}

gst::GstPtr<GstMemory> dmabuf_memory(int fd, uint64_t size) {
  const auto allocator = gst::GstPtr<GstAllocator>::adopt(gst_dmabuf_allocator_new());
  return gst::GstPtr<GstMemory>::adopt(gst_dmabuf_allocator_alloc(allocator.get(), fd, size));
}

void add_video_meta(GstBuffer* buffer, const FrameLayout& layout) {
  gsize offset[GST_VIDEO_MAX_PLANES] = {layout.offset[0], layout.offset[1]};
  gint stride[GST_VIDEO_MAX_PLANES] = {layout.pitch[0], layout.pitch[1]};
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, layout.format, layout.width,
                                 layout.height, 2, offset, stride);
}

MemfdFrame::MemfdFrame(const FrameLayout& layout, bool sealed) : layout_(layout) {
  fd_ = make_memfd(layout.size, sealed);
  data_ = static_cast<uint8_t*>(
      mmap(nullptr, layout.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
  fail_unless(data_ != MAP_FAILED);
  memory_ = dmabuf_memory(fd_, layout.size);
}

MemfdFrame::~MemfdFrame() {
  munmap(data_, layout_.size);
}

void MemfdFrame::fill(uint32_t seed) {
  // What lies between rows and planes must never be seen.
  std::memset(data_, 0xee, layout_.size);
  for (uint32_t p = 0; p < 2; ++p)
    for (uint32_t row = 0; row < layout_.rows(p); ++row)
      for (uint32_t i = 0; i < layout_.row_bytes(p); ++i)
        data_[layout_.offset[p] + uint64_t{row} * static_cast<uint32_t>(layout_.pitch[p]) + i] =
            pattern(seed, p, row, i);
}

gst::GstPtr<GstBuffer> MemfdFrame::buffer() {
  auto buffer = gst::GstPtr<GstBuffer>::adopt(gst_buffer_new());
  gst_buffer_append_memory(buffer.get(), gst_memory_ref(memory_.get()));
  add_video_meta(buffer.get(), layout_);
  return buffer;
}

UploadHarness::UploadHarness(const std::string& sink_caps, const std::string& src_caps)
    : harness_(gst_harness_new("dxvaglupload")) {
  gst_harness_set_sink_caps_str(harness_, sink_caps.c_str());
  gst_harness_set_src_caps_str(harness_, src_caps.c_str());
}

UploadHarness::UploadHarness(const FrameLayout& layout, const char* output)
    : UploadHarness(std::string("video/x-raw(memory:GLMemory),format=") +
                        (output ? output : gst_video_format_to_string(layout.format)),
                    layout.caps("memory:DMABuf")) {}

UploadHarness::~UploadHarness() {
  gst_harness_teardown(harness_);
}

gst::GstPtr<GstBuffer> UploadHarness::push(gst::GstPtr<GstBuffer> buffer) {
  fail_unless_equals_int(gst_harness_push(harness_, buffer.release()), GST_FLOW_OK);
  return gst::GstPtr<GstBuffer>::adopt(gst_harness_try_pull(harness_));
}

bool UploadHarness::imports() const {
  return reason("no-import-extension") == 0;
}

uint64_t UploadHarness::stat(const char* name) const {
  GstStructure* stats = nullptr;
  g_object_get(element(), "stats", &stats, nullptr);
  const gst::StructurePtr owned(stats);
  guint64 value = 0;
  fail_unless(gst_structure_get_uint64(stats, name, &value));
  return value;
}

uint64_t UploadHarness::nested(const char* part, const char* name) const {
  GstStructure* stats = nullptr;
  g_object_get(element(), "stats", &stats, nullptr);
  const gst::StructurePtr owned(stats);
  const GValue* inner = gst_structure_get_value(stats, part);
  fail_unless(inner != nullptr);
  guint64 value = 0;
  (void)gst_structure_get_uint64(gst_value_get_structure(inner), name, &value);
  return value;
}

uint64_t UploadHarness::step(const char* name) const {
  return nested("steps", name);
}
uint64_t UploadHarness::reason(const char* name) const {
  return nested("reasons", name);
}

GstVideoInfo UploadHarness::output_info() const {
  const auto caps = gst::GstPtr<GstCaps>::adopt(gst_pad_get_current_caps(harness_->sinkpad));
  GstVideoInfo info;
  fail_unless(caps && gst_video_info_from_caps(&info, caps.get()));
  return info;
}

gst::GstPtr<GstGLContext> get_gl_context(const UploadHarness& harness) {
  GstGLContext* context = nullptr;
  g_object_get(harness.element(), "context", &context, nullptr);
  return gst::GstPtr<GstGLContext>::adopt(context);
}

Comparison compare(GstBuffer* output, const FrameLayout& layout, uint32_t seed) {
  Comparison out;
  GstVideoInfo info = layout.info();
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, output, GST_MAP_READ))
    return {.wrong_bytes = UINT64_MAX, .first = "the output cannot be mapped"};
  for (uint32_t p = 0; p < 2; ++p) {
    const auto* data = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
    const auto pitch = static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p));
    for (uint32_t row = 0; row < layout.rows(p); ++row) {
      for (uint32_t i = 0; i < layout.row_bytes(p); ++i) {
        const uint8_t want = pattern(seed, p, row, i), got = data[row * pitch + i];
        if (want == got) continue;
        if (out.wrong_bytes++ == 0)
          out.first = std::string(layout.name) + ": plane " + std::to_string(p) + " row " +
                      std::to_string(row) + " byte " + std::to_string(i) + " is " +
                      std::to_string(got) + ", not " + std::to_string(want);
      }
    }
  }
  gst_video_frame_unmap(&frame);
  return out;
}

}  // namespace dxva::test
