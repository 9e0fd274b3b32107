// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffers that kill a process inside Mesa, hang it, or show another process's memory when they
// are imported as they are. Each case runs in a process of its own (check forks): one bad
// buffer, then a good one, which must still be right.

#include <fcntl.h>
#include <gst/allocators/gstdmabuf.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <string>

#include "gst/dxvagl/caps.hpp"
#include "lib/base/unique_fd.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

const FrameLayout kGood = make_layout("64x48", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);

// A bad buffer ends as a copy of the right bytes or as no frame at all, never as an import.
enum class End {
  Copied,   // sane for the CPU: shown, by copy
  Dropped,  // nothing to show
  Picture,  // unusual, and right: shown, whatever the way
};

struct Case {
  const char* name;
  const char* reason;  // counted for it; null: whichever
  End end;
  std::function<FrameLayout()> layout;
  std::function<GstPtr<GstBuffer>(const FrameLayout&)> make;
  const char* modifier = nullptr;  // in DMA_DRM caps, which GStreamer has since 1.24
};

GstPtr<GstBuffer> around(int fd, uint64_t claimed, const FrameLayout& layout) {
  auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
  if (auto memory = dmabuf_memory(fd, claimed))
    gst_buffer_append_memory(buffer.get(), memory.release());
  add_video_meta(buffer.get(), layout);
  return buffer;
}

int filled_memfd(uint64_t size, bool sealed = true) {
  const int fd = make_memfd(size, false);
  const std::string bytes(size, '\x55');
  fail_unless(write(fd, bytes.data(), size) == static_cast<ssize_t>(size));
  if (sealed) fail_unless(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  return fd;
}

GstPtr<GstBuffer> honest(const FrameLayout& layout) {
  return around(filled_memfd(kGood.size), kGood.size, layout);
}
GstPtr<GstBuffer> of_fd(int fd, const FrameLayout& layout) {
  return around(fd, kGood.size, layout);
}
// What a memory of a closed or negative descriptor looks like.
GstPtr<GstBuffer> of_dead_fd(const FrameLayout& layout) {
  const int fd = filled_memfd(kGood.size);
  GstPtr<GstBuffer> buffer = around(fd, kGood.size, layout);
  close(fd);
  return buffer;
}

FrameLayout good() {
  return kGood;
}
std::function<FrameLayout()> with(void (*change)(FrameLayout&)) {
  return [change] {
    FrameLayout layout = kGood;
    change(layout);
    return layout;
  };
}

int temporary_file(int flags) {
  char name[] = "/tmp/dxva-frame-XXXXXX";
  const int fd = mkstemp(name);
  const std::string bytes(kGood.size, '\x55');
  fail_unless(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const int reopened = open(name, flags);
  unlink(name);
  close(fd);
  return reopened;
}
int one_of_pair(bool socket) {
  int ends[2];
  fail_unless((socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) == 0);
  return ends[0];  // the other end stays open: a read would wait for ever
}

int read_only(int fd) {
  const int reopened =
      open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC);
  fail_unless(reopened >= 0);
  close(fd);
  return reopened;
}
GstPtr<GstBuffer> cropped(const FrameLayout& layout, guint x, guint y) {
  GstPtr<GstBuffer> buffer = honest(layout);
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer.get());
  crop->x = x;
  crop->y = y;
  crop->width = layout.width;
  crop->height = layout.height;
  return buffer;
}

const Case kCases[] = {
    // Planes outside the buffer: SIGSEGV, or the pixels of others
    {"luma offset + 1 MiB", nullptr, End::Dropped,
     with([](FrameLayout& l) { l.offset[0] += 1 << 20; }), honest},
    {"luma offset 0x7fffffff", nullptr, End::Dropped,
     with([](FrameLayout& l) { l.offset[0] = 0x7fffffff; }), honest},
    {"luma offset -64", nullptr, End::Dropped,
     with([](FrameLayout& l) { l.offset[0] = static_cast<uint64_t>(-64); }), honest},
    {"luma offset -4096", nullptr, End::Dropped,
     with([](FrameLayout& l) { l.offset[0] = static_cast<uint64_t>(-4096); }), honest},
    {"chroma offset 4 GiB + right", nullptr, End::Dropped,
     with([](FrameLayout& l) { l.offset[1] += uint64_t{1} << 32; }), honest},
    {"chroma at the end of the buffer", nullptr, End::Dropped,
     with([](FrameLayout& l) { l.offset[1] = kGood.size; }), honest},
    {"chroma half outside", "object-too-small", End::Dropped,
     with([](FrameLayout& l) { l.offset[1] += 12 * 64; }), honest},
    {"chroma one byte outside", "object-too-small", End::Dropped,
     with([](FrameLayout& l) { l.offset[1] += 1; }), honest},
    // Pitches
    {"pitch 1 MiB", "object-too-small", End::Dropped,
     with([](FrameLayout& l) { l.pitch[0] = 1 << 20; }), honest},
    {"pitch 0x7fffffff", nullptr, End::Dropped,
     with([](FrameLayout& l) { l.pitch[0] = 0x7fffffff; }), honest},
    {"pitch below the width", "pitch-too-small", End::Dropped,
     with([](FrameLayout& l) { l.pitch[0] = 63; }), honest},
    {"pitch 1", "pitch-too-small", End::Dropped, with([](FrameLayout& l) { l.pitch[1] = 1; }),
     honest},
    {"odd pitch", nullptr, End::Picture,
     [] { return make_layout("", GST_VIDEO_FORMAT_NV12, 61, 48, 63, 48); },
     [](const FrameLayout& l) { return around(filled_memfd(l.size), l.size, l); }},
    {"pitch 0", "pitch-out-of-range", End::Dropped,
     with([](FrameLayout& l) { l.pitch[0] = 0; }), honest},
    {"pitch -64", "pitch-out-of-range", End::Dropped,
     with([](FrameLayout& l) { l.pitch[0] = -64; }), honest},
    // Sizes that the memory does not have
    {"height 4096 in a buffer of 48 rows", "object-too-small", End::Dropped,
     with([](FrameLayout& l) { l.height = 4096; }), honest},
    {"height times 4", "object-too-small", End::Dropped,
     with([](FrameLayout& l) { l.height *= 4; }), honest},
    {"width 20000", nullptr, End::Dropped, with([](FrameLayout& l) {
       l.width = 20000;
       l.pitch = {20000, 20000};
     }),
     honest},
    {"width 65536", nullptr, End::Dropped, with([](FrameLayout& l) {
       l.width = 65536;
       l.pitch = {65536, 65536};
     }),
     honest},
    {"height 100000", nullptr, End::Dropped, with([](FrameLayout& l) { l.height = 100000; }),
     honest},
    {"too large for a texture, all of it there", "texture-too-large", End::Dropped,
     [] { return make_layout("", GST_VIDEO_FORMAT_NV12, 20000, 2, 20000, 2); },
     [](const FrameLayout& l) { return around(filled_memfd(l.size), l.size, l); }},
    // Descriptors that are no buffers: SIGSEGV, SIGBUS, or a hang
    {"empty memfd", "object-too-small", End::Dropped, good,
     [](const FrameLayout& l) { return of_fd(make_memfd(0, true), l); }},
    {"memfd of 100 bytes", nullptr, End::Dropped, good,
     [](const FrameLayout& l) { return of_fd(filled_memfd(100), l); }},
    {"memfd one byte short", "object-too-small", End::Dropped, good,
     [](const FrameLayout& l) { return of_fd(filled_memfd(kGood.size - 1), l); }},
    {"memfd that may shrink", "not-a-dmabuf", End::Copied, good,
     [](const FrameLayout& l) { return of_fd(filled_memfd(kGood.size, false), l); }},
    {"pipe", "bad-descriptor", End::Dropped, good,
     [](const FrameLayout& l) { return of_fd(one_of_pair(false), l); }},
    {"socket", "bad-descriptor", End::Dropped, good,
     [](const FrameLayout& l) { return of_fd(one_of_pair(true), l); }},
    {"eventfd", "bad-descriptor", End::Dropped, good,
     [](const FrameLayout& l) { return of_fd(eventfd(0, 0), l); }},
    {"null device", "bad-descriptor", End::Dropped, good,
     [](const FrameLayout& l) { return of_fd(open("/dev/null", O_RDWR), l); }},
    {"zero device", "bad-descriptor", End::Dropped, good,
     [](const FrameLayout& l) { return of_fd(open("/dev/zero", O_RDWR), l); }},
    {"folder", "bad-descriptor", End::Dropped, good,
     [](const FrameLayout& l) { return of_fd(open("/", O_RDONLY), l); }},
    {"regular file", "not-a-dmabuf", End::Copied, good,
     [](const FrameLayout& l) { return of_fd(temporary_file(O_RDWR), l); }},
    {"read-only file", "not-a-dmabuf", End::Copied, good,
     [](const FrameLayout& l) { return of_fd(temporary_file(O_RDONLY), l); }},
    {"closed descriptor", "bad-descriptor", End::Dropped, good, of_dead_fd},
    {"descriptor -1", "bad-descriptor", End::Dropped, good,
     [](const FrameLayout& l) { return of_fd(-1, l); }},
    {"read-only memfd", nullptr, End::Picture, good,
     [](const FrameLayout& l) { return of_fd(read_only(filled_memfd(kGood.size)), l); }},
    // Metas and buffers that do not fit the caps
    {"a plane is missing", "plane-count", End::Dropped, good,
     [](const FrameLayout& l) {
       GstPtr<GstBuffer> buffer = honest(l);
       gst_buffer_get_video_meta(buffer.get())->n_planes = 1;
       return buffer;
     }},
    {"planes of metadata", "aux-plane", End::Copied, good,
     [](const FrameLayout& l) {
       GstPtr<GstBuffer> buffer = honest(l);
       gst_buffer_get_video_meta(buffer.get())->n_planes = 4;
       return buffer;
     }},
    {"more planes than there can be", "aux-plane", End::Copied, good,
     [](const FrameLayout& l) {
       GstPtr<GstBuffer> buffer = honest(l);
       gst_buffer_get_video_meta(buffer.get())->n_planes = G_MAXUINT;
       return buffer;
     }},
    {"another format", "format-unsupported", End::Dropped, good,
     [](const FrameLayout& l) {
       GstPtr<GstBuffer> buffer = honest(l);
       gst_buffer_get_video_meta(buffer.get())->format = GST_VIDEO_FORMAT_I420;
       return buffer;
     }},
    {"no format", "format-unsupported", End::Dropped, good,
     [](const FrameLayout& l) {
       GstPtr<GstBuffer> buffer = honest(l);
       gst_buffer_get_video_meta(buffer.get())->format = GST_VIDEO_FORMAT_UNKNOWN;
       return buffer;
     }},
    {"a format of a later GStreamer", "format-unsupported", End::Dropped, good,
     [](const FrameLayout& l) {
       GstPtr<GstBuffer> buffer = honest(l);
       constexpr int kLater = 1000;
       std::memcpy(&gst_buffer_get_video_meta(buffer.get())->format, &kLater, sizeof kLater);
       return buffer;
     }},
    {"a buffer without memory", nullptr, End::Dropped, good,
     [](const FrameLayout& l) {
       auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
       add_video_meta(buffer.get(), l);
       return buffer;
     }},
    {"no meta, and too small for the caps", nullptr, End::Dropped, good,
     [](const FrameLayout&) {
       auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
       gst_buffer_append_memory(buffer.get(),
                                dmabuf_memory(filled_memfd(1000), 1000).release());
       return buffer;
     }},
    {"the memory claims more than its file", nullptr, End::Dropped,
     with([](FrameLayout& l) { l.offset[1] += 1 << 20; }),
     [](const FrameLayout& l) { return around(filled_memfd(kGood.size), 8 << 20, l); }},
    {"offset of all ones", "offset-out-of-range", End::Dropped,
     with([](FrameLayout& l) { l.offset[1] = G_MAXSIZE; }), honest},
    {"pitch INT_MIN", "pitch-out-of-range", End::Dropped,
     with([](FrameLayout& l) { l.pitch[1] = INT32_MIN; }), honest},
    {"chroma across two memories", "object-too-small", End::Copied, good,
     [](const FrameLayout& l) {
       auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
       for (const uint64_t size : {l.size - 640, uint64_t{640}})
         gst_buffer_append_memory(buffer.get(),
                                  dmabuf_memory(filled_memfd(size), size).release());
       add_video_meta(buffer.get(), l);
       return buffer;
     }},
    {"more memories than planes", nullptr, End::Picture, good,
     [](const FrameLayout& l) {
       GstPtr<GstBuffer> buffer = honest(l);
       for (int i = 0; i < 5; ++i)
         gst_buffer_append_memory(buffer.get(),
                                  dmabuf_memory(one_of_pair(false), 64).release());
       return buffer;
     }},
    {"a crop far outside", "offset-out-of-range", End::Dropped, good,
     [](const FrameLayout& l) { return cropped(l, uint32_t{1} << 31, 0); }},
    {"a crop of all ones", "offset-out-of-range", End::Dropped, good,
     [](const FrameLayout& l) { return cropped(l, G_MAXUINT, G_MAXUINT); }},
    {"a crop that ends outside", "object-too-small", End::Dropped, good,
     [](const FrameLayout& l) { return cropped(l, 2, 2); }},
    // What only DMA_DRM caps can say
    {"modifier INVALID", "modifier-not-linear", End::Dropped, good, honest,
     "0x00ffffffffffffff"},
    {"Intel's X tiling", "modifier-not-linear", End::Dropped, good, honest,
     "0x0100000000000001"},
    {"a tiling of AMD's", "modifier-not-linear", End::Dropped, good, honest,
     "0x0200000000000001"},
    {"a modifier of all ones", "modifier-not-linear", End::Dropped, good, honest,
     "0xffffffffffffffff"},
    {"chroma in a second, dead memory", nullptr, End::Dropped,
     with([](FrameLayout& l) { l.offset[1] = kGood.size; }),
     [](const FrameLayout& l) {
       GstPtr<GstBuffer> buffer = honest(l);
       gst_buffer_append_memory(buffer.get(),
                                dmabuf_memory(one_of_pair(false), kGood.size).release());
       return buffer;
     }},
};
std::string drm_caps(const FrameLayout& layout, const char* modifier) {
  return "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:" + std::string(modifier) +
         ",width=" + std::to_string(layout.width) + ",height=" + std::to_string(layout.height) +
         ",framerate=25/1";
}

constexpr int kCaseCount = static_cast<int>(std::size(kCases));

}  // namespace

GST_START_TEST(a_bad_buffer_costs_one_frame) {
  const Case& bad = kCases[__i__];
  const FrameLayout layout = bad.layout();
  if (bad.modifier && !dxva::gst::has_drm_caps())
    DXVA_SKIP("%s: GStreamer before 1.24 has no DMA_DRM caps", bad.name);
  UploadHarness harness(layout);
  if (bad.modifier)
    gst_harness_set_src_caps_str(harness.get(), drm_caps(layout, bad.modifier).c_str());
  const GstPtr<GstBuffer> out = harness.push(bad.make(layout));
  std::printf("# %s: %s\n", bad.name, out ? "copied" : "dropped");
  if (bad.end != End::Picture) fail_unless_equals_uint64(harness.step("egl"), 0);
  if (bad.end != End::Dropped) fail_unless(out, "%s: nothing came out", bad.name);
  if (bad.end == End::Dropped) fail_unless(!out, "%s: something came out", bad.name);
  // Why it was dropped, or why it was not imported.
  if (bad.reason && harness.imports())
    fail_unless(harness.reason(bad.reason) > 0, "%s: not counted as %s", bad.name, bad.reason);
  if (out) {
    GstVideoInfo info = layout.info();
    GstVideoFrame frame;
    fail_unless(gst_video_frame_map(&frame, &info, out.get(), GST_MAP_READ));
    for (uint32_t p = 0; p < 2; ++p) {
      const auto* pixels = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
      const auto pitch = static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p));
      for (uint32_t row = 0; row < layout.rows(p); ++row)
        for (uint32_t i = 0; i < layout.row_bytes(p); ++i)
          fail_unless(pixels[row * pitch + i] == 0x55, "%s: plane %u row %u byte %u is %u",
                      bad.name, p, row, i, pixels[row * pitch + i]);
    }
    gst_video_frame_unmap(&frame);
  }

  const uint64_t imported = harness.step("egl");
  gst_harness_set_src_caps_str(harness.get(), kGood.caps("memory:DMABuf").c_str());
  MemfdFrame next(kGood);
  next.fill(5);
  const GstPtr<GstBuffer> fine = harness.push(next.buffer());
  fail_unless(fine, "the stream did not go on after: %s", bad.name);
  const Comparison result = compare(fine.get(), kGood, 5);
  fail_unless(result.wrong_bytes == 0, "after %s: %s", bad.name, result.first.c_str());
  fail_unless_equals_uint64(harness.step("egl"), imported + (harness.imports() ? 1 : 0));
}
GST_END_TEST;

GST_START_TEST(a_frame_that_shrinks_cannot_be_imported) {
  // The seal that a stand-in must have is what prevents it.
  MemfdFrame frame(kGood);
  fail_unless(ftruncate(frame.fd(), 100) != 0);
}
GST_END_TEST;

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_hostile");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 60);
  suite_add_tcase(suite, tests);
  tcase_add_loop_test(tests, a_bad_buffer_costs_one_frame, 0, kCaseCount);
  tcase_add_test(tests, a_frame_that_shrinks_cannot_be_imported);
  return gst_check_run_suite(suite, "dxvaglupload_hostile", __FILE__);
}
