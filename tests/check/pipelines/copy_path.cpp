// SPDX-License-Identifier: LGPL-2.1-or-later

// What a picture costs that cannot be imported: exactly one copy by the CPU, from where it was
// decoded into the slot that the GPU reads, and nothing made for it. Counted between the
// process and its libraries, and by the processor, page by page, because our own statistics
// would count what we think we do, and a copy by vector loads calls nobody.

#include <dlfcn.h>
#include <gst/allocators/gstdmabuf.h>
#include <gst/gst.h>
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "gst/common/gst_ptr.hpp"
#include "tests/check/support/call_counts.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/copy_counts.hpp"
#include "tests/check/support/decode_rig.hpp"
#include "tests/check/support/gl_rig.hpp"
#include "tests/check/support/page_watch.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

constexpr int kPictures = 240;
constexpr int kWarmUp = 100;
constexpr uint64_t kPlanes = 2;  // of NV12, a texture each
constexpr const char* kSize = "640x512";
constexpr uint64_t kPictureBytes = 640 * 512 * 3 / 2;
constexpr uint64_t kPicturePages = kPictureBytes / 4096;

bool decodes_in_software = false;

// Of the pool's four slots.
constexpr int kMostOut = 2;
std::atomic<int> pictures_out{0};

bool is_copy(GstBuffer* buffer) {
  return !gst_is_dmabuf_memory(gst_buffer_peek_memory(buffer, 0));
}

}  // namespace

// A buffer for a picture is taken from the pool when its copy begins; it ends with its leaving.
extern "C" [[gnu::visibility("default")]] GstFlowReturn gst_buffer_pool_acquire_buffer(
    GstBufferPool* pool, GstBuffer** buffer, GstBufferPoolAcquireParams* params) {
  static const auto real = reinterpret_cast<decltype(&gst_buffer_pool_acquire_buffer)>(
      ::dlsym(RTLD_NEXT, "gst_buffer_pool_acquire_buffer"));
  if (!g_str_equal(G_OBJECT_TYPE_NAME(pool), "GstDxvaUploadPool"))
    return real(pool, buffer, params);
  // On a busy machine the thread that waits for the GPU can be far behind, and pictures then
  // come in memory that is copied into a slot later: who writes them is held up instead.
  while (pictures_out >= kMostOut) g_usleep(200);
  const GstFlowReturn flow = real(pool, buffer, params);
  if (flow != GST_FLOW_OK) return flow;
  ++pictures_out;
  gst_mini_object_weak_ref(
      GST_MINI_OBJECT_CAST(*buffer), [](gpointer, GstMiniObject*) { --pictures_out; }, nullptr);
  if (decodes_in_software) begin_copy();
  return flow;
}

namespace {

struct Snapshot {
  CallCounts calls;
  CopyCounts copies;
  PageCounts pages;
  uint64_t packet_bytes = 0;  // that went into the decoder
  uint64_t copied_pictures = 0;
};
struct Watch {
  std::atomic<int> pictures{0};
  std::atomic<uint64_t> packet_bytes{0};
  std::atomic<uint64_t> copied_pictures{0};
  GstPtr<GstBuffer> kept;  // the first surface, if downstream is to hold one
  bool keeps_one = false;
  Snapshot warm;
  Snapshot last;
};

// On the way out of the pipeline. Without a queue in it nothing else is under way then.
GstPadProbeReturn count(GstPad*, GstPadProbeInfo*, gpointer data) {
  auto& watch = *static_cast<Watch*>(data);
  const int pictures = ++watch.pictures;
  if (pictures != kWarmUp && pictures != kPictures) return GST_PAD_PROBE_OK;
  const Snapshot now{.calls = call_counts(),
                     .copies = copy_counts(),
                     .pages = page_counts(),
                     .packet_bytes = watch.packet_bytes,
                     .copied_pictures = watch.copied_pictures};
  (pictures == kWarmUp ? watch.warm : watch.last) = now;
  // Before, copies were compared with each other, which reads without writing.
  if (pictures == kWarmUp) forget_longest_run();
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn weigh(GstPad*, GstPadProbeInfo* info, gpointer data) {
  static_cast<Watch*>(data)->packet_bytes +=
      gst_buffer_get_size(GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

// What the decoder sends: a surface as it is, or a copy of one.
GstPadProbeReturn end_of_copy(GstPad*, GstPadProbeInfo* info, gpointer data) {
  end_copy();
  auto& watch = *static_cast<Watch*>(data);
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  if (is_copy(buffer))
    ++watch.copied_pictures;
  else if (watch.keeps_one && !watch.kept)
    watch.kept = GstPtr<GstBuffer>::share(buffer);
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn open_at_the_end(GstPad*, GstPadProbeInfo* info, gpointer pipeline) {
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) != GST_EVENT_EOS) return GST_PAD_PROBE_OK;
  gst_element_post_message(
      GST_ELEMENT(pipeline),
      gst_message_new_application(GST_OBJECT(pipeline),
                                  gst_structure_new_empty("all-packets-are-there")));
  return GST_PAD_PROBE_REMOVE;
}

GstPtr<GstPad> pad(const GstPtr<GstElement>& pipeline, const char* element, const char* name) {
  return GstPtr<GstPad>::adopt(
      gst_element_get_static_pad(child(pipeline, element).get(), name));
}

gulong add_probe(const GstPtr<GstElement>& pipeline, const char* element, const char* name,
                 GstPadProbeCallback callback, gpointer data) {
  return gst_pad_add_probe(pad(pipeline, element, name).get(), GST_PAD_PROBE_TYPE_BUFFER,
                           callback, data, nullptr);
}

dxva::gst::StructurePtr stats_of(const GstPtr<GstElement>& element) {
  GstStructure* raw = nullptr;
  g_object_get(element.get(), "stats", &raw, nullptr);
  return dxva::gst::StructurePtr(raw);
}

uint64_t number(const GstPtr<GstElement>& element, const char* name) {
  guint64 out = 0;
  gst_structure_get_uint64(stats_of(element).get(), name, &out);
  return out;
}

uint64_t number(const GstPtr<GstElement>& element, const char* part, const char* name) {
  const dxva::gst::StructurePtr stats = stats_of(element);
  guint64 out = 0;
  const GValue* inner = gst_structure_get_value(stats.get(), part);
  if (inner) gst_structure_get_uint64(gst_value_get_structure(inner), name, &out);
  return out;
}

// Pictures are the subject, not the packets: those are small here, because the decoder keeps
// each one until the next key frame, in memory of its size. The file's reading and taking apart
// allocates as it likes. A queue takes all packets first, and lets them go when there is
// nothing left to read.
void play_packets(const GstPtr<GstElement>& pipeline) {
  const auto packets_out = pad(pipeline, "packets", "src");
  const gulong gate = gst_pad_add_probe(
      packets_out.get(),
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER),
      [](GstPad*, GstPadProbeInfo*, gpointer) { return GST_PAD_PROBE_OK; }, nullptr, nullptr);
  gst_pad_add_probe(pad(pipeline, "packets", "sink").get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                    open_at_the_end, pipeline.get(), nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline.get()));
  const auto read = GstPtr<GstMessage>::adopt(gst_bus_timed_pop_filtered(
      bus.get(), GST_CLOCK_TIME_NONE,
      static_cast<GstMessageType>(GST_MESSAGE_APPLICATION | GST_MESSAGE_ERROR)));
  fail_unless_equals_int(GST_MESSAGE_TYPE(read.get()), GST_MESSAGE_APPLICATION);
  gst_pad_remove_probe(packets_out.get(), gate);
}

struct Expected {
  bool is_made = false;           // in the slot, by whatever copying: nothing is read
  bool is_read_in_place = false;  // by OpenGL's driver, from the surface: that is the one copy
  bool all_are_copied = true;
  bool first_is_kept = false;  // and none is copied before
  // Of pictures, over pages of pictures: libavcodec's rows are longer than what is in them.
  double least_reads = 0.98;
  double most_reads = 1.02;
};

void expect_near(const char* what, uint64_t pages, uint64_t pictures, double least,
                 double most) {
  const double passes =
      static_cast<double>(pages) / static_cast<double>(pictures * kPicturePages);
  std::printf("# %s: %.4f passes a picture\n", what, passes);
  std::fflush(stdout);
  fail_unless(passes >= least && passes <= most, "%s: %.4f passes a picture", what, passes);
}

void expect_one_copy(const Watch& watch, const Expected& expected) {
  const uint64_t pictures = watch.last.copied_pictures - watch.warm.copied_pictures;
  fail_unless(pictures > 0);
  // No more than once by functions that copy. Libavcodec wants packets with room behind them,
  // so each packet is copied too; all else is less than a hundredth.
  const uint64_t packets = watch.last.packet_bytes - watch.warm.packet_bytes;
  const uint64_t copied = watch.last.copies.copied_bytes - watch.warm.copies.copied_bytes;
  const uint64_t by_us = expected.is_read_in_place ? 0 : pictures;
  fail_unless(expected.is_made || copied <= by_us * kPictureBytes + packets +
                                                (kPictures - kWarmUp) * kPictureBytes / 100,
              "%.3f copies a picture, and %.3f pictures' weight of packets",
              static_cast<double>(copied) / static_cast<double>(pictures * kPictureBytes),
              static_cast<double>(packets) / static_cast<double>(pictures * kPictureBytes));
  if (!can_watch_pages()) return;
  // Exactly once by whatever: each page of the picture read once, each of the slot written
  // once, by turns, so that no third memory of that size is between them; and then the GPU's
  // driver reads the slot, and nobody else does.
  const PageCounts& warm = watch.warm.pages;
  const PageCounts& last = watch.last.pages;
  const auto near = [&](const char* what, PageTouches PageCounts::*whose,
                        uint64_t PageTouches::*pages, double least, double most) {
    expect_near(what, (last.*whose).*pages - (warm.*whose).*pages, pictures, least, most);
  };
  if (expected.is_read_in_place) {
    near("pictures read", &PageCounts::ours, &PageTouches::picture_reads, 0, 0);
    near("pictures uploaded", &PageCounts::drivers, &PageTouches::picture_reads, 0.98, 1.02);
    near("pictures written", &PageCounts::ours, &PageTouches::picture_writes, 0, 0);
    near("slots written", &PageCounts::ours, &PageTouches::slot_writes, 0, 0);
    return;
  }
  near("pictures read", &PageCounts::ours, &PageTouches::picture_reads, expected.least_reads,
       expected.most_reads);
  near("pictures written", &PageCounts::ours, &PageTouches::picture_writes, 0, 0);
  near("slots written", &PageCounts::ours, &PageTouches::slot_writes, 0.98, 1.02);
  near("slots read", &PageCounts::ours, &PageTouches::slot_reads, 0, 0);
  near("slots uploaded", &PageCounts::drivers, &PageTouches::slot_reads, 0.98, 1.02);
  if (!expected.is_made)
    fail_unless(last.longest_run <= 8, "%u pages in a row of %u",
                static_cast<unsigned>(last.longest_run), static_cast<unsigned>(kPicturePages));
}

void expect_nothing_made(const Watch& watch, const Expected& expected) {
  const bool has_slots = !expected.is_read_in_place;
  fail_unless(watch.warm.calls.memory_maps > 0 && watch.warm.copies.large_mallocs > 0,
              "nothing was counted");
  fail_unless_equals_uint64(watch.last.copies.large_mallocs - watch.warm.copies.large_mallocs,
                            0);
  fail_unless_equals_uint64(watch.last.calls.memory_maps - watch.warm.calls.memory_maps, 0);
  fail_unless(watch.warm.calls.textures > 0 && (watch.warm.calls.buffers > 0) == has_slots);
  // Two pictures that are copied now and then may meet at any time: each needs textures then.
  const uint64_t textures = watch.last.calls.textures - watch.warm.calls.textures;
  fail_unless(textures == 0 || (!expected.all_are_copied && textures == kPlanes), "%u textures",
              static_cast<unsigned>(textures));
  fail_unless_equals_uint64(watch.last.calls.buffers - watch.warm.calls.buffers, 0);
  fail_unless_equals_uint64(watch.last.calls.images - watch.warm.calls.images, 0);
}

// `source` has an element "dec", whose pictures dxvaglupload gets, and "packets" in front of it
// if it decodes.
GstPtr<GstElement> play(const std::string& source, const Expected& expected) {
  auto pipeline = launch(source +
                         " ! dxvaglupload name=up !"
                         " video/x-raw(memory:GLMemory),format={NV12,I420} !"
                         " fakesink name=sink sync=false async=false");
  Watch watch;
  watch.keeps_one = expected.first_is_kept;
  add_probe(pipeline, "sink", "sink", count, &watch);
  add_probe(pipeline, "dec", "src", end_of_copy, &watch);
  start_counting_copies();
  start_watching_pages();
  if (source.find("name=packets") != std::string::npos) {
    add_probe(pipeline, "dec", "sink", weigh, &watch);
    play_packets(pipeline);
  } else {
    gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  }
  expect_end_of_stream(pipeline);
  stop_watching_pages();
  fail_unless_equals_int(watch.pictures.load(), kPictures);

  const auto up = child(pipeline, "up");
  const uint64_t copies = number(up, "steps", "cpu-copy");
  const char* way = expected.is_read_in_place ? "direct" : "ring-in-place";
  fail_unless_equals_uint64(number(up, "uploads", way), copies);
  if (expected.first_is_kept) {
    fail_unless_equals_uint64(copies, kPictures - 1);
  } else if (expected.all_are_copied) {
    fail_unless_equals_uint64(copies, kPictures);
  } else {
    fail_unless(copies > 0 && copies < kPictures);
  }
  expect_one_copy(watch, expected);
  expect_nothing_made(watch, expected);
  return pipeline;
}

void stop(const GstPtr<GstElement>& pipeline) {
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

std::string packets() {
  return source(clip("copy_path-640.mp4",
                     "-c:v libx264 -preset veryfast -crf 45 -g 1000 -keyint_min 1000 -bf 2 "
                     "-threads 1",
                     kSize, kPictures)) +
         " ! queue name=packets max-size-buffers=0 max-size-bytes=0 max-size-time=0 ! ";
}

// In one thread, else libavcodec decodes the next picture while this one is copied.
void decode_in_software() {
  decodes_in_software = true;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(::sched_getcpu()), &one);
  fail_unless_equals_int(::sched_setaffinity(0, sizeof one, &one), 0);
}

}  // namespace

GST_START_TEST(a_surface_that_is_not_exported_is_copied_once) {
  stop(play(packets() + "dxvadec zero-copy=off name=dec", {}));
}
GST_END_TEST;

GST_START_TEST(a_surface_that_cannot_be_exported_is_copied_once) {
  if (!rig_must_import()) DXVA_SKIP("not the rig that imports");
  setenv("DXVASOFT_FAULT", "export:surface=3,export:surface=5", 1);
  stop(play(packets() + "dxvadec name=dec", {.all_are_copied = false}));
}
GST_END_TEST;

// Whichever way the pixels are read: with all but one broken it is that one.
GST_START_TEST(every_way_of_reading_is_one_copy) {
  struct Row {
    const char* fault;
    const char* decoder;
    const char* way;
    Expected expected;
  };
  for (const Row& row :
       {Row{"getimage:from=1", "dxvadec zero-copy=off", "derive-image", {}},
        Row{"deriveimage:from=1", "dxvadec zero-copy=off", "get-image", {}},
        // Downstream may hold one surface, and does: the others are copied, and are exported.
        Row{"deriveimage:from=1,getimage:from=1",
            "dxvadec extra-surfaces=1",
            "map",
            {.first_is_kept = true}}}) {
    if (row.expected.first_is_kept && !rig_must_import()) continue;
    std::printf("# %s\n", row.way);
    setenv("DXVASOFT_FAULT", row.fault, 1);
    const auto pipeline = play(packets() + row.decoder + " name=dec", row.expected);
    const auto dec = child(pipeline, "dec");
    const std::string streaming = std::string(row.way) + "-streaming";
    fail_unless_equals_uint64(
        number(dec, "read-backs", row.way) + number(dec, "read-backs", streaming.c_str()),
        number(dec, "steps", "cpu-copy"));
    stop(pipeline);
  }
}
GST_END_TEST;

GST_START_TEST(tiles_that_the_cpu_reads_are_copied_once) {
  setenv("DXVASOFT_LAYOUT", "tiled", 1);
  stop(play(packets() + "dxvadec zero-copy=off name=dec", {}));
}
GST_END_TEST;

// Where a slot gains nothing and the surface can be read: nothing of ours goes over the
// picture.
GST_START_TEST(a_mapped_surface_is_copied_by_opengl_alone) {
  setenv("GST_DXVA_TEST", "memfd,software-import,read-in-place", 1);
  setenv("DXVASOFT_FAULT", "export:from=1", 1);
  const auto pipeline = play(packets() + "dxvadec name=dec", {.is_read_in_place = true});
  const auto dec = child(pipeline, "dec");
  fail_unless_equals_uint64(number(dec, "read-in-place"), kPictures);
  stop(pipeline);
}
GST_END_TEST;

// libavcodec's rows have room behind them, so its pictures have more pages than their pixels
// need; and each plane lies apart, without the pages at its ends.
GST_START_TEST(a_picture_decoded_in_software_is_copied_once) {
  decode_in_software();
  const Expected once{.least_reads = 0.95, .most_reads = 1.3};
  stop(play(packets() + "dxvadec device=/dev/null name=dec", once));
}
GST_END_TEST;

GST_START_TEST(who_makes_pictures_in_the_proposed_pool_copies_none) {
  const Expected none{.is_made = true, .least_reads = 0, .most_reads = 0};
  stop(play("videotestsrc name=dec num-buffers=" + std::to_string(kPictures) +
                " ! video/x-raw,format=NV12,width=640,height=512",
            none));
}
GST_END_TEST;

static Suite* copy_path_suite() {
  Suite* suite = suite_create("copy_path");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 280);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, a_surface_that_is_not_exported_is_copied_once);
  tcase_add_test(tcase, a_surface_that_cannot_be_exported_is_copied_once);
  tcase_add_test(tcase, every_way_of_reading_is_one_copy);
  tcase_add_test(tcase, tiles_that_the_cpu_reads_are_copied_once);
  tcase_add_test(tcase, a_mapped_surface_is_copied_by_opengl_alone);
  tcase_add_test(tcase, a_picture_decoded_in_software_is_copied_once);
  tcase_add_test(tcase, who_makes_pictures_in_the_proposed_pool_copies_none);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv) || !set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(copy_path_suite(), "copy_path", __FILE__);
}
