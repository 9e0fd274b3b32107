// SPDX-License-Identifier: LGPL-2.1-or-later
// An application that gives nothing back: the stream plays to its end, surfaces and descriptors
// stay within the bound of docs/plugins/dxvadec.md, and what it keeps is right for as long as
// it keeps it.
#include <dirent.h>
#include <gst/allocators/allocators.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "gst/common/spare_memory.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

constexpr size_t kPictures = 500;
constexpr uint64_t kExtra = 8;              // the default of extra-surfaces
constexpr uint64_t kSurfaces = 16 + 1 + 3;  // of H.264, beside the extra ones

std::string long_clip() {
  return source(clip("kept.mp4", "-c:v libx264 -g 50 -bf 3 -threads 1", "96x80", kPictures));
}

const std::string kBoth = std::string(kDmabufNv12) + ";video/x-raw";

size_t open_descriptors() {
  size_t count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder)) ++count;
  closedir(folder);
  return count;
}

void expect_kept_right(const Decoded& out) {
  for (size_t i = 0; i < out.kept.size(); ++i)
    fail_unless(hash_of(gst_sample_get_buffer(out.kept[i].get()),
                        gst_sample_get_caps(out.kept[i].get())) == out.pictures[i].hash,
                "kept picture %zu changed", i);
}

struct Consumer {
  const char* name;
  Options options;
  bool takes_surfaces;
};
// All but those who take nothing but dma-bufs: their copies are dma-bufs, too.
std::vector<Consumer> consumers() {
  return {
      {"system memory", {}, false},
      {"dma-bufs or system memory", {.sink_caps = kBoth, .video_meta = true}, true},
      {"mixed memory", {.sink_caps = kDmabufNv12, .mixed_memory = true}, true},
  };
}

}  // namespace

GST_START_TEST(five_hundred_kept_buffers_stay_within_the_bound) {
  const auto wanted = decode(long_clip(), "avdec_h264").pictures;
  fail_unless_equals_int(wanted.size(), kPictures);
  // Types, libraries, and what they keep open.
  (void)decode(long_clip(), "dxvadec");
  const size_t before = open_descriptors();
  for (Consumer& consumer : consumers()) {
    std::printf("# %s\n", consumer.name);
    size_t most = 0;
    consumer.options.keep = kPictures;
    consumer.options.at_picture = [&](GstElement*, size_t pictures) {
      if (pictures % 50 == 0) most = std::max(most, open_descriptors());
    };
    {
      const Decoded out = decode(long_clip(), "dxvadec", consumer.options);
      fail_unless(out.error.empty(), "%s", out.error.c_str());
      fail_unless_equals_int(out.kept.size(), kPictures);
      expect_same(out.pictures, wanted);
      fail_unless_equals_uint64(out.step("software"), 0);

      const uint64_t surfaces = out.stat("surfaces") + out.stat("late-surfaces");
      fail_unless(surfaces <= kSurfaces + kExtra, "%" G_GUINT64_FORMAT, guint64{surfaces});
      // The bundled driver has a descriptor for each surface, and as many as its pipeline
      // needs are the application's; ours are one for each surface that was exported, and one
      // for each of as many copies as there are extra surfaces.
      constexpr size_t kPipeline = 24;
      const size_t bound = surfaces + surfaces + kExtra + kPipeline;
      fail_unless(most <= before + bound, "%zu descriptors, %zu before", most, before);
      if (consumer.takes_surfaces) {
        fail_unless_equals_uint64(out.step("exported"), kExtra);
        fail_unless_equals_uint64(out.reason("surface-pool-empty"), kPictures - kExtra);
      }
      // The pipeline is gone.
      expect_kept_right(out);
    }
    fail_unless_equals_int(open_descriptors(), before);
  }
}
GST_END_TEST

// Who gives surfaces back several at a time is asked for them where that matters.
GST_START_TEST(surfaces_on_their_way_back_are_asked_for_before_any_copy) {
  struct Consumer {
    std::mutex lock;
    std::vector<GstPtr<GstBuffer>> late;
    uint64_t asked = 0;
  } consumer;
  Options options{.sink_caps = kBoth, .video_meta = true};
  options.at_sample = [&](GstSample* sample) {
    GstBuffer* buffer = gst_sample_get_buffer(sample);
    fail_unless(dxva::gst::is_spare(buffer));
    const std::lock_guard guard(consumer.lock);
    consumer.late.push_back(GstPtr<GstBuffer>::share(buffer));
  };
  options.at_picture = [&](GstElement* pipeline, size_t pictures) {
    if (pictures != 1) return;
    const auto sink = child(GstPtr<GstElement>::share(pipeline), "sink");
    auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(sink.get(), "sink"));
    gst_pad_add_probe(
        pad.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        [](GstPad*, GstPadProbeInfo* info, gpointer data) {
          if (!dxva::gst::is_spares_wanted(GST_PAD_PROBE_INFO_EVENT(info)))
            return GST_PAD_PROBE_OK;
          auto* self = static_cast<Consumer*>(data);
          std::vector<GstPtr<GstBuffer>> back;
          const std::lock_guard guard(self->lock);
          back.swap(self->late);
          ++self->asked;
          return GST_PAD_PROBE_OK;
        },
        &consumer, nullptr);
  };
  const Decoded out = decode(long_clip(), "dxvadec", options);
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  // Nobody but the event gives any back.
  fail_unless_equals_uint64(out.step("exported"), kPictures);
  fail_unless(consumer.asked >= kPictures / kExtra - 1);
}
GST_END_TEST

// There is nothing else to copy into: a descriptor for each picture, and still no stall.
GST_START_TEST(who_takes_only_dma_bufs_keeps_a_descriptor_for_each) {
  Options options{.sink_caps = kDmabufNv12, .video_meta = true, .keep = 100};
  const Decoded out = decode(long_clip(), "dxvadec", options);
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  fail_unless_equals_int(out.pictures.size(), kPictures);
  for (const auto& sample : out.kept)
    fail_unless(
        gst_is_dmabuf_memory(gst_buffer_peek_memory(gst_sample_get_buffer(sample.get()), 0)));
  expect_kept_right(out);
}
GST_END_TEST

GST_START_TEST(surfaces_leave_again_when_buffers_return) {
  std::vector<GstPtr<GstSample>> kept;
  size_t seen = 0;
  size_t last_copy = 0;
  Options options{.sink_caps = kBoth, .video_meta = true};
  options.at_sample = [&](GstSample* sample) {
    if (++seen <= 60) kept.push_back(GstPtr<GstSample>::share(sample));
  };
  options.at_picture = [&](GstElement*, size_t pictures) {
    if (pictures == 80) kept.clear();
  };
  const Decoded out = decode(long_clip(), "dxvadec", options);
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  for (size_t i = 0; i < out.pictures.size(); ++i)
    if (!out.pictures[i].dmabuf) last_copy = i;
  // The caps return to dma-bufs within their pause, and stay there.
  fail_unless(last_copy > 40 && last_copy < 200, "the last copy is picture %zu", last_copy);
  fail_unless(out.pictures.back().dmabuf);
}
GST_END_TEST

// --- across changes

namespace {

// One byte stream after the other, as a broadcast changes its size.
std::string joined(const std::string& name, std::initializer_list<const char*> sizes) {
  std::string bytes;
  for (const char* size : sizes) {
    const std::string part = clip(
        std::string("part-") + size + ".h264",
        "-c:v libx264 -g 20 -bf 2 -threads 1 -bsf:v filter_units=remove_types=6", size, 30);
    char* data = nullptr;
    gsize length = 0;
    fail_unless(g_file_get_contents(part.c_str(), &data, &length, nullptr));
    bytes.append(data, length);
    g_free(data);
  }
  const std::string file = make_folder("kept") + "/" + name + ".h264";
  fail_unless(g_file_set_contents(file.c_str(), bytes.data(), static_cast<gssize>(bytes.size()),
                                  nullptr));
  return source(file);
}

// Plays it, keeping a picture of each size; how many surfaces the driver made.
size_t surfaces_made(const std::string& from, Decoded& out) {
  const std::string log = make_folder("kept") + "/driver.log";
  std::remove(log.c_str());
  g_setenv("DXVASOFT_LOG", log.c_str(), TRUE);
  Options options{.sink_caps = kDmabufNv12, .video_meta = true};
  size_t seen = 0;
  std::vector<GstPtr<GstSample>> kept;
  options.at_sample = [&](GstSample* sample) {
    if (seen++ % 30 == 0) kept.push_back(GstPtr<GstSample>::share(sample));
  };
  out = decode(from, "dxvadec", options);
  g_unsetenv("DXVASOFT_LOG");
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, decode(from, "avdec_h264").pictures);
  fail_unless_equals_uint64(out.step("exported"), out.pictures.size());
  // Pool, element and pipeline are gone.
  for (size_t i = 0; i < kept.size(); ++i)
    fail_unless(hash_of(gst_sample_get_buffer(kept[i].get()),
                        gst_sample_get_caps(kept[i].get())) == out.pictures[i * 30].hash,
                "kept picture %zu changed", i);
  char* text = nullptr;
  fail_unless(g_file_get_contents(log.c_str(), &text, nullptr, nullptr));
  gchar** lines = g_strsplit(text, "\n", -1);
  size_t made = 0;
  for (gchar** line = lines; *line; ++line)
    if (g_str_has_prefix(*line, "surface=")) ++made;
  g_strfreev(lines);
  g_free(text);
  return made;
}

}  // namespace

GST_START_TEST(a_smaller_picture_goes_into_the_surfaces_that_are_there) {
  const std::string from = joined("down", {"352x288", "176x144", "320x240", "352x288"});
  Decoded out;
  const size_t made = surfaces_made(from, out);
  fail_unless_equals_int(made, kSurfaces + kExtra);
  fail_unless_equals_int(out.caps.size(), 4);
}
GST_END_TEST

GST_START_TEST(a_larger_picture_gets_new_surfaces_and_the_old_ones_go) {
  const std::string from = joined("up", {"176x144", "352x288", "640x352"});
  Decoded out;
  (void)decode(from, "dxvadec");
  const size_t before = open_descriptors();
  fail_unless_equals_int(surfaces_made(from, out), 3 * (kSurfaces + kExtra));
  fail_unless_equals_int(open_descriptors(), before);
}
GST_END_TEST

// A surface of an 8K film is no place for a thumbnail.
GST_START_TEST(surfaces_that_are_far_too_large_are_not_kept) {
  const std::string from = joined("far", {"640x352", "176x144"});
  Decoded out;
  fail_unless_equals_int(surfaces_made(from, out), 2 * (kSurfaces + kExtra));
}
GST_END_TEST

GST_START_TEST(what_is_kept_outlives_a_seek_and_the_element) {
  (void)decode(long_clip(), "dxvadec");
  const size_t before = open_descriptors();
  {
    Options options{.sink_caps = kBoth, .video_meta = true};
    std::vector<GstPtr<GstSample>> kept;
    std::vector<std::string> hashes;
    options.at_sample = [&](GstSample* sample) {
      if (kept.size() >= 12) return;
      kept.push_back(GstPtr<GstSample>::share(sample));
      hashes.push_back(hash_of(gst_sample_get_buffer(sample), gst_sample_get_caps(sample)));
    };
    options.at_picture = [](GstElement* pipeline, size_t pictures) {
      if (pictures != 3 && pictures != 6 && pictures != 9) return;
      fail_unless(gst_element_seek_simple(
          pipeline, GST_FORMAT_TIME,
          static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT),
          static_cast<gint64>(pictures) * GST_SECOND));
    };
    const Decoded out = decode(long_clip(), "dxvadec", options);
    fail_unless(out.error.empty(), "%s", out.error.c_str());
    fail_unless_equals_int(kept.size(), 12);
    for (size_t i = 0; i < kept.size(); ++i)
      fail_unless(hash_of(gst_sample_get_buffer(kept[i].get()),
                          gst_sample_get_caps(kept[i].get())) == hashes[i]);
    fail_unless(open_descriptors() > before);
  }
  fail_unless_equals_int(open_descriptors(), before);
}
GST_END_TEST

static Suite* dxvadec_kept_suite() {
  Suite* suite = suite_create("dxvadec_kept");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 180);
  tcase_add_test(tcase, five_hundred_kept_buffers_stay_within_the_bound);
  tcase_add_test(tcase, surfaces_on_their_way_back_are_asked_for_before_any_copy);
  tcase_add_test(tcase, who_takes_only_dma_bufs_keeps_a_descriptor_for_each);
  tcase_add_test(tcase, surfaces_leave_again_when_buffers_return);
  suite_add_tcase(suite, tcase);
  TCase* changes = tcase_create("across changes");
  tcase_set_timeout(changes, 120);
  tcase_add_test(changes, a_smaller_picture_goes_into_the_surfaces_that_are_there);
  tcase_add_test(changes, a_larger_picture_gets_new_surfaces_and_the_old_ones_go);
  tcase_add_test(changes, surfaces_that_are_far_too_large_are_not_kept);
  tcase_add_test(changes, what_is_kept_outlives_a_seek_and_the_element);
  suite_add_tcase(suite, changes);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_kept_suite(), "dxvadec_kept", __FILE__);
}
