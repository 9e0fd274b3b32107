// SPDX-License-Identifier: LGPL-2.1-or-later

// What a picture that somebody keeps costs in descriptors, in the whole process. Peers hold
// four and end a stream at the limit of 1024 after 255 pictures, without an error.

#include <dirent.h>
#include <gst/allocators/gstdmabuf.h>
#include <gst/gst.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
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

constexpr size_t kHeld = 24;

using File = std::pair<dev_t, ino_t>;

// Descriptors of this process that name one of these files.
size_t open_on(const std::set<File>& files) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  size_t count = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    struct stat file {};
    if (entry->d_name[0] != '.' && ::fstat(std::atoi(entry->d_name), &file) == 0 &&
        files.contains({file.st_dev, file.st_ino}))
      ++count;
  }
  return count;
}

struct Keeper {
  std::vector<GstPtr<GstBuffer>> kept;
  std::set<File> files;
  size_t descriptors = 0;  // on them, when all have gone through the uploader
};

GstPadProbeReturn keep(GstPad*, GstPadProbeInfo* info, gpointer data) {
  auto& keeper = *static_cast<Keeper*>(data);
  if (keeper.kept.size() == kHeld) {
    if (keeper.descriptors == 0) keeper.descriptors = open_on(keeper.files);
    return GST_PAD_PROBE_OK;
  }
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  fail_unless(gst_is_dmabuf_memory(memory), "picture %zu is no dma-buf", keeper.kept.size());
  struct stat file {};
  fail_unless(::fstat(gst_dmabuf_memory_get_fd(memory), &file) == 0);
  keeper.files.emplace(file.st_dev, file.st_ino);
  keeper.kept.push_back(GstPtr<GstBuffer>::share(buffer));
  return GST_PAD_PROBE_OK;
}

size_t descriptors_held(const char* import, uint64_t& images) {
  const std::string text =
      source(clip("held.mp4", "-c:v libx264 -preset ultrafast -g 10 -bf 2 -threads 1",
                  "160x120", 60)) +
      " ! dxvadec extra-surfaces=32 ! dxvaglupload name=up import=" + import +
      " ! video/x-raw(memory:GLMemory),format=NV12 ! fakesink sync=false";
  GError* error = nullptr;
  auto pipeline = GstPtr<GstElement>::adopt(gst_parse_launch(text.c_str(), &error));
  fail_unless(pipeline && !error, "%s: %s", text.c_str(), error ? error->message : "");
  Keeper keeper;
  auto up = GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline.get()), "up"));
  auto pad = GstPtr<GstPad>::adopt(gst_element_get_static_pad(up.get(), "sink"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, keep, &keeper, nullptr);
  const uint64_t before = call_counts().images;
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  auto bus = GstPtr<GstBus>::adopt(gst_element_get_bus(pipeline.get()));
  auto end = GstPtr<GstMessage>::adopt(gst_bus_timed_pop_filtered(
      bus.get(), GST_CLOCK_TIME_NONE,
      static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  fail_unless_equals_int(GST_MESSAGE_TYPE(end.get()), GST_MESSAGE_EOS);
  images = call_counts().images - before;
  fail_unless_equals_int(keeper.files.size(), kHeld);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  std::printf("# import=%s: %zu descriptors on %zu pictures\n", import, keeper.descriptors,
              kHeld);
  return keeper.descriptors;
}

GST_START_TEST(a_kept_picture_costs_one_descriptor_beside_the_drivers) {
  uint64_t images = 0;
  // The bundled driver has one on each surface, which is its memory; ours is the export, which
  // surface and GstMemory share.
  fail_unless_equals_int(descriptors_held("copy", images), 2 * kHeld);
  fail_unless_equals_uint64(images, 0);
}
GST_END_TEST;

GST_START_TEST(an_imported_picture_costs_what_the_gl_driver_keeps_and_no_more) {
  uint64_t images = 0;
  const size_t held = descriptors_held("egl", images);
  if (rig_must_import()) fail_unless(images >= 2 * kHeld);
  if (images == 0) DXVA_SKIP("nothing is imported here");
  // llvmpipe duplicates the descriptor for each image, here one per plane; drivers of GPUs keep
  // a handle of the buffer instead. dxvaglupload_import shows that none of them is ours.
  fail_unless(held <= 4 * kHeld, "%zu descriptors on %zu pictures", held, kHeld);
}
GST_END_TEST;

Suite* held_frames_suite() {
  Suite* suite = suite_create("held_frames");
  TCase* tcase = tcase_create("general");
  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, a_kept_picture_costs_one_descriptor_beside_the_drivers);
  tcase_add_test(tcase, an_imported_picture_costs_what_the_gl_driver_keeps_and_no_more);
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  if (!set_up_gl_rig(&argc, &argv) || !set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(held_frames_suite(), "held_frames", __FILE__);
}
