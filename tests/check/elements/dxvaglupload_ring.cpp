// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures that are written where the GPU reads them: the pool that is proposed upstream, and
// what becomes of its buffers. GST_DXVA_TEST=upload-ring, because a software renderer gains
// nothing by it and would take the direct way.

#include <gst/video/video.h>

#include <cstdlib>
#include <future>
#include <optional>
#include <set>

#include "gst/common/allocation_words.hpp"
#include "gst/dxvagl/upload_pool.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/gl_counters.hpp"
#include "tests/check/support/gl_rig.hpp"
#include "tests/check/support/system_pictures.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;
using dxva::gst::upload_slot_of;

namespace {

constexpr guint kSlots = 4;

GstPtr<GstQuery> ask_allocation(const UploadHarness& harness, const std::string& text) {
  const auto caps = GstPtr<GstCaps>::adopt(gst_caps_from_string(text.c_str()));
  auto query = GstPtr<GstQuery>::adopt(gst_query_new_allocation(caps.get(), TRUE));
  fail_unless(gst_pad_peer_query(harness.get()->srcpad, query.get()));
  return query;
}

GstPtr<GstBufferPool> proposed_pool(const UploadHarness& harness, const GstVideoInfo& info) {
  const auto query = ask_allocation(harness, caps_of(info));
  fail_unless(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr));
  fail_unless_equals_int(gst_query_get_n_allocation_pools(query.get()), 1);
  GstBufferPool* raw = nullptr;
  guint size = 0;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &raw, &size, nullptr, nullptr);
  fail_unless(raw != nullptr);
  fail_unless_equals_uint64(size, info.size);
  return GstPtr<GstBufferPool>::adopt(raw);
}

GstPtr<GstBufferPool> active_pool(const UploadHarness& harness, const GstVideoInfo& info) {
  auto pool = proposed_pool(harness, info);
  fail_unless(gst_buffer_pool_set_active(pool.get(), TRUE));
  return pool;
}

GstPtr<GstBuffer> acquire(const GstPtr<GstBufferPool>& pool) {
  GstBuffer* raw = nullptr;
  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool.get(), &raw, nullptr),
                         GST_FLOW_OK);
  return GstPtr<GstBuffer>::adopt(raw);
}

bool in_slot(GstBuffer* buffer) {
  return upload_slot_of(gst_buffer_peek_memory(buffer, 0)) != nullptr;
}

// The pool waits for the GPU for a moment only, and on a slow machine gives plain memory then.
GstPtr<GstBuffer> acquire_slot(const GstPtr<GstBufferPool>& pool) {
  GstPtr<GstBuffer> buffer = acquire(pool);
  for (int attempt = 0; attempt < 200 && !in_slot(buffer.get()); ++attempt) {
    buffer.reset();
    buffer = acquire(pool);
  }
  return buffer;
}

const void* address(GstBuffer* buffer) {
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ));
  const void* out = map.data;
  gst_buffer_unmap(buffer, &map);
  return out;
}

GstVideoInfo nv12(guint width, guint height) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, width, height);
  return info;
}

void check_format(GstVideoFormat format, guint width, guint height, bool interlaced = false) {
  GstVideoInfo info;
  fail_unless(gst_video_info_set_interlaced_format(
      &info, format,
      interlaced ? GST_VIDEO_INTERLACE_MODE_MIXED : GST_VIDEO_INTERLACE_MODE_PROGRESSIVE, width,
      height));
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps_of(info));
  const auto pool = active_pool(harness, info);
  for (guint seed = 0; seed < 2 * kSlots; ++seed) {
    GstPtr<GstBuffer> in = acquire_slot(pool);
    fail_unless(in_slot(in.get()));
    fail_unless(gst_buffer_get_video_meta(in.get()));
    fill(in.get(), seed);
    const GstPtr<GstBuffer> out = harness.push(in);
    fail_unless(out, "%s %ux%u: no picture", GST_VIDEO_INFO_NAME(&info), width, height);
    // The slot is read back here, after the GPU: it is no write-only memory.
    check_same(out.get(), info, in.get(), info);
  }
  fail_unless_equals_uint64(harness.nested("uploads", "ring-in-place"), 2 * kSlots);
  // Memory of others goes through a slot of the element's own.
  GstPtr<GstBuffer> foreign = system_buffer(padded(info), 77, true);
  const GstPtr<GstBuffer> out = harness.push(foreign);
  check_same(out.get(), info, foreign.get(), padded(info));
  fail_unless_equals_uint64(harness.nested("uploads", "ring"), 1);
  fail_unless_equals_uint64(harness.nested("uploads", "direct"), 0);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

GST_START_TEST(every_format_of_gstgl_arrives_exactly_from_its_slot) {
  const std::vector<GstVideoFormat> all = gl_formats();
  fail_unless(all.size() > 40);
  for (const GstVideoFormat format : all) {
    check_format(format, 64, 48);
    if (!takes_odd_sizes(gst_video_format_get_info(format))) continue;
    check_format(format, 61, 47);
    // Two fields: chroma has an even number of rows there, and begins elsewhere.
    check_format(format, 64, 50, true);
  }
}
GST_END_TEST;

GST_START_TEST(a_slot_comes_back_only_when_the_gpu_has_read_it) {
  const GstVideoInfo info = nv12(64, 48);
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps_of(info));
  const auto pool = active_pool(harness, info);
  GstPtr<GstBuffer> in = acquire(pool);
  const void* read_by_gpu = address(in.get());
  fill(in.get(), 1);
  hold_fences(true);
  fail_unless(harness.push(std::move(in)));
  std::vector<GstPtr<GstBuffer>> others;
  for (guint i = 0; i < kSlots; ++i) others.push_back(acquire(pool));
  for (const auto& other : others) fail_if(address(other.get()) == read_by_gpu);
  // No slot is free, so somebody who must not wait for ever got memory.
  fail_if(in_slot(others.back().get()));
  others.clear();
  hold_fences(false);
  std::set<const void*> seen;
  while (!seen.contains(read_by_gpu)) seen.insert(address(acquire(pool).get()));
  gst_buffer_pool_set_active(pool.get(), FALSE);
}
GST_END_TEST;

GST_START_TEST(a_queue_that_holds_many_gets_memory) {
  const GstVideoInfo info = nv12(64, 48);
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps_of(info));
  const auto pool = active_pool(harness, info);
  std::vector<GstPtr<GstBuffer>> queue;
  std::set<const void*> addresses;
  guint slots = 0;
  for (guint i = 0; i < 40; ++i) {
    queue.push_back(acquire(pool));
    fill(queue.back().get(), i);
    addresses.insert(address(queue.back().get()));
    slots += in_slot(queue.back().get());
  }
  fail_unless_equals_uint64(addresses.size(), 40);
  fail_unless_equals_int(slots, kSlots);
  for (const auto& in : queue) {
    const GstPtr<GstBuffer> out = harness.push(in);
    check_same(out.get(), info, in.get(), info);
  }
  fail_unless_equals_uint64(harness.nested("uploads", "ring-in-place"), kSlots);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}
GST_END_TEST;

GST_START_TEST(a_maximum_is_kept_and_a_flush_ends_the_waiting) {
  const GstVideoInfo info = nv12(64, 48);
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps_of(info));
  const auto pool = proposed_pool(harness, info);
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  const auto caps = GstPtr<GstCaps>::adopt(gst_caps_from_string(caps_of(info).c_str()));
  gst_buffer_pool_config_set_params(config, caps.get(), static_cast<guint>(info.size), 1, 2);
  fail_unless(gst_buffer_pool_set_config(pool.get(), config));
  fail_unless(gst_buffer_pool_set_active(pool.get(), TRUE));
  GstPtr<GstBuffer> one = acquire(pool);
  const GstPtr<GstBuffer> two = acquire(pool);
  fail_unless(in_slot(one.get()) && in_slot(two.get()));
  GstBuffer* none = nullptr;
  GstBufferPoolAcquireParams at_once{};
  at_once.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool.get(), &none, &at_once),
                         GST_FLOW_EOS);
  auto waiter = std::async(std::launch::async, [&] {
    GstBuffer* raw = nullptr;
    return gst_buffer_pool_acquire_buffer(pool.get(), &raw, nullptr);
  });
  gst_buffer_pool_set_flushing(pool.get(), TRUE);
  fail_unless_equals_int(waiter.get(), GST_FLOW_FLUSHING);
  gst_buffer_pool_set_flushing(pool.get(), FALSE);
  one = nullptr;
  one = acquire(pool);
  fail_unless(in_slot(one.get()));
  gst_buffer_pool_set_active(pool.get(), FALSE);
}
GST_END_TEST;

GST_START_TEST(who_shares_the_memory_keeps_the_slot) {
  const GstVideoInfo info = nv12(64, 48);
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps_of(info));
  const auto pool = active_pool(harness, info);
  GstPtr<GstBuffer> in = acquire(pool);
  fill(in.get(), 9);
  const void* shared = address(in.get());
  const auto copy = GstPtr<GstBuffer>::adopt(gst_buffer_copy(in.get()));
  fail_unless(harness.push(std::move(in)));
  for (guint round = 0; round < 3 * kSlots; ++round)
    fail_if(address(acquire(pool).get()) == shared);
  const GstPtr<GstBuffer> wanted = system_buffer(info, 9, false);
  const GstPtr<GstBuffer> out = harness.push(copy);
  check_same(out.get(), info, wanted.get(), info);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}
GST_END_TEST;

GST_START_TEST(kept_buffers_outlive_pool_element_and_context) {
  const GstVideoInfo info = nv12(128, 96);
  std::vector<GstPtr<GstBuffer>> kept;
  {
    UploadHarness harness("video/x-raw(memory:GLMemory)", caps_of(info));
    const auto pool = active_pool(harness, info);
    for (guint i = 0; i < 3; ++i) {
      kept.push_back(acquire(pool));
      fill(kept.back().get(), i);
    }
    fail_unless(harness.push(kept[0]));
    gst_buffer_pool_set_active(pool.get(), FALSE);
    GstBuffer* none = nullptr;
    fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool.get(), &none, nullptr),
                           GST_FLOW_FLUSHING);
  }
  for (guint i = 0; i < 3; ++i) {
    fail_unless(in_slot(kept[i].get()));
    const GstPtr<GstBuffer> wanted = system_buffer(info, i, false);
    GstMapInfo map;
    fail_unless(gst_buffer_map(wanted.get(), &map, GST_MAP_READ));
    fail_unless_equals_int(gst_buffer_memcmp(kept[i].get(), 0, map.data, map.size), 0);
    gst_buffer_unmap(wanted.get(), &map);
    kept[i] = GstPtr<GstBuffer>::adopt(gst_buffer_make_writable(kept[i].release()));
    fill(kept[i].get(), 50);
  }
}
GST_END_TEST;

GST_START_TEST(a_change_of_size_never_meets_an_old_slot) {
  const GstVideoInfo small = nv12(64, 48), large = nv12(128, 96);
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps_of(small));
  std::vector<GstPtr<GstBuffer>> kept;
  for (guint round = 0; round < 4; ++round) {
    const GstVideoInfo& info = round % 2 == 0 ? small : large;
    gst_harness_set_src_caps_str(harness.get(), caps_of(info).c_str());
    const auto pool = active_pool(harness, info);
    for (guint i = 0; i < 3; ++i) {
      GstPtr<GstBuffer> in = acquire(pool);
      fill(in.get(), round * 3 + i);
      const GstPtr<GstBuffer> out = harness.push(in);
      check_same(out.get(), info, in.get(), info);
      kept.push_back(in);
    }
    gst_buffer_pool_set_active(pool.get(), FALSE);
  }
  fail_unless_equals_uint64(harness.nested("uploads", "ring-in-place"), 12);
}
GST_END_TEST;

GST_START_TEST(a_slot_of_another_context_is_memory) {
  const GstVideoInfo info = nv12(64, 48);
  UploadHarness theirs("video/x-raw(memory:GLMemory)", caps_of(info));
  UploadHarness ours("video/x-raw(memory:GLMemory)", caps_of(info));
  const auto pool = active_pool(theirs, info);
  GstPtr<GstBuffer> in = acquire(pool);
  fail_unless(in_slot(in.get()));
  fill(in.get(), 4);
  const GstPtr<GstBuffer> out = ours.push(in);
  check_same(out.get(), info, in.get(), info);
  fail_unless_equals_uint64(ours.nested("uploads", "ring-in-place"), 0);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}
GST_END_TEST;

GST_START_TEST(a_meta_that_leads_out_of_the_slot_loses_the_frame) {
  const GstVideoInfo info = nv12(64, 48);
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps_of(info));
  const auto pool = active_pool(harness, info);
  GstPtr<GstBuffer> in = acquire(pool);
  fill(in.get(), 4);
  gst_buffer_get_video_meta(in.get())->offset[1] = info.size - 100;
  fail_unless(!harness.push(std::move(in)));
  fail_unless_equals_uint64(harness.reason("object-too-small"), 1);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}
GST_END_TEST;

GST_START_TEST(nothing_is_made_for_a_running_stream) {
  const GstVideoInfo info = nv12(64, 48);
  UploadHarness harness("video/x-raw(memory:GLMemory)", caps_of(info));
  const auto pool = active_pool(harness, info);
  GlCounters warm;
  for (guint i = 0; i < 60; ++i) {
    GstPtr<GstBuffer> in = acquire(pool);
    fill(in.get(), i);
    fail_unless(harness.push(std::move(in)));
    if (i == 20) warm = gl_counters();
  }
  fail_unless(warm.textures > 0 && warm.buffers > 0);
  fail_unless(gl_counters() == warm);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}
GST_END_TEST;

// A stranger's decoder would take such a pool for one of dma-bufs.
GST_START_TEST(among_dma_bufs_the_pool_is_a_word_between_ours) {
  const FrameLayout layout = make_layout("", GST_VIDEO_FORMAT_NV12, 64, 48, 64, 48);
  UploadHarness harness(layout);
  const auto query = ask_allocation(harness, layout.caps("memory:DMABuf"));
  fail_unless_equals_int(gst_query_get_n_allocation_pools(query.get()), 0);
  const auto pool = dxva::gst::AllocationWords::in(query.get()).copy_pool;
  fail_unless(pool);
  fail_unless(gst_buffer_pool_set_active(pool.get(), TRUE));
  GstPtr<GstBuffer> in = acquire(pool);
  fail_unless(in_slot(in.get()));
  fill(in.get(), 3);
  const GstPtr<GstBuffer> out = harness.push(in);
  check_same(out.get(), layout.info(), in.get(), layout.info());
  fail_unless_equals_uint64(harness.nested("uploads", "ring-in-place"), 1);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}
GST_END_TEST;

}  // namespace

int main(int argc, char** argv) {
  const char* switches = getenv("GST_DXVA_TEST");
  const std::string with_ring =
      std::string(switches ? switches : "memfd,software-import") + ",upload-ring";
  setenv("GST_DXVA_TEST", with_ring.c_str(), 1);
  if (!set_up_gl_rig(&argc, &argv)) return 77;
  Suite* suite = suite_create("dxvaglupload_ring");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 200);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, every_format_of_gstgl_arrives_exactly_from_its_slot);
  tcase_add_test(tests, a_slot_comes_back_only_when_the_gpu_has_read_it);
  tcase_add_test(tests, a_queue_that_holds_many_gets_memory);
  tcase_add_test(tests, a_maximum_is_kept_and_a_flush_ends_the_waiting);
  tcase_add_test(tests, who_shares_the_memory_keeps_the_slot);
  tcase_add_test(tests, kept_buffers_outlive_pool_element_and_context);
  tcase_add_test(tests, a_change_of_size_never_meets_an_old_slot);
  tcase_add_test(tests, a_slot_of_another_context_is_memory);
  tcase_add_test(tests, a_meta_that_leads_out_of_the_slot_loses_the_frame);
  tcase_add_test(tests, nothing_is_made_for_a_running_stream);
  tcase_add_test(tests, among_dma_bufs_the_pool_is_a_word_between_ours);
  return gst_check_run_suite(suite, "dxvaglupload_ring", __FILE__);
}
