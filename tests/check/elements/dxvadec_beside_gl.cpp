// SPDX-License-Identifier: LGPL-2.1-or-later

// Decoding begins while dxvaglupload's OpenGL context is still being made, and what the two
// agree on is the same as if it had been there.

#include <gst/allocators/allocators.h>

#include <atomic>
#include <thread>

#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"
#include "tests/check/support/gl_rig.hpp"
#include "tests/check/support/watched_display.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

constexpr int kPictures = 60;  // of h264_mp4(), with B-frames

struct Playing {
  explicit Playing(const char* between = "") {
    pipeline = launch(source(h264_mp4()) + " ! dxvadec name=dec ! " + between +
                      "dxvaglupload name=up ! video/x-raw(memory:GLMemory) ! "
                      "fakesink name=sink sync=false");
    display.give_to(pipeline);
    const auto pad =
        GstPtr<GstPad>::adopt(gst_element_get_static_pad(child(pipeline, "dec").get(), "sink"));
    gst_pad_add_probe(
        pad.get(), GST_PAD_PROBE_TYPE_BUFFER,
        [](GstPad*, GstPadProbeInfo*, gpointer self) {
          static_cast<Playing*>(self)->packet_comes();
          return GST_PAD_PROBE_OK;
        },
        this, nullptr);
    const auto out = GstPtr<GstPad>::adopt(
        gst_element_get_static_pad(child(pipeline, "sink").get(), "sink"));
    gst_pad_add_probe(
        out.get(), GST_PAD_PROBE_TYPE_BUFFER,
        [](GstPad*, GstPadProbeInfo*, gpointer self) {
          ++static_cast<Playing*>(self)->pictures;
          return GST_PAD_PROBE_OK;
        },
        this, nullptr);
    display.hold();
  }
  ~Playing() { gst_element_set_state(pipeline.get(), GST_STATE_NULL); }

  // The decoder is done with the packets before the last one.
  void wait_for_packets(int wanted) {
    std::unique_lock guard(lock);
    fail_unless(
        came.wait_for(guard, std::chrono::seconds(60), [&] { return packets >= wanted; }),
        "only %d packets while the context is made", packets);
  }
  void packet_comes() {
    const std::lock_guard guard(lock);
    ++packets;
    came.notify_all();
  }
  [[nodiscard]] uint64_t stat(const char* element, const char* part, const char* name) const {
    GstStructure* raw = nullptr;
    g_object_get(child(pipeline, element).get(), "stats", &raw, nullptr);
    const dxva::gst::StructurePtr stats(raw);
    const GValue* inner = gst_structure_get_value(raw, part);
    guint64 out = 0;
    fail_unless(inner && gst_structure_get_uint64(gst_value_get_structure(inner), name, &out),
                "%s has no %s in %s", element, name, part);
    return out;
  }

  WatchedDisplay display;
  GstPtr<GstElement> pipeline;
  std::mutex lock;
  std::condition_variable came;
  int packets = 0;
  std::atomic<int> pictures{0};
};

}  // namespace

GST_START_TEST(pictures_are_decoded_while_the_context_is_made) {
  // Whatever stands between passes the parser's question on, and the answer back.
  for (const char* between : {"", "queue ! ", "identity ! ", "video/x-raw(ANY),width=352 ! "}) {
    Playing playing(between);
    gst_element_set_state(playing.pipeline.get(), GST_STATE_PLAYING);
    playing.display.wait_until_asked();
    playing.wait_for_packets(3);
    playing.display.let_go();
    expect_end_of_stream(playing.pipeline);
    fail_unless_equals_int(playing.display.made(), 1);
    fail_unless_equals_int(playing.pictures, kPictures);
    // Caps are about the first picture. On a busy machine a queue may hold so many that later
    // ones are copied.
    const auto pad = GstPtr<GstPad>::adopt(
        gst_element_get_static_pad(child(playing.pipeline, "up").get(), "sink"));
    const auto agreed = GstPtr<GstCaps>::adopt(gst_pad_get_current_caps(pad.get()));
    fail_unless(gst_caps_features_contains(gst_caps_get_features(agreed.get(), 0),
                                           GST_CAPS_FEATURE_MEMORY_DMABUF));
    fail_unless(playing.stat("dec", "steps", "exported") > 0);
    if (rig_must_import()) fail_unless(playing.stat("up", "steps", "egl") > 0);
  }
}
GST_END_TEST

GST_START_TEST(a_stop_between_leaves_nothing) {
  for (const int packets : {1, 2, 3}) {  // the third one brings the first picture out
    Playing playing;
    gst_element_set_state(playing.pipeline.get(), GST_STATE_PLAYING);
    playing.display.wait_until_asked();
    playing.wait_for_packets(packets);
    std::thread stops([&] { gst_element_set_state(playing.pipeline.get(), GST_STATE_NULL); });
    playing.display.let_go();
    stops.join();
    fail_if(bool(playing.display.any_context()));
  }
}
GST_END_TEST

static Suite* dxvadec_beside_gl_suite() {
  Suite* suite = suite_create("dxvadec_beside_gl");
  TCase* cases = tcase_create("general");
  tcase_set_timeout(cases, 300);
  tcase_add_test(cases, pictures_are_decoded_while_the_context_is_made);
  tcase_add_test(cases, a_stop_between_leaves_nothing);
  suite_add_tcase(suite, cases);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv) || !set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_beside_gl_suite(), "dxvadec_beside_gl", __FILE__);
}
