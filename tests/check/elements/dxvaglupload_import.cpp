// SPDX-License-Identifier: LGPL-2.1-or-later
// Dma-bufs become textures without a copy, exactly, and nothing is made per frame. Where this
// OpenGL imports nothing (Debian 12's own Mesa without a DRM node) the same frames are copied.

#include <vector>

#include "tests/check/support/check.hpp"
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

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_import");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 120);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, nv12_of_every_geometry_is_exact);
  tcase_add_test(tests, p010_of_every_geometry_is_exact);
  return gst_check_run_suite(suite, "dxvaglupload_import", __FILE__);
}
