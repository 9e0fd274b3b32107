// SPDX-License-Identifier: LGPL-2.1-or-later

// What playing on costs: once every surface has been shown, a picture must cost no image, no
// texture, no export and no descriptor. Counted between the process and its libraries, because
// our own statistics would count what we think we do.

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

constexpr int kPictures = 2000;
// By then each surface of the pool has been used several times: they take turns.
constexpr int kWarmUp = 300;

struct Snapshot {
  CallCounts calls;
  std::vector<std::string> descriptors;

  [[nodiscard]] static Snapshot take() {
    return {.calls = call_counts(), .descriptors = open_descriptors()};
  }
};

struct Watch {
  std::atomic<int> pictures{0};
  Snapshot warm;
  Snapshot last;
};

// On the streaming thread: nothing runs on behind it while it looks.
GstPadProbeReturn count(GstPad*, GstPadProbeInfo*, gpointer data) {
  auto& watch = *static_cast<Watch*>(data);
  const int pictures = ++watch.pictures;
  if (pictures == kWarmUp) watch.warm = Snapshot::take();
  if (pictures == kPictures) watch.last = Snapshot::take();
  return GST_PAD_PROBE_OK;
}

// On a busy machine the thread that waits for the GPU can be far behind. The decoder copies
// then, and copies need buffers of their own; how many is not this test's business. So the
// decoder is held up while much is out.
constexpr int kMostOut = 8;
std::atomic<int> pictures_out{0};

GstPadProbeReturn hold_up(GstPad*, GstPadProbeInfo* info, gpointer) {
  while (pictures_out >= kMostOut) g_usleep(500);
  ++pictures_out;
  gst_mini_object_weak_ref(
      GST_MINI_OBJECT_CAST(GST_PAD_PROBE_INFO_BUFFER(info)),
      [](gpointer, GstMiniObject*) { --pictures_out; }, nullptr);
  return GST_PAD_PROBE_OK;
}

void add_probe(const GstPtr<GstElement>& pipeline, const char* element, const char* pad_name,
               GstPadProbeCallback callback, gpointer data) {
  const auto found = child(pipeline, element);
  auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(found.get(), pad_name));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, callback, data, nullptr);
}

uint64_t step(const GstPtr<GstElement>& pipeline, const char* element, const char* name) {
  const auto found = child(pipeline, element);
  GstStructure* raw = nullptr;
  g_object_get(found.get(), "stats", &raw, nullptr);
  const dxva::gst::StructurePtr stats(raw);
  guint64 out = 0;
  const GValue* steps = gst_structure_get_value(stats.get(), "steps");
  if (steps) gst_structure_get_uint64(gst_value_get_structure(steps), name, &out);
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += "\n  " + line;
  return out;
}

void play(const char* output) {
  const std::string file = clip("steady.mp4",
                                "-c:v libx264 -preset ultrafast -g 50 -bf 2 "
                                "-threads 1",
                                "160x120", kPictures);
  const std::string text = source(file) +
                           " ! dxvadec name=dec extra-surfaces=32 ! dxvaglupload name=up ! "
                           "video/x-raw(memory:GLMemory),format=" +
                           output + " ! fakesink name=sink sync=false";
  const auto pipeline = launch(text);
  Watch watch;
  add_probe(pipeline, "dec", "src", hold_up, nullptr);
  add_probe(pipeline, "sink", "sink", count, &watch);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  expect_end_of_stream(pipeline);
  fail_unless_equals_int(watch.pictures.load(), kPictures);

  // Else nothing that could grow was in use.
  const CallCounts& warm = watch.warm.calls;
  fail_unless_equals_uint64(step(pipeline, "dec", "exported"), kPictures);
  fail_unless(warm.exports > 0 && warm.textures > 0 && warm.descriptors > 0 &&
              warm.driver_starts > 0 && warm.surfaces_made > 0);
  if (rig_must_import()) {
    fail_unless_equals_uint64(step(pipeline, "up", "egl"), kPictures);
    fail_unless(warm.images > 0);
  }

  const CallCounts& last = watch.last.calls;
  fail_unless_equals_uint64(last.images - warm.images, 0);
  fail_unless_equals_uint64(last.textures - warm.textures, 0);
  fail_unless_equals_uint64(last.exports - warm.exports, 0);
  fail_unless_equals_uint64(last.surfaces_made - warm.surfaces_made, 0);
  fail_unless(watch.last.descriptors == watch.warm.descriptors, "open after warm-up:%s\nnow:%s",
              joined(watch.warm.descriptors).c_str(), joined(watch.last.descriptors).c_str());
  fail_unless_equals_uint64(last.descriptors - warm.descriptors, 0);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

GST_START_TEST(pictures_as_they_are_cost_nothing_after_warm_up) {
  play("NV12");
}
GST_END_TEST;

GST_START_TEST(drawn_pictures_cost_nothing_after_warm_up) {
  play("RGBA");
}
GST_END_TEST;

Suite* steady_state_suite() {
  Suite* suite = suite_create("steady_state");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 280);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, pictures_as_they_are_cost_nothing_after_warm_up);
  tcase_add_test(tcase, drawn_pictures_cost_nothing_after_warm_up);
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv) || !set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(steady_state_suite(), "steady_state", __FILE__);
}
