// SPDX-License-Identifier: LGPL-2.1-or-later

// Starting, stopping and seeking for ever: what a pipeline took it gives back, and the driver
// runs only when there is something to decode, once.

#include <glib/gstdio.h>
#include <gst/app/app.h>
#include <gst/gst.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "gst/common/gst_ptr.hpp"
#include "tests/check/support/call_counts.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"
#include "tests/check/support/gl_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

// What must be as before when everything has stopped.
struct Held {
  uint64_t surfaces = 0;
  std::vector<std::string> descriptors;

  [[nodiscard]] static Held now() {
    const CallCounts calls = call_counts();
    return {.surfaces = calls.surfaces_made - calls.surfaces_freed,
            .descriptors = open_descriptors()};
  }
};

void expect_same_held(const Held& now, const Held& before) {
  fail_unless_equals_uint64(now.surfaces, before.surfaces);
  std::string open;
  for (const std::string& one : now.descriptors)
    if (std::find(before.descriptors.begin(), before.descriptors.end(), one) ==
        before.descriptors.end())
      open += "\n  " + one;
  fail_unless_equals_int(now.descriptors.size(), before.descriptors.size());
  // A memfd reopened under its old number is none that stayed open.
  fail_unless(open.empty(), "open, and not before:%s", open.c_str());
}

// --- starting and stopping

// Wakes who waits for a number of pictures.
struct Counter {
  std::mutex lock;
  std::condition_variable changed;
  int pictures = 0;
};

GstPadProbeReturn count(GstPad*, GstPadProbeInfo*, gpointer data) {
  auto& counter = *static_cast<Counter*>(data);
  const std::lock_guard guard(counter.lock);
  ++counter.pictures;
  counter.changed.notify_all();
  return GST_PAD_PROBE_OK;
}

void start_and_stop(const std::string& tail, int times) {
  // Without a demuxer: gst_parse_launch links its pads the first time only.
  const auto pipeline = launch(source(h264_byte_stream()) + " ! dxvadec name=dec ! " + tail +
                               " ! fakesink name=sink sync=false");
  Counter counter;
  {
    const auto sink = child(pipeline, "sink");
    auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(sink.get(), "sink"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, count, &counter, nullptr);
  }
  const auto once = [&](int pictures) {
    counter.pictures = 0;
    fail_if(gst_element_set_state(pipeline.get(), GST_STATE_PLAYING) ==
            GST_STATE_CHANGE_FAILURE);
    {
      std::unique_lock guard(counter.lock);
      counter.changed.wait(guard, [&] { return counter.pictures >= pictures; });
    }
    fail_unless_equals_int(gst_element_set_state(pipeline.get(), GST_STATE_NULL),
                           GST_STATE_CHANGE_SUCCESS);
  };
  // Types, libraries and what they keep open.
  for (int i = 0; i < 3; ++i) once(3);
  const Held before = Held::now();
  fail_unless_equals_uint64(before.surfaces, 0);
  const uint64_t made = call_counts().surfaces_made;
  // Stopped in the middle of different things: before the first picture, or after a few.
  for (int i = 0; i < times; ++i) {
    once(i % 4);
    if (i % 50 == 49) expect_same_held(Held::now(), before);
  }
  expect_same_held(Held::now(), before);
  fail_unless(call_counts().surfaces_made > made);
}

GST_START_TEST(starting_and_stopping_500_times_leaves_nothing_open) {
  start_and_stop("video/x-raw(memory:DMABuf),format=NV12", 500);
}
GST_END_TEST;

// An OpenGL context takes longer to start than all the rest: 20 times.
GST_START_TEST(starting_and_stopping_with_opengl_leaves_nothing_open) {
  start_and_stop("dxvaglupload ! video/x-raw(memory:GLMemory),format=RGBA", 20);
}
GST_END_TEST;

// --- seeking

GstClockTime stream_time(GstSample* sample) {
  return gst_segment_to_stream_time(gst_sample_get_segment(sample), GST_FORMAT_TIME,
                                    GST_BUFFER_PTS(gst_sample_get_buffer(sample)));
}

struct Reference {
  std::map<GstClockTime, std::string> hashes;  // by stream time
  GstClockTime duration = 0;                   // of a picture

  // The picture that is shown at a time.
  [[nodiscard]] const std::string& at(GstClockTime time) const {
    return std::prev(hashes.upper_bound(time))->second;
  }
};

Reference decode_reference(const std::string& file) {
  Reference out;
  std::vector<GstClockTime> times;
  Options options;
  options.at_sample = [&](GstSample* sample) { times.push_back(stream_time(sample)); };
  const Decoded decoded = decode(source(file), "avdec_h264", options);
  for (size_t i = 0; i < times.size(); ++i) out.hashes[times[i]] = decoded.pictures[i].hash;
  fail_unless(out.hashes.size() == 60 && out.hashes.begin()->first == 0);
  out.duration = std::next(out.hashes.begin())->first;
  return out;
}

constexpr int kGroup = 20;  // pictures from key to key picture in h264_mp4(), at most
constexpr int kSeeks = 200;

void seek_and_look(const GstPtr<GstElement>& pipeline, GstAppSink* sink,
                   const Reference& reference, int number, std::mt19937& random) {
  // Up to a few pictures after the last one, that is in the middle of anything.
  for (unsigned left = random() % 4; left > 0; --left)
    (void)GstPtr<GstSample>::adopt(gst_app_sink_try_pull_sample(sink, 0));
  const bool accurate = random() % 2 == 0;
  // All over the stream, to the start of a picture or into its middle.
  const auto picture = static_cast<int>(random() % 60);
  auto start = std::next(reference.hashes.begin(), picture)->first;
  const GstClockTime target = start + (random() % 3 == 0 ? reference.duration / 2 : 0);

  const auto flags = static_cast<GstSeekFlags>(
      GST_SEEK_FLAG_FLUSH | (accurate ? GST_SEEK_FLAG_ACCURATE : GST_SEEK_FLAG_KEY_UNIT));
  fail_unless(gst_element_seek_simple(pipeline.get(), GST_FORMAT_TIME, flags,
                                      static_cast<gint64>(target)));
  const auto sample = GstPtr<GstSample>::adopt(gst_app_sink_pull_sample(sink));
  fail_unless(bool(sample), "nothing after seek %d", number);
  const GstClockTime time = stream_time(sample.get());
  const std::string hash =
      hash_of(gst_sample_get_buffer(sample.get()), gst_sample_get_caps(sample.get()));
  fail_unless(hash == reference.at(time), "seek %d: another picture than at %" GST_TIME_FORMAT,
              number, GST_TIME_ARGS(time));
  if (accurate) {
    fail_unless_equals_uint64(time, target);
  } else {
    // Some key picture before it; the encoder may have put in more than it had to.
    fail_unless(time <= target && target - time < kGroup * reference.duration);
  }
}

// Plays to the first picture, then has the seeks done.
void play_and_seek(const std::string& file, const Reference& reference, int seeks) {
  const auto pipeline = launch(source(file) + " ! dxvadec name=dec ! " + kDmabufNv12 +
                               " ! appsink name=sink sync=false max-buffers=2");
  const auto sink = child(pipeline, "sink");
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  (void)GstPtr<GstSample>::adopt(gst_app_sink_pull_sample(GST_APP_SINK(sink.get())));
  const uint64_t made = call_counts().surfaces_made;
  Held warm;
  const unsigned seed = std::random_device()();
  if (seeks > 0) std::printf("# seed %u\n", seed);
  std::fflush(stdout);
  std::mt19937 random(seed);
  for (int i = 1; i <= seeks; ++i) {
    seek_and_look(pipeline, GST_APP_SINK(sink.get()), reference, i, random);
    // By then each surface has been exported, and keeps its descriptor.
    if (i == seeks / 2) warm = Held::now();
  }
  if (seeks > 0) {
    // The same surfaces all along, and so the same textures downstream.
    fail_unless_equals_uint64(call_counts().surfaces_made, made);
    fail_unless_equals_int(open_descriptors().size(), warm.descriptors.size());
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

GST_START_TEST(flushing_200_times_shows_the_right_picture_and_leaves_nothing_open) {
  const std::string file = h264_mp4();
  const Reference reference = decode_reference(file);
  play_and_seek(file, reference, 0);
  // Without the pipeline: an appsink keeps its last sample when it stops.
  const Held before = Held::now();
  fail_unless_equals_uint64(before.surfaces, 0);
  play_and_seek(file, reference, kSeeks);
  expect_same_held(Held::now(), before);
}
GST_END_TEST;

// --- the driver

GST_START_TEST(sixteen_decoders_start_the_driver_once) {
  const std::string file = h264_mp4();
  const uint64_t before = call_counts().driver_starts;
  std::vector<GstPtr<GstElement>> pipelines;
  for (int i = 0; i < 16; ++i) {
    pipelines.push_back(launch(source(file) + " ! dxvadec ! fakesink num-buffers=2"));
    gst_element_set_state(pipelines.back().get(), GST_STATE_PLAYING);
  }
  for (const auto& pipeline : pipelines) {
    expect_end_of_stream(pipeline);
  }
  fail_unless_equals_uint64(call_counts().driver_starts - before, 1);
  for (const auto& pipeline : pipelines) gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}
GST_END_TEST;

// True when the bundled driver was started by this command: it opens its log then.
bool starts_the_driver(const std::string& command) {
  const std::string folder = make_folder("scan-" + std::to_string(getpid()));
  const std::string log = folder + "/calls";
  const std::string registry = folder + "/registry.bin";
  g_unlink(log.c_str());
  g_unlink(registry.c_str());
  const std::string line = "env 'DXVASOFT_LOG=" + log + "' 'GST_REGISTRY=" + registry +
                           "' GST_REGISTRY_UPDATE=yes " + command;
  gint status = -1;
  gchar* output = nullptr;
  fail_unless(g_spawn_command_line_sync(line.c_str(), &output, nullptr, &status, nullptr) !=
              FALSE);
  fail_unless_equals_int(status, 0);
  g_free(output);
  const bool started = g_file_test(log.c_str(), G_FILE_TEST_EXISTS) != FALSE;
  g_unlink(log.c_str());
  g_unlink(registry.c_str());
  g_rmdir(folder.c_str());
  return started;
}

GST_START_TEST(scan_for_plugins_starts_no_driver) {
  fail_if(starts_the_driver("gst-inspect-1.0 dxvadec"));
  // The sign is one.
  fail_unless(starts_the_driver("gst-launch-1.0 -q " + source(h264_mp4()) +
                                " ! dxvadec ! fakesink num-buffers=1"));
}
GST_END_TEST;

Suite* lifecycle_suite() {
  Suite* suite = suite_create("lifecycle");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, starting_and_stopping_500_times_leaves_nothing_open);
  tcase_add_test(tcase, starting_and_stopping_with_opengl_leaves_nothing_open);
  tcase_add_test(tcase, flushing_200_times_shows_the_right_picture_and_leaves_nothing_open);
  tcase_add_test(tcase, sixteen_decoders_start_the_driver_once);
  tcase_add_test(tcase, scan_for_plugins_starts_no_driver);
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv) || !set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(lifecycle_suite(), "lifecycle", __FILE__);
}
