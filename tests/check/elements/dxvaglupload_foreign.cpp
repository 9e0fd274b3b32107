// SPDX-License-Identifier: LGPL-2.1-or-later
// Producers that are not ours: they change their minds about memory in the middle of a stream,
// and their buffers with every frame.

#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gst/common/cpu_memory.hpp"
#include "lib/gl/import_cache.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_counters.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

const FrameLayout kLayout = make_layout("64x48", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);

void expect_right(GstBuffer* output, uint32_t seed) {
  fail_unless(output != nullptr, "picture %u did not come", seed);
  const Comparison result = compare(output, kLayout, seed);
  fail_unless(result.wrong_bytes == 0, "picture %u: %s", seed, result.first.c_str());
}

GstPtr<GstBuffer> in_system_memory(MemfdFrame& frame) {
  auto buffer =
      GstPtr<GstBuffer>::adopt(gst_buffer_new_memdup(frame.data(), frame.layout().size));
  add_video_meta(buffer.get(), frame.layout());
  return buffer;
}

// Of all frames, by their makers and by the driver.
size_t frame_mappings() {
  std::ifstream file("/proc/self/maps");
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  size_t count = 0;
  for (size_t at = all.find("memfd:frame"); at != std::string::npos;
       at = all.find("memfd:frame", at + 1))
    ++count;
  return count;
}

void set_caps(UploadHarness& harness, const char* feature) {
  gst_harness_set_src_caps_str(harness.get(), kLayout.caps(feature).c_str());
}

std::string path_changes(GstBus* bus) {
  std::string said;
  while (const auto message = GstPtr<GstMessage>::adopt(gst_bus_pop(bus))) {
    const GstStructure* what = gst_message_get_structure(message.get());
    if (!what || !gst_structure_has_name(what, "dxva-path-changed")) continue;
    said += std::string(gst_structure_get_string(what, "from")) + ">" +
            gst_structure_get_string(what, "to") + ";";
  }
  return said;
}

}  // namespace

GST_START_TEST(a_stream_may_go_to_system_memory_and_back) {
  UploadHarness harness(kLayout);
  const auto bus = GstPtr<GstBus>::adopt(gst_bus_new());
  gst_element_set_bus(harness.element(), bus.get());
  std::vector<std::unique_ptr<MemfdFrame>> frames;
  for (int i = 0; i < 3; ++i) frames.push_back(std::make_unique<MemfdFrame>(kLayout));
  uint32_t seed = 0;
  for (const bool dmabuf : {true, false, true, false, true}) {
    set_caps(harness, dmabuf ? "memory:DMABuf" : nullptr);
    for (int i = 0; i < 6; ++i, ++seed) {
      MemfdFrame& frame = *frames[seed % frames.size()];
      frame.fill(seed);
      const GstPtr<GstBuffer> out =
          harness.push(dmabuf ? frame.buffer() : in_system_memory(frame));
      expect_right(out.get(), seed);
    }
  }
  fail_unless_equals_uint64(harness.stat("dropped"), 0);
  fail_unless_equals_uint64(harness.reason("system-memory"), 12);
  fail_unless_equals_uint64(harness.step("egl"), harness.imports() ? 18 : 0);
  fail_unless_equals_uint64(harness.step("cpu-copy"), harness.imports() ? 12 : 30);
  fail_unless(!rig_must_import() || harness.imports());
  gst_element_set_bus(harness.element(), nullptr);
  const std::string said = path_changes(bus.get());
  // One word for each change that lasts; which of two short ones are told is StepWatch's
  // matter.
  if (harness.imports()) fail_unless(said.starts_with("egl>cpu-copy;"), "%s", said.c_str());
}
GST_END_TEST;

// Whose word makes the surface the decoder's next target.
GST_START_TEST(who_asks_for_readers_hears_of_the_cpu_where_all_is_copied) {
  UploadHarness harness(kLayout);
  MemfdFrame frame(kLayout);
  const auto is_read_by_cpu = [&](const GstPtr<GstBuffer>& input) {
    GstMemory* memory = gst_buffer_peek_memory(input.get(), 0);
    dxva::gst::ask_for_readers(memory);
    expect_right(harness.push(input).get(), 0);
    return dxva::gst::is_read_by_cpu(memory);
  };
  frame.fill(0);
  const bool plain = is_read_by_cpu(frame.buffer());
  fail_unless_equals_int(plain, !harness.imports());
  // One that cannot be imported is alone in that.
  if (harness.imports()) {
    MemfdFrame unsealed(kLayout, false);
    unsealed.fill(0);
    fail_if(is_read_by_cpu(unsealed.buffer()));
  }
  gst_util_set_object_arg(G_OBJECT(harness.element()), "import", "copy");
  fail_unless(is_read_by_cpu(frame.buffer()));
  // Nothing is hung on memory of those who do not ask.
  MemfdFrame stranger(kLayout);
  stranger.fill(0);
  const auto input = stranger.buffer();
  expect_right(harness.push(input).get(), 0);
  fail_if(dxva::gst::is_read_by_cpu(gst_buffer_peek_memory(input.get(), 0)));
}
GST_END_TEST

// A camera: plain caps, and the memory is a dma-buf all the same.
GST_START_TEST(a_dmabuf_under_plain_caps_is_imported) {
  UploadHarness harness("video/x-raw(memory:GLMemory),format=NV12", kLayout.caps(nullptr));
  MemfdFrame frame(kLayout);
  for (uint32_t i = 0; i < 4; ++i) {
    frame.fill(i);
    expect_right(harness.push(frame.buffer()).get(), i);
  }
  fail_unless_equals_uint64(harness.step(harness.imports() ? "egl" : "cpu-copy"), 4);
}
GST_END_TEST;

GST_START_TEST(a_producer_with_new_buffers_for_each_frame_leaves_nothing_behind) {
  UploadHarness harness(kLayout);
  std::atomic<int> alive{0};
  const auto push_new = [&](uint32_t seed) {
    MemfdFrame frame(kLayout);
    frame.fill(seed);
    GstPtr<GstBuffer> in = frame.buffer();
    GstMemory* memory = gst_buffer_peek_memory(in.get(), 0);
    expect_right(harness.push(std::move(in)).get(), seed);
    ++alive;
    // Called after the element's own notice, because it came later.
    gst_mini_object_weak_ref(
        GST_MINI_OBJECT_CAST(memory),
        [](gpointer count, GstMiniObject*) {
          auto& left = *static_cast<std::atomic<int>*>(count);
          --left;
          left.notify_all();
        },
        &alive);
  };
  const auto wait_for_all = [&] {
    for (int left = alive; left != 0; left = alive) alive.wait(left);
  };
  for (uint32_t i = 0; i < 20; ++i) push_new(i);
  wait_for_all();
  const size_t descriptors = open_descriptors();
  for (uint32_t i = 20; i < 320; ++i) push_new(i);
  wait_for_all();
  fail_unless_equals_int(open_descriptors(), descriptors);
  // Mesa may hold what was read last.
  fail_unless(frame_mappings() <= 2, "%zu mappings are left", frame_mappings());
  if (harness.imports()) fail_unless_equals_uint64(harness.step("egl"), 320);
}
GST_END_TEST;

// More buffers than the cache holds, all of them alive and coming round.
GST_START_TEST(the_cache_is_bounded_while_the_producer_keeps_its_buffers) {
  constexpr size_t kBuffers = 3 * dxva::gl::ImportCache::kDefaultCapacity;
  UploadHarness harness(kLayout);
  std::vector<std::unique_ptr<MemfdFrame>> frames;
  for (size_t i = 0; i < kBuffers; ++i) {
    frames.push_back(std::make_unique<MemfdFrame>(kLayout));
    frames.back()->fill(static_cast<uint32_t>(i));
  }
  for (int round = 0; round < 2; ++round)
    for (uint32_t i = 0; i < kBuffers; ++i)
      expect_right(harness.push(frames[i]->buffer()).get(), i);
  // Each has one mapping of the test's, and an import at most one per plane.
  const size_t most = kBuffers + 2 * (dxva::gl::ImportCache::kDefaultCapacity + 8);
  fail_unless(frame_mappings() <= most, "%zu mappings", frame_mappings());
  if (harness.imports()) {
    fail_unless_equals_uint64(harness.step("egl"), 2 * kBuffers);
    fail_unless(frame_mappings() > kBuffers, "nothing was imported, so nothing was shown");
  }
}
GST_END_TEST;

GST_START_TEST(import_comes_back_with_the_first_buffer_that_allows_it) {
  UploadHarness harness(kLayout);
  MemfdFrame good(kLayout), bad(kLayout, false);  // the second may shrink: never imported
  uint32_t seed = 0;
  for (const bool usable : {true, false, true, false, true})
    for (int i = 0; i < 4; ++i, ++seed) {
      MemfdFrame& frame = usable ? good : bad;
      frame.fill(seed);
      expect_right(harness.push(frame.buffer()).get(), seed);
    }
  if (!harness.imports()) DXVA_SKIP("nothing is imported here");
  fail_unless_equals_uint64(harness.step("egl"), 12);
  fail_unless_equals_uint64(harness.reason("not-a-dmabuf"), 8);
}
GST_END_TEST;

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_foreign");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 120);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, a_stream_may_go_to_system_memory_and_back);
  tcase_add_test(tests, who_asks_for_readers_hears_of_the_cpu_where_all_is_copied);
  tcase_add_test(tests, a_dmabuf_under_plain_caps_is_imported);
  tcase_add_test(tests, a_producer_with_new_buffers_for_each_frame_leaves_nothing_behind);
  tcase_add_test(tests, the_cache_is_bounded_while_the_producer_keeps_its_buffers);
  tcase_add_test(tests, import_comes_back_with_the_first_buffer_that_allows_it);
  return gst_check_run_suite(suite, "dxvaglupload_foreign", __FILE__);
}
