// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures that cannot go plane by plane. No software renderer imports NV12 whole, so a driver
// that would is made of one that does not: it shows the luma plane as red.

#include <EGL/egl.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gst/dxvagl/caps.hpp"
#include "gst/dxvagl/gl_session.hpp"
#include "lib/base/fourcc.hpp"
#include "lib/gl/egl_image.hpp"
#include "lib/gl/whole_image.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_counters.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;
namespace gl = dxva::gl;

namespace {

const FrameLayout kLayout =
    make_layout("64x48, pitch 256", GST_VIDEO_FORMAT_NV12, 64, 48, 256, 50);

// A pixel of RGBA output.
struct Pixel {
  uint8_t r, g, b, a;
};
std::vector<Pixel> rgba_of(GstBuffer* output) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_RGBA, kLayout.width, kLayout.height);
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, &info, output, GST_MAP_READ));
  std::vector<Pixel> out;
  for (uint32_t y = 0; y < kLayout.height; ++y) {
    const auto* row = reinterpret_cast<const Pixel*>(
        static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
        y * static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0)));
    out.insert(out.end(), row, row + kLayout.width);
  }
  gst_video_frame_unmap(&frame);
  return out;
}

// The pattern's luma in red at every pixel.
void expect_luma_in_red(GstBuffer* output, uint32_t seed) {
  const std::vector<Pixel> pixels = rgba_of(output);
  for (uint32_t y = 0; y < kLayout.height; ++y)
    for (uint32_t x = 0; x < kLayout.width; ++x) {
      const Pixel& pixel = pixels[y * kLayout.width + x];
      fail_unless(pixel.r == pattern(seed, 0, y, x) && pixel.g == 0 && pixel.a == 255,
                  "%u,%u is %u %u %u %u", x, y, pixel.r, pixel.g, pixel.b, pixel.a);
    }
}

bool imports_here() {
  UploadHarness harness(kLayout);
  MemfdFrame frame(kLayout);
  (void)harness.push(frame.buffer());
  return harness.imports();
}

// Runs on the GL thread.
template <typename Job>
void on_gl_thread(GstGLContext* context, Job job) {
  gst_gl_context_thread_add(
      context, [](GstGLContext*, gpointer data) { (*static_cast<Job*>(data))(); }, &job);
}

}  // namespace

GST_START_TEST(what_egl_knows_only_as_a_whole_is_drawn_without_a_copy) {
  if (!imports_here()) DXVA_SKIP("nothing is imported here");
  hide_modifiers(dxva::format::kR8);
  take_whole_images(true);
  UploadHarness harness(kLayout, "RGBA");
  std::vector<std::unique_ptr<MemfdFrame>> frames;
  for (uint32_t i = 0; i < 3; ++i) frames.push_back(std::make_unique<MemfdFrame>(kLayout));
  const uint64_t before = gl_counters().images;
  for (uint32_t i = 0; i < 12; ++i) {
    MemfdFrame& frame = *frames[i % 3];
    frame.fill(i);
    const GstPtr<GstBuffer> out = harness.push(frame.buffer());
    fail_unless(out);
    expect_luma_in_red(out.get(), i);
  }
  fail_unless_equals_uint64(harness.step("egl"), 12);
  fail_unless_equals_uint64(gl_counters().images - before, 3);
}
GST_END_TEST;

// Its planes are not to be had from such an image: what comes out must be NV12, so it is
// copied.
GST_START_TEST(a_consumer_of_nv12_gets_a_copy_and_the_reason) {
  if (!imports_here()) DXVA_SKIP("nothing is imported here");
  hide_modifiers(dxva::format::kR8);
  take_whole_images(true);
  UploadHarness harness(kLayout);
  MemfdFrame frame(kLayout);
  frame.fill(4);
  const GstPtr<GstBuffer> out = harness.push(frame.buffer());
  fail_unless_equals_uint64(compare(out.get(), kLayout, 4).wrong_bytes, 0);
  fail_unless_equals_uint64(harness.step("cpu-copy"), 1);
  fail_unless_equals_uint64(harness.reason("modifier-not-importable"), 1);
}
GST_END_TEST;

namespace {

constexpr uint64_t kTile = 0x0200000000000001;
const std::string kTiledCaps =
    "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0200000000000001,width=64,"
    "height=48,framerate=25/1";

bool offers_tiles(const UploadHarness& harness) {
  const auto offered =
      GstPtr<GstCaps>::adopt(gst_pad_peer_query_caps(harness.get()->srcpad, nullptr));
  const auto tiled = GstPtr<GstCaps>::adopt(gst_caps_from_string(kTiledCaps.c_str()));
  return gst_caps_can_intersect(offered.get(), tiled.get());
}

}  // namespace

GST_START_TEST(a_tiling_in_drm_caps_comes_out_as_rgb) {
  if (!dxva::gst::has_drm_caps()) DXVA_SKIP("GStreamer before 1.24 has no DMA_DRM caps");
  if (!imports_here()) DXVA_SKIP("nothing is imported here");
  list_for_nv12(kTile);
  take_whole_images(true);
  // Downstream takes both, as glcolorconvert does.
  UploadHarness harness("video/x-raw(memory:GLMemory),format={NV12,RGBA}", kTiledCaps);
  MemfdFrame frame(kLayout);
  for (uint32_t i = 0; i < 3; ++i) {
    frame.fill(i);
    const GstPtr<GstBuffer> out = harness.push(frame.buffer());
    fail_unless(out);
    const GstVideoInfo info = harness.output_info();
    fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&info), GST_VIDEO_FORMAT_RGBA);
    expect_luma_in_red(out.get(), i);
  }
  fail_unless_equals_uint64(harness.step("egl"), 3);
  fail_unless(offers_tiles(harness));
}
GST_END_TEST;

GST_START_TEST(a_consumer_of_nv12_is_offered_no_tiling_that_must_be_drawn) {
  if (!dxva::gst::has_drm_caps()) DXVA_SKIP("GStreamer before 1.24 has no DMA_DRM caps");
  if (!imports_here()) DXVA_SKIP("nothing is imported here");
  list_for_nv12(kTile);
  UploadHarness harness(kLayout);
  MemfdFrame frame(kLayout);
  fail_unless(harness.push(frame.buffer()));  // there is a context to ask now
  fail_unless(!offers_tiles(harness));
}
GST_END_TEST;

// llvmpipe itself: it lists NV12 and refuses the image.
GST_START_TEST(a_driver_that_refuses_the_whole_costs_a_copy) {
  if (!imports_here()) DXVA_SKIP("nothing is imported here");
  hide_modifiers(dxva::format::kR8);
  UploadHarness copied(kLayout, "RGBA");
  gst_util_set_object_arg(G_OBJECT(copied.element()), "import", "copy");
  UploadHarness harness(kLayout, "RGBA");
  MemfdFrame frame(kLayout);
  frame.fill(4);
  const GstPtr<GstBuffer> out = harness.push(frame.buffer());
  const GstPtr<GstBuffer> wanted = copied.push(frame.buffer());
  fail_unless(out && wanted);
  if (harness.step("egl") != 0) DXVA_SKIP("this driver takes whole images");
  fail_unless_equals_uint64(harness.reason("egl-bad-alloc"), 1);
  const auto got = rgba_of(out.get()), want = rgba_of(wanted.get());
  for (size_t i = 0; i < want.size(); ++i)
    fail_unless(got[i].r == want[i].r && got[i].g == want[i].g && got[i].b == want[i].b);
}
GST_END_TEST;

// The external sampler on a real driver, with an image that it does take: RGBA.
GST_START_TEST(an_external_texture_is_drawn_pixel_by_pixel) {
  setenv("GST_GL_API", "gles2", 1);
  UploadHarness harness(kLayout);
  MemfdFrame any(kLayout);
  (void)harness.push(any.buffer());
  const auto context = get_gl_context(harness);
  fail_unless(context);
  const FrameLayout rgba = make_layout("", GST_VIDEO_FORMAT_NV12, 61 * 4, 31, 256, 40);
  MemfdFrame pixels(rgba);
  pixels.fill(9);
  bool external = false;
  std::vector<uint8_t> read(61 * 31 * 4);
  on_gl_thread(context.get(), [&] {
    const auto session = dxva::gst::GlSession::create(context.get());
    external = session->api().has("GL_OES_EGL_image_external_essl3") && session->importer();
    if (!external) return;
    const gl::ProcAddress egl_functions = {.get = [](void*, const char* name) -> void* {
      return reinterpret_cast<void*>(eglGetProcAddress(name));
    }};
    const gl::ProcAddress gl_functions = {.get = [](void* user, const char* name) -> void* {
                                            return gst_gl_context_get_proc_address(
                                                static_cast<GstGLContext*>(user), name);
                                          },
                                          .user = context.get()};
    auto thread = std::make_shared<dxva::gst::GstGlThread>(context.get());
    auto api = std::make_shared<const gl::GlApi>(session->api());
    const auto import =
        gl::load_dmabuf_import(eglGetCurrentDisplay(), egl_functions, *api, gl_functions);
    fail_unless(import && import->samples_external);
    gl::ImageAttributes attributes;
    attributes.add(EGL_WIDTH, 61);
    attributes.add(EGL_HEIGHT, 31);
    attributes.add(EGL_LINUX_DRM_FOURCC_EXT, dxva::fourcc('A', 'B', '2', '4'));
    attributes.add(EGL_DMA_BUF_PLANE0_FD_EXT, static_cast<uint64_t>(pixels.fd()));
    attributes.add(EGL_DMA_BUF_PLANE0_OFFSET_EXT, 0);
    attributes.add(EGL_DMA_BUF_PLANE0_PITCH_EXT, 256);
    const auto image = gl::EglImage::create(*import, attributes);
    fail_unless(static_cast<bool>(image));
    const gl::WholeImage whole{.texture = gl::TextureSet::create(thread, api, 1),
                               .target = gl::kTextureExternal};
    fail_unless(static_cast<bool>(
        image->bind(*api, whole.target, whole.texture->names()[0], GL_NEAREST)));
    const auto pass = gl::WholeImagePass::create(thread, api, whole.target);
    fail_unless(static_cast<bool>(pass), "%s", pass ? "" : pass.error().describe().c_str());
    const auto target = session->pool().acquire({{.width = 61,
                                                  .height = 31,
                                                  .internal_format = GL_RGBA8,
                                                  .format = GL_RGBA,
                                                  .type = GL_UNSIGNED_BYTE,
                                                  .texel_bytes = 4}});
    fail_unless(target != nullptr);
    fail_unless(static_cast<bool>(
        (*pass)->draw(whole, {.texture = target->names()[0], .width = 61, .height = 31})));
    const gl::ShaderFunctions& shaders = *api->shaders;
    GLuint framebuffer = 0;
    shaders.GenFramebuffers(1, &framebuffer);
    shaders.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    shaders.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                                 target->names()[0], 0);
    shaders.ReadPixels(0, 0, 61, 31, GL_RGBA, GL_UNSIGNED_BYTE, read.data());
    shaders.DeleteFramebuffers(1, &framebuffer);
  });
  if (!external) DXVA_SKIP("no external textures here");
  for (uint32_t y = 0; y < 31; ++y)
    for (uint32_t x = 0; x < 61; ++x)
      for (uint32_t c = 0; c < 3; ++c)
        fail_unless_equals_int(read[(y * 61 + x) * 4 + c], pattern(9, 0, y, x * 4 + c));
}
GST_END_TEST;

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_whole");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 60);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, what_egl_knows_only_as_a_whole_is_drawn_without_a_copy);
  tcase_add_test(tests, a_consumer_of_nv12_gets_a_copy_and_the_reason);
  tcase_add_test(tests, a_tiling_in_drm_caps_comes_out_as_rgb);
  tcase_add_test(tests, a_consumer_of_nv12_is_offered_no_tiling_that_must_be_drawn);
  tcase_add_test(tests, a_driver_that_refuses_the_whole_costs_a_copy);
  tcase_add_test(tests, an_external_texture_is_drawn_pixel_by_pixel);
  return gst_check_run_suite(suite, "dxvaglupload_whole", __FILE__);
}
