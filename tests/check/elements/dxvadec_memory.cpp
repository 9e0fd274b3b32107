// SPDX-License-Identifier: LGPL-2.1-or-later
// What dxvadec's buffers promise: they may be kept, shared, mapped and written to, in any
// number and beyond the decoder's end, and the caps say what is in them.
#include <gst/allocators/allocators.h>
#include <gst/check/gstharness.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "gst/common/cpu_memory.hpp"
#include "gst/common/finished_memory.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;
using dxva::gst::GstPtr;

namespace {

std::vector<Picture> reference() {
  return decode(source(h264_mp4()), "avdec_h264").pictures;
}

Decoded decode_well(const std::string& decoder, const Options& options = {}) {
  Decoded out = decode(source(h264_mp4()), decoder, options);
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  fail_unless_equals_uint64(out.step("software"), 0);
  return out;
}

void expect_kept_right(const Decoded& out) {
  for (size_t i = 0; i < out.kept.size(); ++i)
    fail_unless(hash_of(gst_sample_get_buffer(out.kept[i].get()),
                        gst_sample_get_caps(out.kept[i].get())) == out.pictures[i].hash,
                "kept picture %zu changed", i);
}

uint64_t inode_of(GstBuffer* buffer) {
  struct stat facts {};
  fail_unless(fstat(gst_dmabuf_memory_get_fd(gst_buffer_peek_memory(buffer, 0)), &facts) == 0);
  return facts.st_ino;
}

constexpr int kMostSurfaces = 64;

// Of those of a pool, how many the decoder wrote.
int surfaces_written(const std::string& driver_log) {
  int out = 0;
  for (int number = 1; number <= kMostSurfaces; ++number) {
    const std::string call = "beginpicture surface=" + std::to_string(number) + "\n";
    if (count_driver_calls(driver_log, call.c_str()) > 0) ++out;
  }
  return out;
}

}  // namespace

// --- what is said of them

// Each was waited for here: no buffer of this rig has a fence that could be left to others.
GST_START_TEST(a_picture_that_was_waited_for_says_so) {
  const Decoded out =
      decode_well("dxvadec", {.sink_caps = kDmabufNv12, .video_meta = true, .keep = 3});
  for (const auto& kept : out.kept) {
    GstBuffer* buffer = gst_sample_get_buffer(kept.get());
    fail_unless(dxva::gst::is_finished(gst_buffer_peek_memory(buffer, 0)));
  }
  fail_unless_equals_uint64(out.kept.size(), 3);
}
GST_END_TEST

// --- how many buffers

GST_START_TEST(buffers_kept_beyond_the_gate_are_copies_and_all_stay_right) {
  const Decoded out = decode_well("dxvadec extra-surfaces=3",
                                  {.sink_caps = kDmabufNv12, .video_meta = true, .keep = 40});
  expect_same(out.pictures, reference());
  fail_unless(out.step("exported") >= 3);
  fail_unless(out.reason("surface-pool-empty") >= 37);
  fail_unless_equals_uint64(out.stat("late-surfaces"), 0);
  for (const Picture& picture : out.pictures) fail_unless(picture.dmabuf);
  // The pipeline is gone by now.
  expect_kept_right(out);
}
GST_END_TEST

GST_START_TEST(system_memory_buffers_are_nobodys_surface) {
  const Decoded out = decode_well("dxvadec extra-surfaces=1", {.keep = 60});
  expect_same(out.pictures, reference());
  expect_kept_right(out);
}
GST_END_TEST

GST_START_TEST(zero_copy_require_makes_late_surfaces_instead_of_copies) {
  const Decoded out = decode_well("dxvadec zero-copy=require extra-surfaces=1",
                                  {.sink_caps = kDmabufNv12, .video_meta = true, .keep = 40});
  expect_same(out.pictures, reference());
  fail_unless_equals_uint64(out.step("exported"), 60);
  fail_unless(out.stat("late-surfaces") > 0);
  expect_kept_right(out);
}
GST_END_TEST

GST_START_TEST(zero_copy_require_fails_where_downstream_takes_no_dma_bufs) {
  const Decoded out = decode(source(h264_mp4()), "dxvadec zero-copy=require");
  fail_unless(out.error.find("downstream-no-dmabuf") != std::string::npos, "%s",
              out.error.c_str());
}
GST_END_TEST

GST_START_TEST(zero_copy_off_copies_and_says_so) {
  const Decoded out =
      decode_well("dxvadec zero-copy=off",
                  {.sink_caps = std::string(kDmabufNv12) + ";video/x-raw", .video_meta = true});
  expect_same(out.pictures, reference());
  fail_unless_equals_uint64(out.step("cpu-copy"), 60);
  fail_unless_equals_uint64(out.reason("zero-copy-off"), 60);
  fail_if(out.pictures[0].dmabuf);
}
GST_END_TEST

// Each more would be three megabytes of 1080p that come and go through the processor's caches.
GST_START_TEST(copies_leave_most_surfaces_alone) {
  const Options dmabuf{.sink_caps = kDmabufNv12, .video_meta = true};
  const Options in_place{.sink_caps = std::string(kDmabufNv12) + ";video/x-raw",
                         .reads_in_place = true};
  Options uploader{.sink_caps = kDmabufNv12, .mixed_memory = true};
  uploader.at_sample = [](GstSample* sample) {
    dxva::gst::say_read_by_cpu(gst_sample_get_buffer(sample));
  };
  Options behind_a_tee = uploader;
  behind_a_tee.behind_a_tee = true;
  int count = 0;
  Options imports_others = uploader;
  imports_others.at_sample = [&count](GstSample* sample) {
    if (++count % 4 == 0) dxva::gst::say_read_by_cpu(gst_sample_get_buffer(sample));
  };
  const struct {
    const char* what;
    const char* decoder;
    Options options;
    const char* fault;
    bool few;
  } cases[] = {
      {"copied", "dxvadec zero-copy=off", {}, "", true},
      {"copied for want of exports", "dxvadec", {}, "export:from=1", true},
      {"read in place", "dxvadec", in_place, "export:from=1", true},
      {"lent, and uploaded by the CPU", "dxvadec", uploader, "", true},
      // The others may import it.
      {"the same by one of several", "dxvadec", behind_a_tee, "", false},
      {"the same, but most are imported", "dxvadec", imports_others, "", false},
      // Who reads those may be a device.
      {"lent", "dxvadec", dmabuf, "", false},
      // Else the one would be written again and again, and each of its pictures a copy.
      {"lent but for one", "dxvadec", dmabuf, "export:surface=2", false},
  };
  g_setenv("GST_DXVA_TEST", "memfd,read-in-place", TRUE);
  for (const auto& c : cases) {
    std::printf("# %s\n", c.what);
    g_setenv("DXVASOFT_FAULT", c.fault, TRUE);
    const std::string log = new_driver_log();
    const Decoded out = decode_well(c.decoder, c.options);
    const int written = surfaces_written(log);
    const auto all = static_cast<int>(out.stat("surfaces"));
    fail_unless(c.few ? written < all / 2 : written == all, "%d of %d surfaces", written, all);
    if (!c.few) fail_unless(out.step("cpu-copy") <= 4);
  }
}
GST_END_TEST

GST_START_TEST(the_environment_turns_zero_copy_off) {
  g_setenv("GST_DXVA_ZEROCOPY", "0", TRUE);
  const Decoded out = decode_well(
      "dxvadec", {.sink_caps = std::string(kDmabufNv12) + ";video/x-raw", .video_meta = true});
  fail_unless_equals_uint64(out.reason("zero-copy-off"), 60);
}
GST_END_TEST

GST_START_TEST(planar_system_memory_is_one_copy_too) {
  const Decoded out = decode_well("dxvadec", {.sink_caps = "video/x-raw,format=I420"});
  expect_same(out.pictures, reference());
  fail_unless_equals_uint64(out.step("cpu-copy"), 60);
}
GST_END_TEST

// The surface's own, whatever the driver keeps, and one of ours that all its holders share.
GST_START_TEST(a_kept_picture_costs_two_descriptors) {
  const auto open_with = [](size_t keep) {
    size_t most = 0;
    Options options{.sink_caps = kDmabufNv12, .video_meta = true, .keep = keep};
    options.at_picture = [&most](GstElement*, size_t pictures) {
      if (pictures == 60) most = count_open_descriptors();
    };
    const Decoded out = decode_well("dxvadec zero-copy=require extra-surfaces=1", options);
    fail_unless_equals_uint64(out.step("exported"), 60);
    return most;
  };
  // Above both, the pool has surfaces for every picture that is kept.
  const size_t few = open_with(30);
  const size_t many = open_with(50);
  // One picture more or less may be on its way when it is counted.
  fail_unless(many - few >= 20 && many - few <= 2 * 21, "%zu for 20 more", many - few);
}
GST_END_TEST

// --- what one buffer is

GST_START_TEST(a_surface_keeps_its_memory_object) {
  std::set<GstMemory*> memories;
  std::set<uint64_t> inodes;
  Options options{.sink_caps = kDmabufNv12, .video_meta = true, .keep = 60};
  const Decoded out = decode_well("dxvadec zero-copy=require extra-surfaces=60", options);
  for (const auto& sample : out.kept) {
    GstBuffer* buffer = gst_sample_get_buffer(sample.get());
    memories.insert(gst_buffer_peek_memory(buffer, 0));
    inodes.insert(inode_of(buffer));
  }
  fail_unless_equals_int(memories.size(), 60);
  fail_unless_equals_int(inodes.size(), 60);

  // Given back at once, the same few come round.
  memories.clear();
  options = {.sink_caps = kDmabufNv12, .video_meta = true};
  options.at_sample = [&memories](GstSample* sample) {
    memories.insert(gst_buffer_peek_memory(gst_sample_get_buffer(sample), 0));
  };
  decode_well("dxvadec", options);
  fail_unless(memories.size() < 32, "%zu", memories.size());
}
GST_END_TEST

GST_START_TEST(a_shared_memory_keeps_its_surface) {
  std::vector<GstPtr<GstMemory>> shares;
  std::vector<std::string> hashes;
  Options options{.sink_caps = kDmabufNv12, .video_meta = true};
  options.at_sample = [&](GstSample* sample) {
    if (shares.size() >= 5) return;
    GstMemory* memory = gst_buffer_peek_memory(gst_sample_get_buffer(sample), 0);
    shares.push_back(GstPtr<GstMemory>::adopt(gst_memory_share(memory, 0, -1)));
  };
  const auto bytes_of = [](GstMemory* memory) {
    GstMapInfo map;
    fail_unless(gst_memory_map(memory, &map, GST_MAP_READ));
    dxva::gst::GlibString hash(g_compute_checksum_for_data(G_CHECKSUM_MD5, map.data, map.size));
    gst_memory_unmap(memory, &map);
    return std::string(hash.get());
  };
  options.at_picture = [&](GstElement*, size_t) {
    while (hashes.size() < shares.size())
      hashes.push_back(bytes_of(shares[hashes.size()].get()));
  };
  decode_well("dxvadec", options);
  fail_unless_equals_int(shares.size(), 5);
  for (size_t i = 0; i < shares.size(); ++i) {
    fail_unless(gst_is_dmabuf_memory(shares[i].get()));
    fail_unless(bytes_of(shares[i].get()) == hashes[i]);
  }
}
GST_END_TEST

// The decoder may still predict from this picture.
GST_START_TEST(writing_to_a_buffer_does_not_touch_the_surface) {
  Options options{.sink_caps = kDmabufNv12, .video_meta = true};
  options.at_sample = [](GstSample* sample) {
    GstBuffer* copy = gst_buffer_copy(gst_sample_get_buffer(sample));
    GstMapInfo map;
    fail_unless(gst_buffer_map(copy, &map, GST_MAP_WRITE));
    memset(map.data, 0x55, map.size);
    gst_buffer_unmap(copy, &map);
    fail_if(gst_is_dmabuf_memory(gst_buffer_peek_memory(copy, 0)));
    gst_buffer_unref(copy);
  };
  const Decoded out = decode_well("dxvadec", options);
  expect_same(out.pictures, reference());
}
GST_END_TEST

GST_START_TEST(every_layout_of_a_driver_is_passed_on) {
  const auto wanted = reference();
  for (const char* layout : {"padded", "gap", "two-objects", "dup-fds"}) {
    std::printf("# %s\n", layout);
    g_setenv("DXVASOFT_LAYOUT", layout, TRUE);
    const Decoded out =
        decode_well("dxvadec", {.sink_caps = kDmabufNv12, .video_meta = true, .keep = 3});
    expect_same(out.pictures, wanted);
    fail_unless_equals_uint64(out.step("exported"), 60);
    const guint memories = gst_buffer_n_memory(gst_sample_get_buffer(out.kept[0].get()));
    fail_unless_equals_int(memories, std::string(layout) == "two-objects" ? 2 : 1);
    expect_kept_right(out);
  }
}
GST_END_TEST

GST_START_TEST(tight_linear_copies_what_is_not) {
  const auto wanted = reference();
  const struct {
    const char* layout;
    const char* reason;
  } cases[] = {{"gap", "chroma-not-adjacent"}, {"two-objects", "objects-differ"}};
  for (const auto& c : cases) {
    g_setenv("DXVASOFT_LAYOUT", c.layout, TRUE);
    const Decoded out = decode_well(
        "dxvadec layout=tight-linear",
        {.sink_caps = std::string(kDmabufNv12) + ";video/x-raw", .video_meta = true});
    expect_same(out.pictures, wanted);
    fail_unless_equals_uint64(out.step("exported"), 0);
    fail_if(out.pictures[0].dmabuf);
  }
  g_setenv("DXVASOFT_LAYOUT", "tight", TRUE);
  const Decoded out = decode_well("dxvadec layout=tight-linear",
                                  {.sink_caps = kDmabufNv12, .video_meta = true});
  fail_unless_equals_uint64(out.step("exported"), 60);
}
GST_END_TEST

// The only DMABuf caps of GStreamer 1.22 say linear memory.
GST_START_TEST(tiled_surfaces_are_copied_where_caps_cannot_tell) {
  guint minor = 0;
  guint ignored = 0;
  gst_version(&ignored, &minor, &ignored, &ignored);
  if (minor >= 24) DXVA_SKIP("this GStreamer has DMA_DRM caps");
  const auto wanted = reference();
  const Options options{.sink_caps = std::string(kDmabufNv12) + ";video/x-raw",
                        .video_meta = true};
  g_setenv("DXVASOFT_LAYOUT", "tiled", TRUE);
  // Some become tiled while others are out as they are: those alone are copied.
  g_setenv("DXVASOFT_TILED_FROM", "25", TRUE);
  const Decoded some = decode_well("dxvadec", options);
  expect_same(some.pictures, wanted);
  // How many are copied is measured: the device's copy or the CPU's, and after the latter
  // linear surfaces may be asked for.
  fail_unless(some.step("exported") >= 24 && some.step("exported") < 60);
  fail_unless(some.reason("modifier-not-linear") > 0);
}
GST_END_TEST

// --- surfaces that are mapped for who reads them once

namespace {

Options reader() {
  g_setenv("DXVASOFT_FAULT", "export:from=1", TRUE);
  g_setenv("GST_DXVA_TEST", "memfd,read-in-place", TRUE);
  return {.sink_caps = std::string(kDmabufNv12) + ";video/x-raw", .reads_in_place = true};
}

}  // namespace

GST_START_TEST(a_surface_that_is_not_exported_is_read_in_place) {
  Options options = reader();
  options.at_sample = [](GstSample* sample) {
    // The decoder may still predict from this picture. A buffer then is written to in a copy.
    GstBuffer* buffer = gst_sample_get_buffer(sample);
    GstMapInfo map;
    fail_if(gst_memory_map(gst_buffer_peek_memory(buffer, 0), &map, GST_MAP_WRITE));
    GstBuffer* copy = gst_buffer_copy(buffer);
    fail_unless(gst_buffer_map(copy, &map, GST_MAP_WRITE));
    memset(map.data, 0x55, map.size);
    gst_buffer_unmap(copy, &map);
    gst_buffer_unref(copy);
  };
  const Decoded out = decode_well("dxvadec", options);
  expect_same(out.pictures, reference());
  fail_unless_equals_uint64(out.stat("read-in-place"), 60);
  fail_unless_equals_uint64(out.step("cpu-copy"), 60);
  fail_unless_equals_uint64(out.reason("export-failed"), 60);
  fail_unless_equals_uint64(out.number("read-backs", "derive-image"), 60);
}
GST_END_TEST

GST_START_TEST(one_among_exported_ones_is_read_in_place) {
  Options options = reader();
  options.sink_caps = kDmabufNv12;
  options.mixed_memory = true;
  g_setenv("DXVASOFT_FAULT", "export:surface=3", TRUE);
  const Decoded out = decode_well("dxvadec", options);
  expect_same(out.pictures, reference());
  fail_unless(out.step("exported") > 0 && out.step("cpu-copy") > 0);
  fail_unless_equals_uint64(out.stat("read-in-place"), out.step("cpu-copy"));
}
GST_END_TEST

GST_START_TEST(surfaces_kept_in_place_beyond_the_gate_are_copies_and_all_stay_right) {
  Options options = reader();
  options.keep = 40;
  const Decoded out = decode_well("dxvadec extra-surfaces=3", options);
  expect_same(out.pictures, reference());
  fail_unless_equals_uint64(out.stat("read-in-place"), 3);
  fail_unless_equals_uint64(out.step("cpu-copy"), 60);
  fail_unless_equals_uint64(out.stat("late-surfaces"), 0);
  // The pipeline is gone by now.
  expect_kept_right(out);
}
GST_END_TEST

GST_START_TEST(what_is_read_in_place_is_cropped) {
  const std::string file =
      clip("crop.mp4",
           "-c:v libx264 -threads 1 -bsf:v "
           "h264_metadata=crop_left=32:crop_right=6:crop_top=10:crop_bottom=4");
  const Decoded out = decode(source(file), "dxvadec", reader());
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, hashes_of_ffmpeg(file, 352 - 38, 288 - 14));
  fail_unless_equals_uint64(out.stat("read-in-place"), 60);
}
GST_END_TEST

GST_START_TEST(what_cannot_be_read_in_place_is_copied) {
  const auto wanted = reference();
  const Options options = reader();
  const struct {
    const char* fault;
    const char* layout;
    const char* decoder;
    const char* way;  // null: whichever
    bool in_place;
  } cases[] = {
      // A copy of vaGetImage's is as good.
      {"export:from=1,deriveimage:from=1", "padded", "dxvadec", "get-image", true},
      {"export:from=1", "two-objects", "dxvadec", "get-image", true},
      {"export:from=1,getimage:from=1", "gap", "dxvadec", "derive-image", true},
      {"export:from=1", "padded", "dxvadec zero-copy=off", nullptr, false},
  };
  for (const auto& c : cases) {
    std::printf("# %s %s %s\n", c.fault, c.layout, c.decoder);
    g_setenv("DXVASOFT_FAULT", c.fault, TRUE);
    g_setenv("DXVASOFT_LAYOUT", c.layout, TRUE);
    const Decoded out = decode_well(c.decoder, options);
    expect_same(out.pictures, wanted);
    fail_unless_equals_uint64(out.step("cpu-copy"), 60);
    // The first picture finds out that the driver derives none.
    const uint64_t in_place = out.stat("read-in-place");
    fail_unless(c.in_place ? in_place >= 59 : in_place == 0, "%u", unsigned(in_place));
    if (c.way) fail_unless(out.number("read-backs", c.way) >= 59);
  }
}
GST_END_TEST

// --- caps

GST_START_TEST(dma_bufs_come_first_where_both_are_taken) {
  const Decoded out = decode_well(
      "dxvadec", {.sink_caps = std::string("video/x-raw;") + kDmabufNv12, .video_meta = true});
  fail_unless(out.pictures[0].dmabuf);
  fail_unless_equals_int(out.caps.size(), 1);
}
GST_END_TEST

namespace {

// Takes system memory until `type` passes, and from then on everything, as a player does that
// links its sink while it is being negotiated with.
Decoded decode_for_who_learns(GstPadProbeType type, bool (*is_it)(GstPadProbeInfo*)) {
  struct Learner {
    GstPtr<GstElement> filter;
    bool (*is_it)(GstPadProbeInfo*);
  };
  static Learner learner;
  Options options{.video_meta = true};
  options.before_start = [&](GstElement* pipeline) {
    learner = {child(GstPtr<GstElement>::share(pipeline), "dec"), is_it};
    const auto pad =
        GstPtr<GstPad>::adopt(gst_element_get_static_pad(learner.filter.get(), "sink"));
    gst_pad_add_probe(
        pad.get(), type,
        [](GstPad*, GstPadProbeInfo* info, gpointer) {
          if (!learner.is_it(info)) return GST_PAD_PROBE_OK;
          const auto anything = GstPtr<GstCaps>::adopt(gst_caps_new_any());
          g_object_set(learner.filter.get(), "caps", anything.get(), nullptr);
          return GST_PAD_PROBE_REMOVE;
        },
        nullptr, nullptr);
  };
  options.sink_caps = std::string(kDmabufNv12) + ";video/x-raw";
  // The filter has the name that the rig gives to what is behind the source.
  Decoded out = decode(source(h264_mp4()), "dxvadec ! capsfilter caps=video/x-raw", options);
  learner = {};
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  return out;
}

void expect_all_but_the_first_exported(const Decoded& out) {
  expect_same(out.pictures, reference());
  for (size_t i = 1; i < out.pictures.size(); ++i)
    fail_unless(out.pictures[i].dmabuf, "picture %zu", i);
}

}  // namespace

GST_START_TEST(who_takes_more_in_the_middle_of_the_caps_event_gets_it) {
  expect_all_but_the_first_exported(
      decode_for_who_learns(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, [](GstPadProbeInfo* info) {
        return GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS;
      }));
}
GST_END_TEST

GST_START_TEST(who_takes_more_in_the_middle_of_the_allocation_query_gets_it) {
  expect_all_but_the_first_exported(
      decode_for_who_learns(GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, [](GstPadProbeInfo* info) {
        return GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_ALLOCATION;
      }));
}
GST_END_TEST

// Pitches and offsets of surfaces are seldom the default ones.
GST_START_TEST(without_video_meta_downstream_gets_system_memory) {
  const Decoded out =
      decode_well("dxvadec", {.sink_caps = std::string(kDmabufNv12) + ";video/x-raw"});
  expect_same(out.pictures, reference());
  fail_if(out.pictures[0].dmabuf);
  fail_unless_equals_uint64(out.reason("downstream-no-dmabuf"), 60);
}
GST_END_TEST

GST_START_TEST(who_takes_only_dma_bufs_gets_them_without_being_asked_for_video_meta) {
  const Decoded out = decode_well("dxvadec", {.sink_caps = kDmabufNv12});
  fail_unless_equals_uint64(out.step("exported"), 60);
}
GST_END_TEST

GST_START_TEST(mixed_memory_is_for_who_says_so) {
  const Decoded out = decode_well("dxvadec extra-surfaces=2",
                                  {.sink_caps = kDmabufNv12, .mixed_memory = true, .keep = 20});
  expect_same(out.pictures, reference());
  size_t system = 0;
  for (const Picture& picture : out.pictures) system += picture.dmabuf ? 0 : 1;
  fail_unless_equals_uint64(out.step("cpu-copy"), system);
  fail_unless(system >= 18);
  fail_unless_equals_int(out.caps.size(), 1);
  expect_kept_right(out);
}
GST_END_TEST

namespace {

constexpr size_t kFilled = 20;  // the pictures that are out when the sink begins, and more

// A sink with a clock behind a queue that was filled before the clock began, which holds more
// pictures than extra-surfaces: how many of those behind the first kFilled are copies.
size_t copies_after_a_pause(Options options) {
  options.sink_caps = kDmabufNv12;
  options.mixed_memory = true;
  // The queue has more copies in a row than any wait for a surface is long.
  constexpr gulong kPause_us = 500'000, kPicture_us = 25'000;
  options.at_picture = [](GstElement*, size_t pictures) {
    g_usleep(pictures == 1 ? kPause_us : kPicture_us);
  };
  const Decoded out = decode(source(h264_mp4()),
                             "dxvadec name=decoder ! "
                             "queue max-size-bytes=0 max-size-time=0 max-size-buffers=12",
                             options);
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, reference());
  size_t before = 0, after = 0;
  for (size_t i = 0; i < out.pictures.size(); ++i)
    if (!out.pictures[i].dmabuf) ++(i < kFilled ? before : after);
  fail_unless(before >= 4, "%zu", before);
  return after;
}

}  // namespace

GST_START_TEST(a_queue_that_a_pause_filled_with_copies_holds_surfaces_again) {
  // A busy machine may be late for one or the other, or for a whole run.
  size_t fewest = copies_after_a_pause({});
  for (int i = 0; i < 4 && fewest > 3; ++i) fewest = std::min(fewest, copies_after_a_pause({}));
  fail_unless(fewest <= 3, "%zu", fewest);
}
GST_END_TEST

// What it makes while nobody takes it may be lost.
GST_START_TEST(a_live_source_is_not_stopped_until_copies_are_back) {
  Options options;
  options.before_start = [](GstElement* pipeline) {
    const auto decoder = child(GstPtr<GstElement>::share(pipeline), "decoder");
    const auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(decoder.get(), "sink"));
    gst_pad_add_probe(
        pad.get(), GST_PAD_PROBE_TYPE_QUERY_UPSTREAM,
        [](GstPad*, GstPadProbeInfo* info, gpointer) {
          GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
          if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) return GST_PAD_PROBE_OK;
          gst_query_set_latency(query, TRUE, 0, GST_CLOCK_TIME_NONE);
          return GST_PAD_PROBE_HANDLED;
        },
        nullptr, nullptr);
  };
  size_t most = copies_after_a_pause(options);
  for (int i = 0; i < 4 && most <= 8; ++i) most = std::max(most, copies_after_a_pause(options));
  fail_unless(most > 8, "%zu", most);
}
GST_END_TEST

GST_START_TEST(a_failed_import_makes_copies_of_that_surface_only) {
  std::set<uint64_t> refused;
  size_t exported_again = 0;
  Options options{.sink_caps = kDmabufNv12, .mixed_memory = true};
  GstElement* pipeline = nullptr;
  options.at_picture = [&](GstElement* p, size_t) { pipeline = p; };
  options.at_sample = [&](GstSample* sample) {
    GstBuffer* buffer = gst_sample_get_buffer(sample);
    GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
    if (!pipeline || !gst_is_dmabuf_memory(memory)) return;
    struct stat facts {};
    fstat(gst_dmabuf_memory_get_fd(memory), &facts);
    if (refused.count(facts.st_ino)) ++exported_again;
    if (refused.size() >= 4 || !refused.insert(facts.st_ino).second) return;
    auto sink = GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline), "sink"));
    auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(sink.get(), "sink"));
    fail_unless(gst_pad_push_event(
        pad.get(),
        gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM,
                             gst_structure_new("dxva-import-failed", "inode", G_TYPE_UINT64,
                                               guint64(facts.st_ino), "device", G_TYPE_UINT64,
                                               guint64(facts.st_dev), "reason", G_TYPE_STRING,
                                               "egl-bad-match", nullptr))));
  };
  const Decoded out = decode_well("dxvadec", options);
  expect_same(out.pictures, reference());
  fail_unless_equals_int(refused.size(), 4);
  fail_unless(out.reason("egl-bad-match") > 0);
  fail_unless(out.step("exported") > 20);
  // One that was on its way already.
  fail_unless(exported_again <= 4);
}
GST_END_TEST

static Suite* dxvadec_memory_suite() {
  Suite* suite = suite_create("dxvadec_memory");
  TCase* count = tcase_create("how many");
  tcase_set_timeout(count, 120);
  tcase_add_test(count, a_picture_that_was_waited_for_says_so);
  tcase_add_test(count, buffers_kept_beyond_the_gate_are_copies_and_all_stay_right);
  tcase_add_test(count, system_memory_buffers_are_nobodys_surface);
  tcase_add_test(count, zero_copy_require_makes_late_surfaces_instead_of_copies);
  tcase_add_test(count, zero_copy_require_fails_where_downstream_takes_no_dma_bufs);
  tcase_add_test(count, zero_copy_off_copies_and_says_so);
  tcase_add_test(count, copies_leave_most_surfaces_alone);
  tcase_add_test(count, a_queue_that_a_pause_filled_with_copies_holds_surfaces_again);
  tcase_add_test(count, a_live_source_is_not_stopped_until_copies_are_back);
  tcase_add_test(count, the_environment_turns_zero_copy_off);
  tcase_add_test(count, planar_system_memory_is_one_copy_too);
  tcase_add_test(count, a_kept_picture_costs_two_descriptors);
  suite_add_tcase(suite, count);
  TCase* one = tcase_create("one buffer");
  tcase_set_timeout(one, 120);
  tcase_add_test(one, a_surface_keeps_its_memory_object);
  tcase_add_test(one, a_shared_memory_keeps_its_surface);
  tcase_add_test(one, writing_to_a_buffer_does_not_touch_the_surface);
  tcase_add_test(one, every_layout_of_a_driver_is_passed_on);
  tcase_add_test(one, tight_linear_copies_what_is_not);
  tcase_add_test(one, tiled_surfaces_are_copied_where_caps_cannot_tell);
  suite_add_tcase(suite, one);
  TCase* mapped = tcase_create("mapped");
  tcase_set_timeout(mapped, 120);
  tcase_add_test(mapped, a_surface_that_is_not_exported_is_read_in_place);
  tcase_add_test(mapped, one_among_exported_ones_is_read_in_place);
  tcase_add_test(mapped, surfaces_kept_in_place_beyond_the_gate_are_copies_and_all_stay_right);
  tcase_add_test(mapped, what_is_read_in_place_is_cropped);
  tcase_add_test(mapped, what_cannot_be_read_in_place_is_copied);
  suite_add_tcase(suite, mapped);
  TCase* caps = tcase_create("caps");
  tcase_set_timeout(caps, 120);
  tcase_add_test(caps, dma_bufs_come_first_where_both_are_taken);
  tcase_add_test(caps, who_takes_more_in_the_middle_of_the_caps_event_gets_it);
  tcase_add_test(caps, who_takes_more_in_the_middle_of_the_allocation_query_gets_it);
  tcase_add_test(caps, without_video_meta_downstream_gets_system_memory);
  tcase_add_test(caps, who_takes_only_dma_bufs_gets_them_without_being_asked_for_video_meta);
  tcase_add_test(caps, mixed_memory_is_for_who_says_so);
  tcase_add_test(caps, a_failed_import_makes_copies_of_that_surface_only);
  suite_add_tcase(suite, caps);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_memory_suite(), "dxvadec_memory", __FILE__);
}
