// SPDX-License-Identifier: LGPL-2.1-or-later
// An import that shows something else than the buffer holds: what a driver with a wrong idea of
// a tiling does, here one that begins its images some bytes too late.

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gst/dxvagl/gl_session.hpp"
#include "gst/dxvagl/plane_textures.hpp"
#include "lib/base/fourcc.hpp"
#include "lib/gl/import_cache.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_counters.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;
namespace gl = dxva::gl;

namespace {

// With room behind it, so that a late image does not leave the buffer.
FrameLayout layout_of(uint32_t width, uint32_t pitch) {
  FrameLayout layout = make_layout("", GST_VIDEO_FORMAT_NV12, width, 48, pitch, 48);
  layout.size += 4096;
  return layout;
}
const FrameLayout kLayout = layout_of(64, 64);

std::vector<std::unique_ptr<MemfdFrame>> make_frames(size_t count) {
  std::vector<std::unique_ptr<MemfdFrame>> frames;
  for (size_t i = 0; i < count; ++i) {
    frames.push_back(std::make_unique<MemfdFrame>(kLayout));
    frames.back()->fill(static_cast<uint32_t>(i));
  }
  return frames;
}

void push_right(UploadHarness& harness, MemfdFrame& frame, uint32_t seed) {
  const GstPtr<GstBuffer> out = harness.push(frame.buffer());
  fail_unless(out);
  const Comparison result = compare(out.get(), frame.layout(), seed);
  fail_unless(result.wrong_bytes == 0, "%llu bytes wrong: %s",
              static_cast<unsigned long long>(result.wrong_bytes), result.first.c_str());
}

std::vector<std::string> refusals(UploadHarness& harness) {
  std::vector<std::string> out;
  while (const auto event =
             GstPtr<GstEvent>::adopt(gst_harness_try_pull_upstream_event(harness.get()))) {
    const GstStructure* what = gst_event_get_structure(event.get());
    if (what && gst_structure_has_name(what, "dxva-import-failed"))
      out.emplace_back(gst_structure_get_string(what, "reason"));
  }
  return out;
}

// Runs on the GL thread; the macro wants no value back.
template <typename Job>
void on_gl_thread(GstGLContext* context, Job job) {
  gst_gl_context_thread_add(
      context, [](GstGLContext*, gpointer data) { (*static_cast<Job*>(data))(); }, &job);
}

}  // namespace

GST_START_TEST(a_right_import_is_compared_once_per_layout) {
  UploadHarness harness(kLayout);
  auto frames = make_frames(4);
  for (uint32_t i = 0; i < 12; ++i) push_right(harness, *frames[i % 4], i % 4);
  if (!harness.imports()) DXVA_SKIP("nothing is imported here");
  fail_unless_equals_uint64(harness.step("egl"), 12);
  fail_unless_equals_uint64(harness.stat("verified"), 1);
  // Another pitch is another thing for a driver to be wrong about.
  const FrameLayout wide = layout_of(64, 128);
  MemfdFrame other(wide);
  other.fill(1);
  push_right(harness, other, 1);
  fail_unless_equals_uint64(harness.stat("verified"), 2);
}
GST_END_TEST;

// Luma, or chroma alone; by a row, or by one byte.
GST_START_TEST(a_wrong_import_is_copied_and_said) {
  const uint32_t fourccs[] = {dxva::format::kR8, dxva::format::kGR88};
  for (const int bytes : {64, 2}) {
    shift_images(fourccs[__i__], bytes);
    const uint64_t before = gl_counters().images;
    UploadHarness harness(kLayout);
    auto frames = make_frames(4);
    for (uint32_t i = 0; i < 12; ++i) push_right(harness, *frames[i % 4], i % 4);
    if (!harness.imports()) DXVA_SKIP("nothing is imported here");
    fail_unless_equals_uint64(harness.step("egl"), 0);
    fail_unless_equals_uint64(harness.step("cpu-copy"), 12);
    fail_unless_equals_uint64(harness.reason("self-test-mismatch"), 12);
    fail_unless_equals_uint64(harness.stat("verified"), 0);
    // The first buffer spoke for all: the driver was asked for one picture.
    fail_unless_equals_uint64(gl_counters().images - before, 2);
    const auto said = refusals(harness);
    fail_unless_equals_int(said.size(), frames.size());
    for (const std::string& reason : said)
      fail_unless_equals_string(reason.c_str(), "self-test-mismatch");
  }
}
GST_END_TEST;

GST_START_TEST(a_wrong_layout_is_compared_again_after_a_while) {
  shift_images(dxva::format::kR8, 64);
  UploadHarness harness(kLayout);
  auto frames = make_frames(2);
  constexpr uint64_t kWait = gl::ImportCache::kFirstBackOff;
  for (uint32_t i = 0; i < kWait; ++i) push_right(harness, *frames[i % 2], i % 2);
  if (!harness.imports()) DXVA_SKIP("nothing is imported here");
  // Still wrong, so the next wait is longer.
  for (uint32_t i = 0; i < kWait; ++i) push_right(harness, *frames[i % 2], i % 2);
  fail_unless_equals_uint64(harness.step("egl"), 0);
  const uint64_t asked = gl_counters().images;
  fail_unless(asked >= 4, "the driver was asked once only");
  shift_images(dxva::format::kR8, 0);
  for (uint32_t i = 0; i < 2 * kWait; ++i) push_right(harness, *frames[i % 2], i % 2);
  fail_unless(harness.step("egl") > 0, "import never came back");
  fail_unless_equals_uint64(harness.stat("verified"), 1);
}
GST_END_TEST;

GST_START_TEST(a_caps_change_opens_the_question_again) {
  shift_images(dxva::format::kR8, 64);
  UploadHarness harness(kLayout);
  MemfdFrame frame(kLayout);
  frame.fill(3);
  push_right(harness, frame, 3);
  if (!harness.imports()) DXVA_SKIP("nothing is imported here");
  const std::string other = kLayout.caps("memory:DMABuf") + ",colorimetry=bt709";
  gst_harness_set_src_caps_str(harness.get(), other.c_str());
  push_right(harness, frame, 3);
  fail_unless_equals_uint64(harness.step("egl"), 0);
  shift_images(dxva::format::kR8, 0);
  gst_harness_set_src_caps_str(harness.get(), kLayout.caps("memory:DMABuf").c_str());
  push_right(harness, frame, 3);
  fail_unless_equals_uint64(harness.step("egl"), 1);
  fail_unless_equals_uint64(harness.stat("verified"), 1);
}
GST_END_TEST;

GST_START_TEST(what_cannot_be_mapped_is_imported_unverified) {
  UploadHarness harness(kLayout);
  const FrameLayout wide = layout_of(64, 128);
  MemfdFrame mappable(wide), frame(kLayout);
  fail_unless(harness.push(mappable.buffer()));
  if (!harness.imports()) DXVA_SKIP("nothing is imported here");
  frame.fill(3);
  GstPtr<GstBuffer> in = frame.buffer();
  gst_buffer_peek_memory(in.get(), 0)->allocator->mem_map_full =
      [](GstMemory*, GstMapInfo*, gsize) -> gpointer { return nullptr; };
  const GstPtr<GstBuffer> out = harness.push(in);
  fail_unless(out);
  fail_unless_equals_uint64(compare(out.get(), kLayout, 3).wrong_bytes, 0);
  fail_unless_equals_uint64(harness.step("egl"), 2);
  fail_unless_equals_uint64(harness.stat("verified"), 1);
}
GST_END_TEST;

GST_START_TEST(the_property_turns_it_on_while_playing) {
  setenv("GST_DXVA_TEST", "memfd,software-import", 1);
  shift_images(dxva::format::kR8, 64);
  UploadHarness harness(kLayout);
  MemfdFrame frame(kLayout);
  frame.fill(3);
  const GstPtr<GstBuffer> unseen = harness.push(frame.buffer());
  if (!harness.imports()) DXVA_SKIP("nothing is imported here");
  fail_unless_equals_uint64(harness.step("egl"), 1);
  fail_unless(compare(unseen.get(), kLayout, 3).wrong_bytes != 0,
              "the import was not wrong: this test shows nothing");
  g_object_set(harness.element(), "verify", TRUE, nullptr);
  push_right(harness, frame, 3);
  fail_unless_equals_uint64(harness.reason("self-test-mismatch"), 1);
}
GST_END_TEST;

namespace {

struct PlaneCase {
  GstVideoFormat format;
  guint plane;
};
constexpr PlaneCase kPlanes[] = {{GST_VIDEO_FORMAT_NV12, 0},
                                 {GST_VIDEO_FORMAT_NV12, 1},
                                 {GST_VIDEO_FORMAT_P010_10LE, 0},
                                 {GST_VIDEO_FORMAT_P010_10LE, 1}};

// How many texels of a plane differ from the same plane with one bit changed.
uint64_t differences(dxva::gst::GlSession& session, const gl::TextureSpec& spec,
                     const std::vector<uint8_t>& shown, const std::vector<uint8_t>& wanted) {
  const auto comparison = session.comparison();
  fail_unless(static_cast<bool>(comparison));
  const auto texture = session.pool().acquire({spec});
  fail_unless(gl::upload_plane(session.api(), texture->names()[0], spec,
                               {.data = shown.data(), .pitch_bytes = spec.row_bytes()}));
  const auto result = (*comparison)
                          ->compare(texture->names()[0], spec,
                                    {.data = wanted.data(), .pitch_bytes = spec.row_bytes()});
  fail_unless(static_cast<bool>(result));
  return result->texels;
}

}  // namespace

GST_START_TEST(one_wrong_bit_anywhere_is_found) {
  UploadHarness harness(kLayout);
  MemfdFrame frame(kLayout);
  fail_unless(harness.push(frame.buffer()));
  const auto context = get_gl_context(harness);
  on_gl_thread(context.get(), [&] {
    const auto session = dxva::gst::GlSession::create(context.get());
    if (!session->api().shaders) DXVA_SKIP("no shaders");
    GstVideoInfo info;  // neither side a multiple of the blocks that are compared
    gst_video_info_set_format(&info, kPlanes[__i__].format, 77, 45);
    const auto specs = dxva::gst::texture_specs(context.get(), session->api(), info);
    if (!specs) DXVA_SKIP("no textures of 16 bits");
    const gl::TextureSpec spec = (*specs)[kPlanes[__i__].plane];
    const size_t row = spec.row_bytes(), size = row * spec.height;
    std::vector<uint8_t> pixels(size);
    for (size_t i = 0; i < size; ++i) pixels[i] = static_cast<uint8_t>(i * 31 + i / 64);
    fail_unless_equals_uint64(differences(*session, spec, pixels, pixels), 0);
    for (const size_t at : {size_t{0}, row - 1, size / 2, size - row, size - 1}) {
      std::vector<uint8_t> wrong = pixels;
      wrong[at] ^= 1;
      fail_unless(differences(*session, spec, wrong, pixels) == 1, "byte %zu of %zu", at, size);
    }
    std::vector<uint8_t> inverse = pixels;
    for (uint8_t& byte : inverse) byte = static_cast<uint8_t>(~byte);
    fail_unless(differences(*session, spec, inverse, pixels) > size / 8);
  });
}
GST_END_TEST;

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_verify");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 60);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, a_right_import_is_compared_once_per_layout);
  tcase_add_loop_test(tests, a_wrong_import_is_copied_and_said, 0, 2);
  tcase_add_test(tests, a_wrong_layout_is_compared_again_after_a_while);
  tcase_add_test(tests, a_caps_change_opens_the_question_again);
  tcase_add_test(tests, what_cannot_be_mapped_is_imported_unverified);
  tcase_add_test(tests, the_property_turns_it_on_while_playing);
  tcase_add_loop_test(tests, one_wrong_bit_anywhere_is_found, 0,
                      static_cast<int>(std::size(kPlanes)));
  return gst_check_run_suite(suite, "dxvaglupload_verify", __FILE__);
}
