// SPDX-License-Identifier: LGPL-2.1-or-later

// What a picture costs that cannot be imported: at most one copy by the CPU, from the surface
// into the slot that the GPU reads, and nothing made for it. Counted between the process and
// its libraries, because our own statistics would count what we think we do.

#include <gst/allocators/gstdmabuf.h>
#include <gst/gst.h>

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

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

constexpr int kPictures = 300;
constexpr int kWarmUp = 100;
constexpr uint64_t kPictureBytes = 320 * 240 * 3 / 2;

struct Snapshot {
  CallCounts calls;
  CopyCounts copies;
  uint64_t packet_bytes = 0;  // that went into the decoder
  uint64_t copied_pictures = 0;
};
struct Watch {
  std::atomic<int> pictures{0};
  std::atomic<uint64_t> packet_bytes{0};
  std::atomic<uint64_t> copied_pictures{0};
  Snapshot warm;
  Snapshot last;
};

GstPadProbeReturn count(GstPad*, GstPadProbeInfo*, gpointer data) {
  auto& watch = *static_cast<Watch*>(data);
  const int pictures = ++watch.pictures;
  const Snapshot now{.calls = call_counts(),
                     .copies = copy_counts(),
                     .packet_bytes = watch.packet_bytes,
                     .copied_pictures = watch.copied_pictures};
  if (pictures == kWarmUp) watch.warm = now;
  if (pictures == kPictures) watch.last = now;
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn weigh(GstPad*, GstPadProbeInfo* info, gpointer data) {
  static_cast<Watch*>(data)->packet_bytes +=
      gst_buffer_get_size(GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

// What the decoder sends: a surface as it is, or a copy of one.
GstPadProbeReturn look_for_copies(GstPad*, GstPadProbeInfo* info, gpointer data) {
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  static_cast<Watch*>(data)->copied_pictures +=
      !gst_is_dmabuf_memory(gst_buffer_peek_memory(buffer, 0));
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

uint64_t number(const GstPtr<GstElement>& element, const char* part, const char* name) {
  GstStructure* raw = nullptr;
  g_object_get(element.get(), "stats", &raw, nullptr);
  const dxva::gst::StructurePtr stats(raw);
  guint64 out = 0;
  const GValue* inner = gst_structure_get_value(stats.get(), part);
  if (inner) gst_structure_get_uint64(gst_value_get_structure(inner), name, &out);
  return out;
}

// Pictures are the subject, not the packets: those are small here, because the decoder keeps
// each one until the next key frame, in memory of its size. The file's reading and taking apart
// allocates as it likes. A queue takes all packets first, and lets them go when there is
// nothing left to read.
void play(const std::string& decoder, bool all_are_copied) {
  const std::string file =
      clip("copy_path.mp4",
           "-c:v libx264 -preset veryfast -crf 45 -g 1000 -keyint_min 1000 -bf 2 -threads 1",
           "320x240", kPictures);
  auto pipeline = launch(source(file) +
                         " ! queue name=packets max-size-buffers=0 max-size-bytes=0"
                         " max-size-time=0 ! " +
                         decoder +
                         " ! dxvaglupload name=up !"
                         " video/x-raw(memory:GLMemory),format=NV12 !"
                         " fakesink name=sink sync=false async=false");
  Watch watch;
  const auto packets_out = pad(pipeline, "packets", "src");
  const gulong gate = gst_pad_add_probe(
      packets_out.get(),
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER),
      [](GstPad*, GstPadProbeInfo*, gpointer) { return GST_PAD_PROBE_OK; }, nullptr, nullptr);
  gst_pad_add_probe(pad(pipeline, "packets", "sink").get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                    open_at_the_end, pipeline.get(), nullptr);
  gst_pad_add_probe(pad(pipeline, "sink", "sink").get(), GST_PAD_PROBE_TYPE_BUFFER, count,
                    &watch, nullptr);
  gst_pad_add_probe(pad(pipeline, "dec", "sink").get(), GST_PAD_PROBE_TYPE_BUFFER, weigh,
                    &watch, nullptr);
  gst_pad_add_probe(pad(pipeline, "dec", "src").get(), GST_PAD_PROBE_TYPE_BUFFER,
                    look_for_copies, &watch, nullptr);
  start_counting_copies();
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline.get()));
  const auto read = GstPtr<GstMessage>::adopt(gst_bus_timed_pop_filtered(
      bus.get(), GST_CLOCK_TIME_NONE,
      static_cast<GstMessageType>(GST_MESSAGE_APPLICATION | GST_MESSAGE_ERROR)));
  fail_unless_equals_int(GST_MESSAGE_TYPE(read.get()), GST_MESSAGE_APPLICATION);
  gst_pad_remove_probe(packets_out.get(), gate);
  expect_end_of_stream(pipeline);
  fail_unless_equals_int(watch.pictures.load(), kPictures);

  const auto up = child(pipeline, "up");
  const uint64_t copies = number(up, "steps", "cpu-copy");
  fail_unless_equals_uint64(number(up, "uploads", "ring-in-place"), copies);
  if (all_are_copied) {
    fail_unless_equals_uint64(copies, kPictures);
  } else {
    fail_unless(copies > 0 && copies < kPictures);
  }

  const CopyCounts& warm = watch.warm.copies;
  const CopyCounts& last = watch.last.copies;
  const uint64_t pictures = watch.last.copied_pictures - watch.warm.copied_pictures;
  // libavcodec wants packets with room behind them, so each packet is copied too.
  const uint64_t packets = watch.last.packet_bytes - watch.warm.packet_bytes;
  const uint64_t copied = last.copied_bytes - warm.copied_bytes;
  // All else is less than a hundredth. No lower bound: a copy from the surface by vector loads
  // (lib/video/streaming_copy) calls nobody, so it is not seen here.
  fail_unless(pictures > 0 && copied <= pictures * kPictureBytes + packets +
                                            (kPictures - kWarmUp) * kPictureBytes / 100,
              "%.3f copies a picture, and %.3f pictures' weight of packets",
              static_cast<double>(copied) / static_cast<double>(pictures * kPictureBytes),
              static_cast<double>(packets) / static_cast<double>(pictures * kPictureBytes));
  fail_unless(watch.warm.calls.memory_maps > 0 && warm.large_mallocs > 0,
              "nothing was counted");
  fail_unless_equals_uint64(last.large_mallocs - warm.large_mallocs, 0);
  fail_unless_equals_uint64(watch.last.calls.memory_maps - watch.warm.calls.memory_maps, 0);
  fail_unless(watch.warm.calls.textures > 0 && watch.warm.calls.buffers > 0);
  fail_unless_equals_uint64(watch.last.calls.textures - watch.warm.calls.textures, 0);
  fail_unless_equals_uint64(watch.last.calls.buffers - watch.warm.calls.buffers, 0);
  fail_unless_equals_uint64(watch.last.calls.images - watch.warm.calls.images, 0);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

GST_START_TEST(a_surface_that_is_not_exported_is_copied_once) {
  play("dxvadec zero-copy=off name=dec", true);
}
GST_END_TEST;

GST_START_TEST(a_surface_that_cannot_be_exported_is_copied_once) {
  if (!rig_must_import()) {
    std::printf("# SKIP not the rig that imports\n");
    return;
  }
  setenv("DXVASOFT_FAULT", "export:surface=3,export:surface=5", 1);
  play("dxvadec name=dec", false);
}
GST_END_TEST;

Suite* copy_path_suite() {
  Suite* suite = suite_create("copy_path");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 280);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, a_surface_that_is_not_exported_is_copied_once);
  tcase_add_test(tcase, a_surface_that_cannot_be_exported_is_copied_once);
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv) || !set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(copy_path_suite(), "copy_path", __FILE__);
}
