// SPDX-License-Identifier: LGPL-2.1-or-later
// Opaque memory through dxvaglupload: every byte, in every layout; and what is no such memory,
// or of another device, which is copied.

#include <fcntl.h>
#include <gst/allocators/allocators.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "gst/common/finished_memory.hpp"
#include "gst/common/opaque_memory.hpp"
#include "gst/dxva/gstdxvaallocator.hpp"
#include "gst/dxvagl/gl_session.hpp"
#include "lib/dmabuf/opaque.hpp"
#include "lib/vulkan/memory_exporter.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::BufferIdentity;
using dxva::UniqueFd;
using dxva::gst::GstPtr;

namespace {

// The device of the context that the element gets; asked once in each test's process.
std::shared_ptr<dxva::vulkan::MemoryExporter> exporter_for(const UploadHarness& harness) {
  const auto context = get_gl_context(harness);
  std::shared_ptr<dxva::vulkan::MemoryExporter> out;
  struct Call {
    GstGLContext* context;
    std::optional<dxva::DeviceUuids> uuids;
  } call{context.get(), std::nullopt};
  gst_gl_context_thread_add(
      context.get(),
      [](GstGLContext* gl, gpointer data) {
        const auto session = dxva::gst::GlSession::create(gl);
        if (session && session->memory_objects())
          static_cast<Call*>(data)->uuids = session->memory_objects()->uuids();
      },
      &call);
  fail_unless(call.uuids.has_value(), "this context takes no opaque memory");
  auto opened = dxva::vulkan::MemoryExporter::open(call.uuids);
  fail_unless(bool(opened), "%s", opened ? "" : opened.error().describe().c_str());
  return *opened;
}

// A context to ask before there are caps with its UUIDs.
struct Device {
  Device() {
    UploadHarness probe(make_layout("probe", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48));
    exporter = exporter_for(probe);
  }
  std::shared_ptr<dxva::vulkan::MemoryExporter> exporter;
};

std::string opaque_caps(const FrameLayout& layout, const dxva::DeviceUuids& uuids) {
  return layout.caps(dxva::gst::kOpaqueFdFeature) + ",device-uuid=(string)" +
         dxva::uuid_text(uuids.device) + ",driver-uuid=(string)" +
         dxva::uuid_text(uuids.driver);
}

std::string gl_caps(const FrameLayout& layout, const char* output = nullptr) {
  return std::string("video/x-raw(memory:GLMemory),format=") +
         (output ? output : gst_video_format_to_string(layout.format));
}

uint64_t next_id() {
  static uint64_t last = 1000;
  return ++last;
}

// A picture in exported memory; its GstMemory stays the same over all buffers.
class OpaqueFrame {
 public:
  OpaqueFrame(dxva::vulkan::MemoryExporter& exporter, const FrameLayout& layout, int fd = -1)
      : layout_(layout),
        block_(
            std::move(*exporter.allocate(layout.size + 65536, dxva::vulkan::Placement::Host))) {
    const auto allocator = dxva::gst::make_dxva_opaque_allocator();
    UniqueFd own{fd};
    if (fd < 0) own = std::move(*block_->share_fd());
    const int number = own.get();
    memory_ = dxva::gst::wrap_opaque(
        allocator.get(), number, std::make_shared<const UniqueFd>(std::move(own)),
        block_->size_bytes(), dxva::dmabuf::opaque_identity(next_id()),
        {.linear = false, .writable = false, .read_back = [this](std::span<uint8_t> to) {
           std::memcpy(to.data(), block_->data(), to.size());
           ++read_backs;
           if (lies) to[100] ^= 1;
           return true;
         }});
    fail_unless(static_cast<bool>(memory_));
    dxva::gst::set_finished(memory_.get(), true);  // as dxvadec says with each picture
  }

  void fill(uint32_t seed) {
    std::memset(block_->data(), 0xee, layout_.size);
    for (uint32_t p = 0; p < 2; ++p)
      for (uint32_t row = 0; row < layout_.rows(p); ++row)
        for (uint32_t i = 0; i < layout_.row_bytes(p); ++i)
          block_->data()[layout_.offset[p] +
                         uint64_t{row} * static_cast<uint32_t>(layout_.pitch[p]) + i] =
              pattern(seed, p, row, i);
  }
  GstPtr<GstBuffer> buffer() {
    auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
    gst_buffer_append_memory(buffer.get(), gst_memory_ref(memory_.get()));
    add_video_meta(buffer.get(), layout_);
    return buffer;
  }
  uint64_t read_backs = 0;
  bool lies = false;  // its map shows another byte than memory has

 private:
  FrameLayout layout_;
  std::unique_ptr<dxva::vulkan::ExportableMemory> block_;
  GstPtr<GstMemory> memory_;
};

const FrameLayout kSmall = make_layout("64x48", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);

std::vector<FrameLayout> layouts() {
  constexpr auto k8 = GST_VIDEO_FORMAT_NV12;
  constexpr auto k10 = GST_VIDEO_FORMAT_P010_10LE;
  return {make_layout("tight", k8, 64, 48, 64, 48),
          make_layout("padded", k8, 60, 48, 100, 50),
          make_layout("odd size", k8, 61, 47, 67, 47),
          make_layout("luma behind a start", k8, 64, 48, 64, 48, 4097),
          make_layout("one pixel", k8, 1, 1, 2, 1),
          make_layout("HD", k8, 1920, 1080, 1920, 1088),
          make_layout("10 bit", k10, 64, 48, 128, 48),
          make_layout("10 bit, padded and odd", k10, 61, 47, 202, 49)};
}

void expect_right(UploadHarness& harness, OpaqueFrame& frame, const FrameLayout& layout,
                  uint32_t seed) {
  frame.fill(seed);
  const auto out = harness.push(frame.buffer());
  fail_unless(static_cast<bool>(out));
  const Comparison compared = compare(out.get(), layout, seed);
  fail_unless(compared.wrong_bytes == 0, "%s", compared.first.c_str());
}

size_t open_descriptors() {
  const std::filesystem::directory_iterator folder("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(folder), end(folder)));
}

}  // namespace

GST_START_TEST(every_layout_is_shown_byte_by_byte_without_a_copy) {
  const Device device;
  for (const FrameLayout& layout : layouts()) {
    UploadHarness harness(gl_caps(layout), opaque_caps(layout, device.exporter->uuids()));
    OpaqueFrame frame(*device.exporter, layout);
    // Twice in the same memory: what was made of it must see the second.
    expect_right(harness, frame, layout, 1);
    expect_right(harness, frame, layout, 2);
    fail_unless_equals_uint64(harness.step("memory-object"), 2);
    fail_unless_equals_uint64(harness.stat("cache-hits"), 1);
    // The one of `verify`, which the rig turns on, and none for the second frame.
    fail_unless_equals_uint64(frame.read_backs, 1);
  }
}
GST_END_TEST;

GST_START_TEST(rgb_is_what_a_copy_would_have_given) {
  const Device device;
  for (const FrameLayout& layout : layouts()) {
    std::vector<uint8_t> pixels[2];
    for (const char* import : {"memory-object", "copy"}) {
      UploadHarness harness(gl_caps(layout, "RGBA"),
                            opaque_caps(layout, device.exporter->uuids()));
      gst_util_set_object_arg(G_OBJECT(harness.element()), "import", import);
      OpaqueFrame frame(*device.exporter, layout);
      frame.fill(3);
      const auto out = harness.push(frame.buffer());
      fail_unless_equals_uint64(
          harness.step(std::strcmp(import, "copy") == 0 ? "cpu-copy" : "memory-object"), 1);
      GstMapInfo map;
      fail_unless(gst_buffer_map(out.get(), &map, GST_MAP_READ));
      auto& mine = pixels[std::strcmp(import, "copy") == 0 ? 1 : 0];
      mine.assign(map.data, map.data + map.size);
      gst_buffer_unmap(out.get(), &map);
    }
    // Our shader divides where a sampler multiplies: the last bit may round to the next level.
    fail_unless(!pixels[0].empty() && pixels[0].size() == pixels[1].size());
    for (size_t i = 0; i < pixels[0].size(); ++i)
      fail_unless(std::abs(pixels[0][i] - pixels[1][i]) <= 1, "%s, byte %zu", layout.name, i);
  }
}
GST_END_TEST;

GST_START_TEST(what_the_property_says_is_done) {
  const Device device;
  UploadHarness harness(gl_caps(kSmall), opaque_caps(kSmall, device.exporter->uuids()));
  OpaqueFrame frame(*device.exporter, kSmall);
  gst_util_set_object_arg(G_OBJECT(harness.element()), "import", "copy");
  expect_right(harness, frame, kSmall, 1);
  fail_unless_equals_uint64(harness.reason("import-copy-forced"), 1);
  gst_util_set_object_arg(G_OBJECT(harness.element()), "import", "egl");
  expect_right(harness, frame, kSmall, 2);
  fail_unless_equals_uint64(harness.reason("not-a-dmabuf"), 1);
  fail_unless_equals_uint64(frame.read_backs, 2);
  gst_util_set_object_arg(G_OBJECT(harness.element()), "import", "memory-object");
  expect_right(harness, frame, kSmall, 3);
  fail_unless_equals_uint64(harness.step("memory-object"), 1);
}
GST_END_TEST;

GST_START_TEST(memory_of_another_device_is_not_asked_for_and_copied_when_it_comes) {
  const Device device;
  dxva::DeviceUuids other = device.exporter->uuids();
  other.driver[3] ^= 1;
  UploadHarness harness(gl_caps(kSmall), opaque_caps(kSmall, other));
  const auto wanted =
      GstPtr<GstCaps>::adopt(gst_pad_peer_query_caps(harness.get()->srcpad, nullptr));
  const auto takes = [&](const dxva::DeviceUuids& uuids) {
    const auto caps =
        GstPtr<GstCaps>::adopt(gst_caps_from_string(opaque_caps(kSmall, uuids).c_str()));
    return gst_caps_can_intersect(caps.get(), wanted.get()) != FALSE;
  };
  fail_unless(takes(device.exporter->uuids()));
  fail_unless(!takes(other));
  OpaqueFrame frame(*device.exporter, kSmall);
  expect_right(harness, frame, kSmall, 1);
  fail_unless_equals_uint64(harness.step("cpu-copy"), 1);
  fail_unless_equals_uint64(harness.reason("uuid-mismatch"), 1);
}
GST_END_TEST;

// Whatever calls itself such memory: no driver sees it, nothing hangs, the picture is right by
// the producer's own map.
GST_START_TEST(hostile_descriptors_are_copied) {
  const Device device;
  int ends[2];
  fail_unless(pipe2(ends, O_CLOEXEC) == 0);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {ends[0], eventfd(1, EFD_CLOEXEC), null, make_memfd(1 << 20, true),
                       make_memfd(10, true)}) {
    UploadHarness harness(gl_caps(kSmall), opaque_caps(kSmall, device.exporter->uuids()));
    OpaqueFrame frame(*device.exporter, kSmall, fd);
    expect_right(harness, frame, kSmall, 1);
    expect_right(harness, frame, kSmall, 2);
    fail_unless_equals_uint64(harness.step("cpu-copy"), 2);
    fail_unless_equals_uint64(
        harness.reason("not-opaque-memory") + harness.reason("object-too-small"), 2);
  }
  close(ends[1]);
}
GST_END_TEST;

GST_START_TEST(verify_compares_with_what_the_producer_reads) {
  const Device device;
  for (const bool lies : {false, true}) {
    UploadHarness harness(gl_caps(kSmall), opaque_caps(kSmall, device.exporter->uuids()));
    g_object_set(harness.element(), "verify", TRUE, nullptr);
    OpaqueFrame frame(*device.exporter, kSmall);
    frame.fill(1);
    frame.lies = lies;
    fail_unless(static_cast<bool>(harness.push(frame.buffer())));
    fail_unless_equals_uint64(harness.stat("verified"), lies ? 0 : 1);
    fail_unless_equals_uint64(harness.reason("self-test-mismatch"), lies ? 1 : 0);
    fail_unless_equals_uint64(harness.step(lies ? "cpu-copy" : "memory-object"), 1);
  }
}
GST_END_TEST;

GST_START_TEST(a_buffer_of_other_memory_in_the_stream_is_copied) {
  const Device device;
  UploadHarness harness(gl_caps(kSmall), opaque_caps(kSmall, device.exporter->uuids()));
  auto plain = GstPtr<GstBuffer>::adopt(gst_buffer_new_allocate(nullptr, kSmall.size, nullptr));
  add_video_meta(plain.get(), kSmall);
  fail_unless(static_cast<bool>(harness.push(std::move(plain))));
  fail_unless_equals_uint64(harness.reason("system-memory"), 1);
  OpaqueFrame frame(*device.exporter, kSmall);
  expect_right(harness, frame, kSmall, 4);
  fail_unless_equals_uint64(harness.step("memory-object"), 1);
}
GST_END_TEST;

GST_START_TEST(the_buffer_is_back_when_its_picture_is_drawn) {
  const Device device;
  UploadHarness harness(gl_caps(kSmall), opaque_caps(kSmall, device.exporter->uuids()));
  OpaqueFrame frame(*device.exporter, kSmall);
  frame.fill(5);
  auto buffer = frame.buffer();
  GstBuffer* watched = buffer.get();
  gst_buffer_ref(watched);
  const auto out = harness.push(std::move(buffer));
  // The output lives, and the input is free all the same when what the GPU reads has been
  // waited for.
  gst_element_set_state(harness.element(), GST_STATE_NULL);
  fail_unless_equals_int(GST_MINI_OBJECT_REFCOUNT_VALUE(watched), 1);
  frame.fill(6);
  fail_unless_equals_uint64(compare(out.get(), kSmall, 5).wrong_bytes, 0);
  gst_buffer_unref(watched);
}
GST_END_TEST;

// Nobody waits for the picture but the stop.
GST_START_TEST(a_stop_while_the_picture_is_drawn) {
  const FrameLayout large = make_layout("1080p", GST_VIDEO_FORMAT_NV12, 1920, 1080, 1920, 1080);
  const Device device;
  for (uint32_t start = 0; start < 5; ++start) {
    UploadHarness harness(gl_caps(large), opaque_caps(large, device.exporter->uuids()));
    // The first one of a layout is looked at, which is waiting.
    OpaqueFrame first_seen(*device.exporter, large);
    expect_right(harness, first_seen, large, 1);
    OpaqueFrame frame(*device.exporter, large);
    frame.fill(2 + start);
    const auto out = harness.push(frame.buffer());
    gst_element_set_state(harness.element(), GST_STATE_NULL);
    fail_unless_equals_uint64(compare(out.get(), large, 2 + start).wrong_bytes, 0);
  }
}
GST_END_TEST;

GST_START_TEST(a_thousand_memories_leave_no_descriptor) {
  const Device device;
  UploadHarness harness(gl_caps(kSmall), opaque_caps(kSmall, device.exporter->uuids()));
  size_t before = 0;
  for (int i = 0; i < 1000; ++i) {
    // Every tenth is a lie.
    OpaqueFrame frame(*device.exporter, kSmall, i % 10 == 3 ? make_memfd(1 << 20, true) : -1);
    frame.fill(1);
    fail_unless(static_cast<bool>(harness.push(frame.buffer())));
    if (i == 20) before = open_descriptors();
  }
  fail_unless_equals_uint64(harness.step("memory-object"), 900);
  gst_element_set_state(harness.element(), GST_STATE_NULL);  // waits for what the GPU reads
  fail_unless(open_descriptors() <= before, "%zu, then %zu", before, open_descriptors());
}
GST_END_TEST;

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_opaque");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 120);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, every_layout_is_shown_byte_by_byte_without_a_copy);
  tcase_add_test(tests, rgb_is_what_a_copy_would_have_given);
  tcase_add_test(tests, what_the_property_says_is_done);
  tcase_add_test(tests, memory_of_another_device_is_not_asked_for_and_copied_when_it_comes);
  tcase_add_test(tests, hostile_descriptors_are_copied);
  tcase_add_test(tests, verify_compares_with_what_the_producer_reads);
  tcase_add_test(tests, a_buffer_of_other_memory_in_the_stream_is_copied);
  tcase_add_test(tests, the_buffer_is_back_when_its_picture_is_drawn);
  tcase_add_test(tests, a_stop_while_the_picture_is_drawn);
  tcase_add_test(tests, a_thousand_memories_leave_no_descriptor);
  return gst_check_run_suite(suite, "dxvaglupload_opaque", __FILE__);
}
