// SPDX-License-Identifier: LGPL-2.1-or-later
// A decoder writes its next picture into a buffer as soon as it comes back. Here it does so in
// the very call that drops the last reference, while a draw that samples the picture is still
// queued: what is drawn must be the old picture. Without the release fence it is the new one.

#include <gst/gl/gstglfuncs.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "gst/common/spare_memory.hpp"
#include "gst/dxvagl/gl_session.hpp"
#include "lib/base/fourcc.hpp"
#include "lib/video/reference_conversion.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::gst::GlSession;
using dxva::gst::GstPtr;
using dxva::gst::mark_spare;

namespace {

// Large, so that the draw takes long.
const FrameLayout kLarge =
    make_layout("1920x1080", GST_VIDEO_FORMAT_NV12, 1920, 1080, 1920, 1088);
constexpr dxva::video::Colorimetry kColours = {};

std::vector<uint8_t> reference(MemfdFrame& frame) {
  dxva::video::FrameView view{.fourcc = dxva::format::kNV12,
                              .width = kLarge.width,
                              .height = kLarge.height,
                              .plane_count = 2};
  for (uint32_t p = 0; p < 2; ++p)
    view.planes[p] = {.data = frame.data() + kLarge.offset[p],
                      .pitch_bytes = static_cast<uint32_t>(kLarge.pitch[p]),
                      .row_bytes = kLarge.row_bytes(p),
                      .rows = kLarge.rows(p)};
  auto pixels = dxva::video::reference_rgba(view, kColours);
  fail_unless(static_cast<bool>(pixels));
  return *pixels;
}

// The producer's side: the next picture is written where and when the buffer is let go.
struct Decoder {
  MemfdFrame frame{kLarge};
  bool spare = false;
  std::atomic<bool> came_back{false};

  GstPtr<GstBuffer> decode(uint32_t seed) {
    frame.fill(seed);
    came_back = false;
    GstPtr<GstBuffer> buffer = frame.buffer();
    if (spare) mark_spare(gst_buffer_peek_memory(buffer.get(), 0));
    gst_mini_object_weak_ref(
        GST_MINI_OBJECT_CAST(buffer.get()),
        [](gpointer self, GstMiniObject*) {
          auto* decoder = static_cast<Decoder*>(self);
          decoder->frame.fill(99);
          decoder->came_back = true;
          decoder->came_back.notify_all();
        },
        this);
    return buffer;
  }
};

// A consumer with a draw of its own, in the element's context.
class Consumer {
 public:
  explicit Consumer(GstPtr<GstGLContext> context, size_t targets = 1)
      : context_(std::move(context)), targets_(targets) {
    run([this] {
      session_ = GlSession::create(context_.get());
      session_->api().GenTextures(static_cast<GLsizei>(targets_.size()), targets_.data());
      const dxva::gl::TextureSpec spec{.width = kLarge.width,
                                       .height = kLarge.height,
                                       .internal_format = GL_RGBA8,
                                       .format = GL_RGBA,
                                       .type = GL_UNSIGNED_BYTE,
                                       .texel_bytes = 4};
      for (const GLuint target : targets_)
        fail_unless(dxva::gl::allocate_texture(session_->api(), target, spec));
    });
  }
  ~Consumer() {
    run([this] {
      session_->api().DeleteTextures(static_cast<GLsizei>(targets_.size()), targets_.data());
    });
  }

  // Queues the draw and returns: nothing is flushed.
  enum class Maps { No, Yes };
  void draw(GstBuffer* picture, Maps maps = Maps::No, size_t target = 0) {
    run([&] {
      const auto name = [&](guint plane) {
        GstMemory* memory = gst_buffer_peek_memory(picture, plane);
        GstMapInfo map;
        if (maps == Maps::Yes) {
          fail_unless(gst_memory_map(memory, &map,
                                     static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_GL)));
          gst_memory_unmap(memory, &map);
        }
        return gst_gl_memory_get_texture_id(reinterpret_cast<GstGLMemory*>(memory));
      };
      const auto pass = session_->pass();
      fail_unless(static_cast<bool>(pass));
      const auto drawn = (*pass)->draw({.luma = name(0),
                                        .chroma = name(1),
                                        .target = targets_[target],
                                        .width = kLarge.width,
                                        .height = kLarge.height},
                                       dxva::video::yuv_to_rgb(kColours, 8));
      fail_unless(static_cast<bool>(drawn));
    });
  }

  std::vector<uint8_t> read(size_t target = 0) {
    std::vector<uint8_t> pixels(uint64_t{kLarge.width} * kLarge.height * 4);
    run([&] {
      const GstGLFuncs* gl = context_->gl_vtable;
      GLuint framebuffer = 0;
      gl->GenFramebuffers(1, &framebuffer);
      gl->BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
      gl->FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                               targets_[target], 0);
      gl->ReadPixels(0, 0, static_cast<GLsizei>(kLarge.width),
                     static_cast<GLsizei>(kLarge.height), GL_RGBA, GL_UNSIGNED_BYTE,
                     pixels.data());
      gl->BindFramebuffer(GL_FRAMEBUFFER, 0);
      gl->DeleteFramebuffers(1, &framebuffer);
    });
    return pixels;
  }

 private:
  void run(const std::function<void()>& job) {
    dxva::gst::GstGlThread(context_.get()).run(job);
  }

  GstPtr<GstGLContext> context_;
  std::shared_ptr<GlSession> session_;
  std::vector<GLuint> targets_;
};

uint64_t wrong_pixels(const std::vector<uint8_t>& got, const std::vector<uint8_t>& want) {
  uint64_t wrong = 0;
  for (size_t i = 0; i < got.size(); i += 4) {
    bool differs = false;
    for (size_t c = 0; c < 3; ++c) differs |= std::abs(got[i + c] - want[i + c]) > 1;
    wrong += differs;
  }
  return wrong;
}

}  // namespace

GST_START_TEST(a_buffer_comes_back_when_the_last_draw_has_read_it) {
  UploadHarness harness(kLarge);
  Decoder decoder;
  std::optional<Consumer> consumer;
  for (uint32_t round = 0; round < 10; ++round) {
    // Its fence may come later, and covers the draw all the same.
    decoder.spare = round >= 5;
    GstPtr<GstBuffer> in = decoder.decode(round);
    const std::vector<uint8_t> wanted = reference(decoder.frame);
    GstPtr<GstBuffer> out = harness.push(std::move(in));
    fail_unless(out);
    if (!harness.imports()) {
      fail_if(rig_must_import());
      DXVA_SKIP("nothing is imported here, so nothing is lent");
    }
    if (!consumer) consumer.emplace(get_gl_context(harness));
    consumer->draw(out.get());
    fail_unless(!decoder.came_back, "the producer got its buffer while the picture is shown");
    out.reset();
    decoder.came_back.wait(false);
    fail_unless_equals_uint64(wrong_pixels(consumer->read(), wanted), 0);
  }
}
GST_END_TEST;

// Fences are made where the next frames are mapped, and all draws are queued before the first
// one is looked at.
GST_START_TEST(buffers_of_a_consumer_that_maps_come_back_behind_their_draws) {
  constexpr size_t kFrames = 7;
  UploadHarness harness(kLarge);
  std::vector<std::unique_ptr<Decoder>> decoders;
  std::vector<std::vector<uint8_t>> wanted;
  std::optional<Consumer> consumer;
  for (size_t i = 0; i < kFrames; ++i) {
    decoders.push_back(std::make_unique<Decoder>());
    decoders.back()->spare = true;
    GstPtr<GstBuffer> in = decoders.back()->decode(static_cast<uint32_t>(i));
    wanted.push_back(reference(decoders.back()->frame));
    GstPtr<GstBuffer> out = harness.push(std::move(in));
    if (!harness.imports()) {
      fail_if(rig_must_import());
      DXVA_SKIP("nothing is imported here, so nothing is lent");
    }
    if (!consumer) consumer.emplace(get_gl_context(harness), kFrames);
    consumer->draw(out.get(), Consumer::Maps::Yes, i);
  }
  for (size_t i = 0; i < kFrames; ++i)
    fail_unless_equals_uint64(wrong_pixels(consumer->read(i), wanted[i]), 0);
  for (const auto& decoder : decoders) decoder->came_back.wait(false);
}
GST_END_TEST;

GST_START_TEST(behind_a_shader_pass_the_input_comes_back_by_itself) {
  UploadHarness harness("video/x-raw(memory:GLMemory),format=RGBA",
                        kLarge.caps("memory:DMABuf") + ",colorimetry=bt601");
  Decoder decoder;
  GstPtr<GstBuffer> in = decoder.decode(1);
  const std::vector<uint8_t> wanted = reference(decoder.frame);
  const GstPtr<GstBuffer> out = harness.push(std::move(in));
  fail_unless(out);
  decoder.came_back.wait(false);  // although the output is kept
  GstVideoInfo info = harness.output_info();
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, &info, out.get(), GST_MAP_READ));
  const auto* data = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  const std::vector<uint8_t> got(data, data + wanted.size());
  gst_video_frame_unmap(&frame);
  fail_unless_equals_uint64(wrong_pixels(got, wanted), 0);
}
GST_END_TEST;

GST_START_TEST(stopping_brings_everything_back_that_nobody_shows) {
  for (const bool spare : {false, true}) {
    Decoder decoder;
    decoder.spare = spare;
    UploadHarness harness(kLarge);
    fail_unless(harness.push(decoder.decode(1)));
    gst_element_set_state(harness.element(), GST_STATE_NULL);
    fail_unless(decoder.came_back);
  }
}
GST_END_TEST;

GST_START_TEST(a_copied_picture_lends_nothing) {
  UploadHarness harness(kLarge);
  gst_util_set_object_arg(G_OBJECT(harness.element()), "import", "copy");
  Decoder decoder;
  const GstPtr<GstBuffer> out = harness.push(decoder.decode(1));
  fail_unless(out);
  fail_unless(decoder.came_back);
  fail_unless_equals_uint64(compare(out.get(), kLarge, 1).wrong_bytes, 0);
}
GST_END_TEST;

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_release");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 120);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, a_buffer_comes_back_when_the_last_draw_has_read_it);
  tcase_add_test(tests, buffers_of_a_consumer_that_maps_come_back_behind_their_draws);
  tcase_add_test(tests, behind_a_shader_pass_the_input_comes_back_by_itself);
  tcase_add_test(tests, stopping_brings_everything_back_that_nobody_shows);
  tcase_add_test(tests, a_copied_picture_lends_nothing);
  return gst_check_run_suite(suite, "dxvaglupload_release", __FILE__);
}
