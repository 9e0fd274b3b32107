// SPDX-License-Identifier: LGPL-2.1-or-later
// Dma-bufs become textures without a copy, exactly, and nothing is made per frame. Where this
// OpenGL imports nothing (Debian 12's own Mesa without a DRM node) the same frames are copied.

#include <EGL/egl.h>
#include <gst/gl/gstglfuncs.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gst/common/allocation_words.hpp"
#include "gst/dxvagl/caps.hpp"
#include "lib/base/fourcc.hpp"
#include "lib/gl/import_cache.hpp"
#include "lib/video/reference_conversion.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_counters.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

// The shapes that decoders really export, and those that only a test would.
std::vector<FrameLayout> geometries(GstVideoFormat format) {
  const uint32_t b = format == GST_VIDEO_FORMAT_P010_10LE ? 2 : 1;
  std::vector<FrameLayout> all = {
      make_layout("tight 64x48", format, 64, 48, 64 * b, 48),
      make_layout("60x48, pitch 64", format, 60, 48, 64 * b, 48),
      make_layout("64x48, pitch 256", format, 64, 48, 256 * b, 48),
      make_layout("64x48, uv gap 5120", format, 64, 48, 64 * b, 48 + 80),
      make_layout("64x48, y offset 4160", format, 64, 48, 64 * b, 48, 4160),
      make_layout("64x48, unaligned y offset 17", format, 64, 48, 64 * b, 48, 16 * b + b),
      make_layout("61x47, pitch 64", format, 61, 47, 64 * b, 47),
      make_layout("61x47, pitch 62", format, 61, 47, 62 * b, 47),
      make_layout("1x1", format, 1, 1, 2 * b, 1),
      make_layout("175x143", format, 175, 143, 176 * b, 144),
      make_layout("1920x1080, uv at row 1088", format, 1920, 1080, 1920 * b, 1088),
  };
  FrameLayout uneven = make_layout("64x48, uv gap 1000", format, 64, 48, 64 * b, 48);
  uneven.offset[1] += 1000;
  uneven.size += 1000;
  all.push_back(uneven);
  FrameLayout pitches = make_layout("64x48, uv pitch 128", format, 64, 48, 64 * b, 48);
  pitches.pitch[1] = static_cast<int32_t>(128 * b);
  pitches.size = pitches.offset[1] + 128 * b * 23 + 64 * b;
  all.push_back(pitches);
  return all;
}

void check_geometries(GstVideoFormat format) {
  for (const FrameLayout& layout : geometries(format)) {
    UploadHarness harness(layout);
    MemfdFrame frame(layout);
    // The second round shows that the texture is the memory and not a copy of it.
    for (uint32_t seed : {1u, 2u}) {
      frame.fill(seed);
      const GstPtr<GstBuffer> out = harness.push(frame.buffer());
      fail_unless(out, "%s: no picture", layout.name);
      const Comparison result = compare(out.get(), layout, seed);
      fail_unless(result.wrong_bytes == 0, "%llu bytes wrong; %s",
                  static_cast<unsigned long long>(result.wrong_bytes), result.first.c_str());
    }
    if (rig_must_import()) fail_unless(harness.imports(), "this rig must import dma-bufs");
    fail_unless_equals_uint64(harness.step(harness.imports() ? "egl" : "cpu-copy"), 2);
  }
}

}  // namespace

GST_START_TEST(nv12_of_every_geometry_is_exact) {
  check_geometries(GST_VIDEO_FORMAT_NV12);
}
GST_END_TEST;

GST_START_TEST(p010_of_every_geometry_is_exact) {
  check_geometries(GST_VIDEO_FORMAT_P010_10LE);
}
GST_END_TEST;

namespace {

// Largest difference between the drawn RGB and the reference conversion, in 8-bit levels.
double rgb_difference(GstBuffer* output, const FrameLayout& layout, MemfdFrame& frame,
                      const dxva::video::Colorimetry& colorimetry, GstVideoFormat format) {
  dxva::video::FrameView view{.fourcc = layout.format == GST_VIDEO_FORMAT_NV12
                                            ? dxva::format::kNV12
                                            : dxva::format::kP010,
                              .width = layout.width,
                              .height = layout.height,
                              .plane_count = 2};
  for (uint32_t p = 0; p < 2; ++p)
    view.planes[p] = {.data = frame.data() + layout.offset[p],
                      .pitch_bytes = static_cast<uint32_t>(layout.pitch[p]),
                      .row_bytes = layout.row_bytes(p),
                      .rows = layout.rows(p)};
  const auto reference = dxva::video::reference_rgba(view, colorimetry);
  fail_unless(static_cast<bool>(reference));

  GstVideoInfo info;
  gst_video_info_set_format(&info, format, layout.width, layout.height);
  GstVideoFrame mapped;
  fail_unless(gst_video_frame_map(&mapped, &info, output, GST_MAP_READ));
  double worst = 0;
  for (uint32_t row = 0; row < layout.height; ++row) {
    const auto* pixels = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&mapped, 0)) +
                         row * static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&mapped, 0));
    for (uint32_t x = 0; x < layout.width; ++x) {
      const uint8_t* want = reference->data() + (uint64_t{row} * layout.width + x) * 4;
      for (uint32_t c = 0; c < 3; ++c) {
        double got = pixels[x * 4 + c];
        if (format == GST_VIDEO_FORMAT_RGB10A2_LE)
          got = (GST_READ_UINT32_LE(pixels + x * 4) >> (10 * c) & 1023) * 255.0 / 1023.0;
        worst = std::max(worst, std::abs(got - want[c]));
      }
    }
  }
  gst_video_frame_unmap(&mapped);
  return worst;
}

void check_rgb(GstVideoFormat in, GstVideoFormat out, const char* colorimetry,
               const dxva::video::Colorimetry& meant) {
  const uint32_t bytes = in == GST_VIDEO_FORMAT_P010_10LE ? 2 : 1;
  const FrameLayout layout = make_layout("61x47", in, 61, 47, 64 * bytes, 50);
  for (const bool import : {true, false}) {
    UploadHarness harness(
        std::string("video/x-raw(memory:GLMemory),format=") + gst_video_format_to_string(out),
        layout.caps("memory:DMABuf") + ",colorimetry=" + colorimetry);
    if (!import) gst_util_set_object_arg(G_OBJECT(harness.element()), "import", "copy");
    MemfdFrame frame(layout);
    frame.fill(3);
    // P010's samples are 10 bits in the upper part of a word; what is below must be 0.
    for (uint64_t i = 0; bytes == 2 && i < layout.size; i += 2) frame.data()[i] &= 0xc0;
    const GstPtr<GstBuffer> picture = harness.push(frame.buffer());
    fail_unless(picture);
    const double worst = rgb_difference(picture.get(), layout, frame, meant, out);
    fail_unless(worst <= 1.0, "%s to %s, %s: off by %g", gst_video_format_to_string(in),
                gst_video_format_to_string(out), colorimetry, worst);
    fail_unless_equals_uint64(harness.step(import && harness.imports() ? "egl" : "cpu-copy"),
                              1);
  }
}

std::string maps() {
  std::ifstream file("/proc/self/maps");
  return {std::istreambuf_iterator<char>(file), {}};
}
size_t lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Of all MemfdFrames, by the producer's side and by the driver's.
size_t frame_mappings() {
  const std::string all = maps();
  size_t count = 0;
  for (size_t at = all.find("memfd:frame"); at != std::string::npos;
       at = all.find("memfd:frame", at + 1))
    ++count;
  return count;
}

const FrameLayout kSmall = make_layout("64x48", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);

std::vector<std::unique_ptr<MemfdFrame>> make_frames(size_t count) {
  std::vector<std::unique_ptr<MemfdFrame>> frames;
  for (size_t i = 0; i < count; ++i) {
    frames.push_back(std::make_unique<MemfdFrame>(kSmall));
    frames.back()->fill(static_cast<uint32_t>(i));
  }
  return frames;
}

// What the element answers to the question of a decoder.
GstPtr<GstQuery> ask_allocation(UploadHarness& harness, const FrameLayout& layout) {
  const auto caps =
      GstPtr<GstCaps>::adopt(gst_caps_from_string(layout.caps("memory:DMABuf").c_str()));
  auto query = GstPtr<GstQuery>::adopt(gst_query_new_allocation(caps.get(), FALSE));
  fail_unless(gst_pad_peer_query(harness.get()->srcpad, query.get()));
  return query;
}

struct RefusalEvent {
  bool came = false;
  guint64 inode = 0;
  std::string reason;
};
RefusalEvent next_refusal(UploadHarness& harness) {
  while (const auto event =
             GstPtr<GstEvent>::adopt(gst_harness_try_pull_upstream_event(harness.get()))) {
    const GstStructure* what = gst_event_get_structure(event.get());
    if (!what || !gst_structure_has_name(what, "dxva-import-failed")) continue;
    RefusalEvent out{.came = true};
    gst_structure_get_uint64(what, "inode", &out.inode);
    out.reason = gst_structure_get_string(what, "reason");
    return out;
  }
  return {};
}

guint64 inode_of(int fd) {
  struct stat file {};
  fail_unless(fstat(fd, &file) == 0);
  return file.st_ino;
}

}  // namespace

GST_START_TEST(rgb_is_the_reference_conversion_within_one_level) {
  using dxva::video::Matrix;
  using dxva::video::Range;
  check_rgb(GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_RGBA, "bt601",
            {Matrix::Bt601, Range::Limited});
  check_rgb(GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_RGBA, "bt709",
            {Matrix::Bt709, Range::Limited});
  check_rgb(GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_RGBA, "1:4:0:0",
            {Matrix::Bt601, Range::Full});
  check_rgb(GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_RGBA, "bt2020",
            {Matrix::Bt2020, Range::Limited});
  check_rgb(GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_RGB10A2_LE, "bt2020",
            {Matrix::Bt2020, Range::Limited});
}
GST_END_TEST;

GST_START_TEST(nothing_is_made_per_frame_in_steady_state) {
  UploadHarness harness(kSmall);
  auto frames = make_frames(6);
  for (auto& frame : frames) fail_unless(harness.push(frame->buffer()));
  const GlCounters warm = gl_counters();
  const uint64_t misses = harness.stat("cache-misses");
  for (uint32_t i = 0; i < 300; ++i) {
    MemfdFrame& frame = *frames[i % frames.size()];
    frame.fill(i);
    const GstPtr<GstBuffer> out = harness.push(frame.buffer());
    fail_unless(out);
    if (i % 50 == 0) fail_unless_equals_uint64(compare(out.get(), kSmall, i).wrong_bytes, 0);
  }
  fail_unless(gl_counters() == warm);
  fail_unless_equals_uint64(harness.stat("cache-misses"), misses);
  if (harness.imports()) {
    fail_unless_equals_uint64(warm.images, 2 * frames.size());
    fail_unless_equals_uint64(harness.stat("cache-hits"), 300);
    fail_unless_equals_uint64(harness.step("egl"), 306);
  }
}
GST_END_TEST;

GST_START_TEST(a_thousand_frames_leave_descriptors_and_mappings_flat) {
  for (const char* output : {"NV12", "RGBA"}) {
    UploadHarness harness(kSmall, output);
    auto frames = make_frames(4);
    const auto run = [&](uint32_t count) {
      for (uint32_t i = 0; i < count; ++i)
        fail_unless(harness.push(frames[i % frames.size()]->buffer()));
    };
    run(100);
    const size_t descriptors = open_descriptors(), mappings = lines(maps());
    run(1000);
    fail_unless_equals_int(open_descriptors(), descriptors);
    // The heap may grow by an arena; a leak would be a thousand.
    const size_t now = lines(maps());
    fail_unless(now <= mappings + 20, "%zu mappings became %zu", mappings, now);
  }
}
GST_END_TEST;

GST_START_TEST(an_import_holds_no_descriptor_but_the_drivers) {
  UploadHarness harness(kSmall);
  auto frames = make_frames(8);
  fail_unless(harness.push(frames[0]->buffer()));
  const size_t before = open_descriptors();
  const uint64_t of_images = gl_counters().image_fds;
  std::vector<GstPtr<GstBuffer>> kept;
  for (auto& frame : frames) kept.push_back(harness.push(frame->buffer()));
  if (rig_must_import()) fail_unless_equals_uint64(harness.step("egl"), 9);
  fail_unless_equals_uint64(open_descriptors() - before, gl_counters().image_fds - of_images);
}
GST_END_TEST;

GST_START_TEST(an_import_goes_with_the_memory_it_was_made_of) {
  UploadHarness harness(kSmall);
  for (int i = 0; i < 10; ++i) {
    std::atomic<bool> gone{false};
    {
      MemfdFrame frame(kSmall);
      GstPtr<GstBuffer> in = frame.buffer();
      GstMemory* memory = gst_buffer_peek_memory(in.get(), 0);
      fail_unless(harness.push(std::move(in)));
      // Called after the element's own notice, because it came later.
      gst_mini_object_weak_ref(
          GST_MINI_OBJECT_CAST(memory),
          [](gpointer flag, GstMiniObject*) {
            static_cast<std::atomic<bool>*>(flag)->store(true);
            static_cast<std::atomic<bool>*>(flag)->notify_all();
          },
          &gone);
    }
    gone.wait(false);
    fail_unless_equals_int(frame_mappings(), 0);
  }
  if (rig_must_import()) fail_unless_equals_uint64(harness.step("egl"), 10);
}
GST_END_TEST;

GST_START_TEST(a_kept_frame_holds_its_own_import_and_no_other) {
  auto frames = make_frames(8);
  const size_t own = frame_mappings();
  GstPtr<GstBuffer> kept;
  {
    UploadHarness harness(kSmall);
    for (auto& frame : frames) {
      GstPtr<GstBuffer> out = harness.push(frame->buffer());
      if (!kept) kept = out;
    }
    if (rig_must_import()) fail_unless(frame_mappings() >= own + 8);
    gst_element_set_state(harness.element(), GST_STATE_NULL);
    fail_unless(frame_mappings() <= own + 2);
  }
  fail_unless_equals_uint64(compare(kept.get(), kSmall, 0).wrong_bytes, 0);
}
GST_END_TEST;

GST_START_TEST(frames_kept_by_the_application_outlive_the_element) {
  auto frames = make_frames(8);
  std::vector<GstPtr<GstBuffer>> kept;
  {
    UploadHarness harness(kSmall);
    for (auto& frame : frames) kept.push_back(harness.push(frame->buffer()));
    gst_element_set_state(harness.element(), GST_STATE_NULL);
  }
  for (uint32_t i = 0; i < kept.size(); ++i) {
    fail_unless(kept[i]);
    fail_unless_equals_uint64(compare(kept[i].get(), kSmall, i).wrong_bytes, 0);
  }
}
GST_END_TEST;

GST_START_TEST(a_copied_frame_in_a_dmabuf_stream_is_taken_and_said) {
  UploadHarness harness(kSmall);
  const auto bus = GstPtr<GstBus>::adopt(gst_bus_new());
  gst_element_set_bus(harness.element(), bus.get());
  MemfdFrame frame(kSmall);
  for (uint32_t i = 0; i < 6; ++i) {
    frame.fill(i);
    GstPtr<GstBuffer> in = frame.buffer();
    if (i == 2 || i == 3) {
      in = GstPtr<GstBuffer>::adopt(gst_buffer_new_memdup(frame.data(), kSmall.size));
      add_video_meta(in.get(), kSmall);
    }
    const GstPtr<GstBuffer> out = harness.push(in);
    fail_unless(out);
    fail_unless_equals_uint64(compare(out.get(), kSmall, i).wrong_bytes, 0);
  }
  fail_unless_equals_uint64(harness.reason("system-memory"), 2);
  std::string said;
  while (const auto message = GstPtr<GstMessage>::adopt(gst_bus_pop(bus.get()))) {
    const GstStructure* what = gst_message_get_structure(message.get());
    if (!what || !gst_structure_has_name(what, "dxva-path-changed")) continue;
    said += std::string(gst_structure_get_string(what, "from")) + ">" +
            gst_structure_get_string(what, "to") + " " +
            gst_structure_get_string(what, "reason") + ";";
  }
  fail_unless_equals_string(said.c_str(),
                            harness.imports() ? "egl>cpu-copy system-memory;" : "");
  gst_element_set_bus(harness.element(), nullptr);
}
GST_END_TEST;

// A decoder asks before it chooses its caps.
GST_START_TEST(the_allocation_query_is_answered_before_there_are_caps) {
  GstHarness* harness = gst_harness_new("dxvaglupload");
  const auto caps =
      GstPtr<GstCaps>::adopt(gst_caps_from_string(kSmall.caps("memory:DMABuf").c_str()));
  const auto query = GstPtr<GstQuery>::adopt(gst_query_new_allocation(caps.get(), FALSE));
  fail_unless(gst_pad_peer_query(harness->srcpad, query.get()));
  fail_unless(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr));
  gst_harness_teardown(harness);
}
GST_END_TEST;

GST_START_TEST(the_allocation_query_says_what_may_come) {
  UploadHarness harness(kSmall);
  MemfdFrame frame(kSmall);
  fail_unless(harness.push(frame.buffer()));
  const GstPtr<GstQuery> query = ask_allocation(harness, kSmall);
  guint index = 0;
  fail_unless(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, &index));
  const GstStructure* parameters = nullptr;
  gst_query_parse_nth_allocation_meta(query.get(), index, &parameters);
  fail_if(parameters, "a tee drops it");
  const auto words = dxva::gst::AllocationWords::in(query.get());
  fail_unless(words.mixed_memory && words.waits_for_fences && words.only_consumer);
  fail_unless(
      gst_query_find_allocation_meta(query.get(), GST_VIDEO_CROP_META_API_TYPE, nullptr));
}
GST_END_TEST;

GST_START_TEST(the_user_may_forbid_import) {
  for (const auto& [mode, reason] : {std::pair{"copy", "import-copy-forced"},
                                     {"memory-object", "memory-object-unsupported"}}) {
    UploadHarness harness(kSmall);
    gst_util_set_object_arg(G_OBJECT(harness.element()), "import", mode);
    MemfdFrame frame(kSmall);
    frame.fill(7);
    for (int i = 0; i < 3; ++i) {
      const GstPtr<GstBuffer> out = harness.push(frame.buffer());
      fail_unless_equals_uint64(compare(out.get(), kSmall, 7).wrong_bytes, 0);
    }
    fail_unless_equals_uint64(harness.step("cpu-copy"), 3);
    fail_unless_equals_uint64(harness.reason(reason), 3);
    // The decoder hears of it once and not with each frame.
    fail_unless(next_refusal(harness).reason == reason);
    fail_unless(!next_refusal(harness).came);
  }
}
GST_END_TEST;

GST_START_TEST(a_software_renderer_imports_only_when_told_to) {
  setenv("GST_DXVA_TEST", "memfd", 1);
  UploadHarness harness(kSmall);
  MemfdFrame frame(kSmall);
  frame.fill(7);
  const GstPtr<GstBuffer> out = harness.push(frame.buffer());
  fail_unless_equals_uint64(compare(out.get(), kSmall, 7).wrong_bytes, 0);
  if (harness.reason("no-import-extension") != 0) DXVA_SKIP("nothing is imported here at all");
  if (harness.reason("software-renderer") == 0) DXVA_SKIP("the renderer is a real one");
  fail_unless_equals_uint64(harness.step("cpu-copy"), 1);
}
GST_END_TEST;

GST_START_TEST(a_refused_buffer_is_named_to_its_producer) {
  UploadHarness harness(kSmall);
  MemfdFrame refused(kSmall,
                     false);  // it may shrink under the driver: no stand-in for a dma-buf
  MemfdFrame good(kSmall);
  refused.fill(4);
  for (int i = 0; i < 3; ++i) {
    const GstPtr<GstBuffer> out = harness.push(refused.buffer());
    fail_unless_equals_uint64(compare(out.get(), kSmall, 4).wrong_bytes, 0);
    fail_unless(harness.push(good.buffer()));
  }
  if (!harness.imports()) DXVA_SKIP("nothing is imported here");
  fail_unless_equals_uint64(harness.reason("not-a-dmabuf"), 3);
  fail_unless_equals_uint64(harness.step("egl"), 3);
  const RefusalEvent event = next_refusal(harness);
  fail_unless_equals_string(event.reason.c_str(), "not-a-dmabuf");
  fail_unless_equals_uint64(event.inode, inode_of(refused.fd()));
  fail_unless(!next_refusal(harness).came);
}
GST_END_TEST;

GST_START_TEST(a_drivers_refusal_costs_one_frame_and_is_retried_later) {
  UploadHarness harness(kSmall);
  MemfdFrame frame(kSmall);
  frame.fill(4);
  fail_image_creation(EGL_BAD_ALLOC);
  const GstPtr<GstBuffer> out = harness.push(frame.buffer());
  fail_unless_equals_uint64(compare(out.get(), kSmall, 4).wrong_bytes, 0);
  if (!harness.imports()) DXVA_SKIP("nothing is imported here");
  fail_unless_equals_uint64(harness.reason("egl-bad-alloc"), 1);
  fail_unless(next_refusal(harness).reason == "egl-bad-alloc");
  fail_image_creation(0);
  // Not at once: asking the driver for each frame costs more than the copy.
  fail_unless(harness.push(frame.buffer()));
  fail_unless_equals_uint64(harness.step("cpu-copy"), 2);
  for (uint64_t i = 0; i < dxva::gl::ImportCache::kFirstBackOff; ++i)
    fail_unless(harness.push(frame.buffer()));
  fail_unless(harness.step("egl") > 0);
  // A caps change asks anew at once.
  fail_image_creation(EGL_BAD_MATCH);
  MemfdFrame other(kSmall);
  fail_unless(harness.push(other.buffer()));
  fail_image_creation(0);
  const uint64_t before = harness.step("egl");
  gst_harness_set_src_caps_str(harness.get(),
                               (kSmall.caps("memory:DMABuf") + ",colorimetry=bt709").c_str());
  fail_unless(harness.push(other.buffer()));
  fail_unless_equals_uint64(harness.step("egl"), before + 1);
}
GST_END_TEST;

GST_START_TEST(the_crop_moves_the_planes_of_an_import) {
  // A window of 64x48 at (6, 4) in 80x60, as offsets and as a meta.
  const FrameLayout whole = make_layout("80x60", GST_VIDEO_FORMAT_NV12, 80, 60, 80, 60);
  UploadHarness harness(kSmall);
  MemfdFrame frame(whole);
  frame.fill(2);
  GstPtr<GstBuffer> in = frame.buffer();
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(in.get());
  crop->x = 6;
  crop->y = 4;
  crop->width = 64;
  crop->height = 48;
  const GstPtr<GstBuffer> out = harness.push(in);
  fail_unless(out);
  fail_unless(gst_buffer_get_video_crop_meta(out.get()) == nullptr);
  GstVideoInfo info = kSmall.info();
  GstVideoFrame mapped;
  fail_unless(gst_video_frame_map(&mapped, &info, out.get(), GST_MAP_READ));
  for (uint32_t p = 0; p < 2; ++p)
    for (uint32_t row = 0; row < kSmall.rows(p); ++row)
      for (uint32_t i = 0; i < 64; ++i)
        fail_unless_equals_int(
            static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(
                &mapped,
                p))[row * static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&mapped, p)) + i],
            pattern(2, p, row + (p == 0 ? 4 : 2), i + 6));
  gst_video_frame_unmap(&mapped);
  if (harness.imports()) fail_unless_equals_uint64(harness.step("egl"), 1);
}
GST_END_TEST;

GST_START_TEST(drm_caps_of_new_gstreamer_are_imported) {
  if (!dxva::gst::has_drm_caps()) DXVA_SKIP("GStreamer before 1.24 has no DMA_DRM caps");
  const char* rest = ",width=64,height=48,framerate=25/1";
  const std::string drm =
      std::string("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12") + rest;
  UploadHarness harness("video/x-raw(memory:GLMemory),format=NV12", drm);
  MemfdFrame frame(kSmall);
  frame.fill(3);
  const GstPtr<GstBuffer> out = harness.push(frame.buffer());
  fail_unless(out);
  fail_unless_equals_uint64(compare(out.get(), kSmall, 3).wrong_bytes, 0);
  fail_unless_equals_uint64(harness.step(harness.imports() ? "egl" : "cpu-copy"), 1);
  // A tiling that this driver does not list: nobody can read it, least of all as rows.
  gst_harness_set_src_caps_str(
      harness.get(),
      (std::string(
           "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0200000000000001") +
       rest)
          .c_str());
  fail_unless(!harness.push(frame.buffer()));
  fail_unless_equals_uint64(harness.reason("modifier-not-linear"), 1);
}
GST_END_TEST;

GST_START_TEST(outgoing_textures_are_readonly_and_have_a_sync_point) {
  UploadHarness harness(kSmall);
  MemfdFrame frame(kSmall);
  const GstPtr<GstBuffer> out = harness.push(frame.buffer());
  fail_unless_equals_int(gst_buffer_n_memory(out.get()), 2);
  fail_unless(gst_buffer_get_video_meta(out.get()) != nullptr);
  fail_unless(gst_buffer_get_gl_sync_meta(out.get()) != nullptr);
  // A consumer that wrote would write into a decoder's reference picture.
  if (harness.imports())
    fail_unless(GST_MEMORY_IS_READONLY(gst_buffer_peek_memory(out.get(), 0)));
  const GstAllocator* allocator = gst_buffer_peek_memory(out.get(), 0)->allocator;
  fail_unless_equals_string(allocator->mem_type, GST_GL_MEMORY_ALLOCATOR_NAME);
}
GST_END_TEST;

GST_START_TEST(stale_errors_of_others_refuse_nothing) {
  UploadHarness harness(kSmall);
  auto frames = make_frames(4);
  for (auto& frame : frames) {
    fail_unless(harness.push(frame->buffer()));
    const auto context = get_gl_context(harness);
    gst_gl_context_thread_add(
        context.get(), [](GstGLContext* gl, gpointer) { gl->gl_vtable->Enable(0xdead); },
        nullptr);
  }
  fail_unless_equals_uint64(harness.reason("gl-error"), 0);
  fail_unless_equals_uint64(harness.step(harness.imports() ? "egl" : "cpu-copy"), 4);
}
GST_END_TEST;

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_import");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 120);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, nv12_of_every_geometry_is_exact);
  tcase_add_test(tests, p010_of_every_geometry_is_exact);
  tcase_add_test(tests, rgb_is_the_reference_conversion_within_one_level);
  tcase_add_test(tests, nothing_is_made_per_frame_in_steady_state);
  tcase_add_test(tests, a_thousand_frames_leave_descriptors_and_mappings_flat);
  tcase_add_test(tests, an_import_holds_no_descriptor_but_the_drivers);
  tcase_add_test(tests, an_import_goes_with_the_memory_it_was_made_of);
  tcase_add_test(tests, a_kept_frame_holds_its_own_import_and_no_other);
  tcase_add_test(tests, frames_kept_by_the_application_outlive_the_element);
  tcase_add_test(tests, a_copied_frame_in_a_dmabuf_stream_is_taken_and_said);
  tcase_add_test(tests, the_allocation_query_is_answered_before_there_are_caps);
  tcase_add_test(tests, the_allocation_query_says_what_may_come);
  tcase_add_test(tests, the_user_may_forbid_import);
  tcase_add_test(tests, a_software_renderer_imports_only_when_told_to);
  tcase_add_test(tests, a_refused_buffer_is_named_to_its_producer);
  tcase_add_test(tests, a_drivers_refusal_costs_one_frame_and_is_retried_later);
  tcase_add_test(tests, the_crop_moves_the_planes_of_an_import);
  tcase_add_test(tests, drm_caps_of_new_gstreamer_are_imported);
  tcase_add_test(tests, outgoing_textures_are_readonly_and_have_a_sync_point);
  tcase_add_test(tests, stale_errors_of_others_refuse_nothing);
  return gst_check_run_suite(suite, "dxvaglupload_import", __FILE__);
}
