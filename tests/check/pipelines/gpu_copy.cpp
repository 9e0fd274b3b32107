// SPDX-License-Identifier: LGPL-2.1-or-later

// Surfaces in tiles that OpenGL does not read, copied by the device: the CPU has no part in it.
// Counted between the process and its libraries: whoever does not ask for pixels has none.

#include <gst/gst.h>

#include <atomic>
#include <string>

#include "gst/common/gst_ptr.hpp"
#include "tests/check/support/call_counts.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

constexpr int kPictures = 300;
constexpr int kWarmUp = 100;  // every surface of both pools has been used

struct Watch {
  std::atomic<int> pictures{0};
  CallCounts warm;
  CallCounts last;
};

GstPadProbeReturn count(GstPad*, GstPadProbeInfo*, gpointer data) {
  auto& watch = *static_cast<Watch*>(data);
  const int pictures = ++watch.pictures;
  if (pictures == kWarmUp) watch.warm = call_counts();
  if (pictures == kPictures) watch.last = call_counts();
  return GST_PAD_PROBE_OK;
}

uint64_t step(GstElement* pipeline, const char* element, const char* name) {
  auto found = GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline), element));
  GstStructure* raw = nullptr;
  g_object_get(found.get(), "stats", &raw, nullptr);
  const dxva::gst::StructurePtr stats(raw);
  guint64 out = 0;
  const GValue* steps = gst_structure_get_value(stats.get(), "steps");
  if (steps) gst_structure_get_uint64(gst_value_get_structure(steps), name, &out);
  return out;
}

}  // namespace

GST_START_TEST(the_cpu_asks_for_no_pixels_of_pictures_that_the_device_copies) {
  if (!rig_must_import()) DXVA_SKIP("this OpenGL imports nothing");
  g_setenv("DXVASOFT_LAYOUT", "tiled", TRUE);
  g_setenv("DXVASOFT_MODIFIERS", "not-decoded", TRUE);
  const std::string file =
      clip("tiles.mp4", "-c:v libx264 -preset ultrafast -g 50 -bf 2 -threads 1", "160x120",
           kPictures);
  // `require` has nothing to measure the device's copies against.
  const std::string text = source(file) +
                           " ! dxvadec name=dec zero-copy=require ! dxvaglupload name=up "
                           "verify=false ! video/x-raw(memory:GLMemory),format=NV12 ! "
                           "fakesink name=sink sync=false";
  GError* error = nullptr;
  auto pipeline = GstPtr<GstElement>::adopt(gst_parse_launch(text.c_str(), &error));
  fail_unless(pipeline && !error, "%s: %s", text.c_str(), error ? error->message : "");
  Watch watch;
  auto sink = GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(sink.get(), "sink"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, count, &watch, nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline.get()));
  auto end = GstPtr<GstMessage>::adopt(gst_bus_timed_pop_filtered(
      bus.get(), GST_CLOCK_TIME_NONE,
      static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  fail_unless_equals_int(GST_MESSAGE_TYPE(end.get()), GST_MESSAGE_EOS);
  fail_unless_equals_int(watch.pictures.load(), kPictures);
  fail_unless_equals_uint64(step(pipeline.get(), "dec", "gpu-copy"), kPictures);
  fail_unless_equals_uint64(step(pipeline.get(), "up", "egl"), kPictures);
  // The first copies are compared with their originals; that shows that reads are counted.
  fail_unless(watch.warm.pixel_reads > 0 && watch.warm.memory_maps > 0);
  fail_unless_equals_uint64(watch.last.pixel_reads - watch.warm.pixel_reads, 0);
  fail_unless_equals_uint64(watch.last.memory_maps - watch.warm.memory_maps, 0);
  fail_unless_equals_uint64(watch.last.surfaces_made - watch.warm.surfaces_made, 0);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}
GST_END_TEST;

static Suite* gpu_copy_suite() {
  Suite* suite = suite_create("gpu_copy");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 280);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, the_cpu_asks_for_no_pixels_of_pictures_that_the_device_copies);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv) || !set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(gpu_copy_suite(), "gpu_copy", __FILE__);
}
