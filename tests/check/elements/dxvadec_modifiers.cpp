// SPDX-License-Identifier: LGPL-2.1-or-later
// Surfaces in a layout that downstream does not take: the driver is asked for another one, and
// what comes out of that is believed, not what was asked for.
#include <dlfcn.h>
#include <gst/allocators/gstdmabuf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "gst/common/gst_ptr.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/decode_rig.hpp"

using namespace dxva::test;

namespace {

template <typename Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// DMA_DRM caps are words to dxvadec and to its base class: GStreamer 1.22 carries them as well
// as 1.24, once it says that it is one. It says so from the start: the process that first reads
// the plugin has its templates for good, and hands them to each case. Only the base class's
// pool, which nobody uses, must not see them.
extern "C" {
[[gnu::visibility("default")]] void gst_version(guint* major, guint* minor, guint* micro,
                                                guint* nano) {
  real<decltype(&gst_version)>("gst_version")(major, minor, micro, nano);
  *minor = std::max(*minor, 24u);
}

[[gnu::visibility("default")]] gboolean gst_buffer_pool_set_config(GstBufferPool* pool,
                                                                   GstStructure* config) {
  GstCaps* caps = nullptr;
  guint size = 0, least = 0, most = 0;
  if (gst_buffer_pool_config_get_params(config, &caps, &size, &least, &most) && caps &&
      gst_structure_has_field(gst_caps_get_structure(caps, 0), "drm-format")) {
    const auto plain = dxva::gst::GstPtr<GstCaps>::adopt(
        gst_caps_from_string("video/x-raw,format=NV12,width=16,height=16"));
    gst_buffer_pool_config_set_params(config, plain.get(), 16 * 16 * 3 / 2, least, most);
  }
  return real<decltype(&gst_buffer_pool_set_config)>("gst_buffer_pool_set_config")(pool,
                                                                                   config);
}
}

namespace {

const std::string kSystemToo = std::string(kDmabufNv12) + ";video/x-raw";

std::vector<Picture> reference(const std::string& from = source(h264_mp4())) {
  return decode(from, "avdec_h264").pictures;
}

// The bundled driver, whose own layout is the one of its tiles.
void tiled_driver(const char* modifiers) {
  g_setenv("DXVASOFT_LAYOUT", "tiled", TRUE);
  g_setenv("DXVASOFT_MODIFIERS", modifiers, TRUE);
}

std::string drm_caps(const std::string& formats) {
  return "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format={" + formats + "}";
}

void expect_exported(const Decoded& out, const std::vector<Picture>& wanted) {
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, wanted);
  fail_unless_equals_uint64(out.step("exported"), wanted.size());
  fail_unless_equals_int(out.caps.size(), 1);
  fail_unless(out.path_changes.empty());
  for (const Picture& picture : out.pictures) fail_unless(picture.dmabuf);
}

void expect_copied(const Decoded& out, const std::vector<Picture>& wanted, const char* reason) {
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, wanted);
  fail_unless_equals_uint64(out.step("cpu-copy"), wanted.size());
  fail_unless_equals_uint64(out.reason(reason), wanted.size());
  fail_unless_equals_int(out.caps.size(), 1);
}

}  // namespace

GST_START_TEST(a_tiling_driver_makes_linear_surfaces_where_only_those_are_taken) {
  tiled_driver("honoured");
  const auto wanted = reference();
  for (const char* decoder : {"dxvadec", "dxvadec layout=tight-linear",
                              "dxvadec zero-copy=require", "dxvadec software-fallback=false"}) {
    std::printf("# %s\n", decoder);
    const Decoded out =
        decode(source(h264_mp4()), decoder, {.sink_caps = kDmabufNv12, .video_meta = true});
    expect_exported(out, wanted);
    fail_unless_equals_uint64(out.stat("errors"), 0);
  }
}
GST_END_TEST

// Also one that came out only at the end of the stream, when all packets were in.
GST_START_TEST(a_stream_of_a_few_pictures_gets_them_too) {
  tiled_driver("honoured");
  const std::string from = source(clip("short.mp4", "-c:v libx264 -threads 1", "64x64", 4));
  expect_exported(decode(from, "dxvadec", {.sink_caps = kDmabufNv12, .video_meta = true}),
                  reference(from));
}
GST_END_TEST

GST_START_TEST(other_caps_need_no_second_question) {
  tiled_driver("honoured");
  const std::string log = new_driver_log();
  const auto wanted = reference(source(h264_two_sizes()));
  const Decoded out = decode(source(h264_two_sizes()), "dxvadec",
                             {.sink_caps = kDmabufNv12, .video_meta = true});
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, wanted);
  fail_unless_equals_uint64(out.step("exported"), 20);
  // Tiled, then linear, then linear in the other size.
  fail_unless_equals_int(count_driver_calls(log, "createsurfaces"), 3);
}
GST_END_TEST

GST_START_TEST(what_a_driver_does_with_the_list_is_seen_and_not_believed) {
  const auto wanted = reference();
  for (const char* modifiers : {"ignored", "refused", "unlisted"}) {
    std::printf("# %s\n", modifiers);
    tiled_driver(modifiers);
    for (const char* decoder : {"dxvadec", "dxvadec layout=tight-linear"}) {
      const Decoded out =
          decode(source(h264_mp4()), decoder, {.sink_caps = kSystemToo, .video_meta = true});
      expect_copied(out, wanted, "modifier-not-linear");
      // The device's copies are tiled as well.
      fail_unless(out.text("gpu-copy-refused", "layout").find("0x7f00000000000001") !=
                      std::string::npos,
                  "%s", out.text("gpu-copy-refused", "layout").c_str());
    }
    const Decoded required = decode(source(h264_mp4()), "dxvadec zero-copy=require",
                                    {.sink_caps = kSystemToo, .video_meta = true});
    fail_unless(required.error.find("modifier-not-linear") != std::string::npos, "%s",
                required.error.c_str());
  }
}
GST_END_TEST

GST_START_TEST(a_device_that_fails_on_the_remade_surfaces_costs_no_picture) {
  tiled_driver("honoured");
  const auto wanted = reference();
  // The second picture of the second attempt, the call that makes its context, its surfaces.
  for (const char* fault : {"endpicture:at=8", "endpicture:from=4", "createcontext:at=2",
                            "createsurfaces:at=2", "createsurfaces:from=2"}) {
    std::printf("# %s\n", fault);
    g_setenv("DXVASOFT_FAULT", fault, TRUE);
    const Decoded out =
        decode(source(h264_mp4()), "dxvadec", {.sink_caps = kSystemToo, .video_meta = true});
    fail_unless(out.error.empty(), "%s", out.error.c_str());
    expect_same(out.pictures, wanted);
  }
}
GST_END_TEST

// --- DMA_DRM, of GStreamer 1.24 and of those that say they are

GST_START_TEST(dma_drm_caps_say_the_layout_that_the_driver_made) {
  tiled_driver("honoured");
  const auto wanted = reference();
  // Second in the list is good enough: it is what the driver decodes into best.
  for (const char* formats : {"NV12:0x7f00000000000001", "NV12, NV12:0x7f00000000000001"}) {
    const Decoded out = decode(source(h264_mp4()), "dxvadec",
                               {.sink_caps = drm_caps(formats), .video_meta = true});
    expect_exported(out, wanted);
    fail_unless(out.caps[0].find("NV12:0x7f00000000000001") != std::string::npos, "%s",
                out.caps[0].c_str());
  }
}
GST_END_TEST

GST_START_TEST(of_several_layouts_the_driver_makes_one_that_is_listed) {
  tiled_driver("honoured");
  const Decoded out = decode(
      source(h264_mp4()), "dxvadec",
      {.sink_caps = drm_caps("P010, NV12:0x0100000000000002, NV12"), .video_meta = true});
  expect_exported(out, reference());
  fail_if(out.caps[0].find("0x") != std::string::npos, "%s", out.caps[0].c_str());
}
GST_END_TEST

GST_START_TEST(a_layout_that_no_driver_makes_is_a_copy_with_that_reason) {
  for (const char* layout : {"tight", "tiled"}) {
    tiled_driver("honoured");
    g_setenv("DXVASOFT_LAYOUT", layout, TRUE);
    const Decoded out =
        decode(source(h264_mp4()), "dxvadec",
               {.sink_caps = drm_caps("NV12:0x0100000000000002") + ";video/x-raw",
                .video_meta = true});
    expect_copied(out, reference(), "modifier-not-importable");
  }
}
GST_END_TEST

GST_START_TEST(surfaces_that_turn_to_a_layout_downstream_lacks_are_copied_alone) {
  tiled_driver("honoured");
  g_setenv("DXVASOFT_TILED_FROM", "25", TRUE);
  const Decoded out =
      decode(source(h264_mp4()), "dxvadec",
             {.sink_caps = drm_caps("NV12") + ";video/x-raw", .video_meta = true});
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, reference());
  // Which copy is the faster one is measured; after the CPU's, linear surfaces may be asked
  // for.
  fail_unless(out.step("exported") >= 24 && out.step("exported") < 60);
  fail_unless(out.reason("modifier-not-linear") > 0);
}
GST_END_TEST

namespace {

// A consumer that lists a tiling and then cannot import it, as dxvaglupload says it.
Options refusing_tiles(const std::string& caps) {
  struct Refused {
    struct stat file {};
    bool news = false;
  };
  const auto refused = std::make_shared<Refused>();
  Options out{.sink_caps = caps, .video_meta = true};
  out.at_sample = [refused](GstSample* sample) {
    const GstStructure* caps_now = gst_caps_get_structure(gst_sample_get_caps(sample), 0);
    const char* drm = gst_structure_get_string(caps_now, "drm-format");
    GstMemory* memory = gst_buffer_peek_memory(gst_sample_get_buffer(sample), 0);
    refused->news = drm && std::strstr(drm, ":0x") &&
                    ::fstat(gst_dmabuf_memory_get_fd(memory), &refused->file) == 0;
  };
  out.at_picture = [refused](GstElement* pipeline, size_t) {
    if (!refused->news) return;
    const auto sink =
        dxva::gst::GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline), "sink"));
    GstStructure* what = gst_structure_new(
        "dxva-import-failed", "device", G_TYPE_UINT64, guint64{refused->file.st_dev}, "inode",
        G_TYPE_UINT64, guint64{refused->file.st_ino}, "reason", G_TYPE_STRING,
        "modifier-not-importable", nullptr);
    fail_unless(gst_element_send_event(sink.get(),
                                       gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, what)));
  };
  return out;
}

// Few pictures were on their way when the first refusal came.
constexpr uint64_t kMostOnTheWay = 12;

}  // namespace

GST_START_TEST(after_a_tiling_that_cannot_be_imported_the_driver_makes_other_surfaces) {
  tiled_driver("honoured");
  const Decoded out = decode(source(h264_mp4()), "dxvadec",
                             refusing_tiles(drm_caps("NV12:0x7f00000000000001, NV12")));
  const auto wanted = reference();
  fail_unless(out.error.empty(), "%s", out.error.c_str());
  expect_same(out.pictures, wanted);
  fail_unless_equals_uint64(out.step("exported"), wanted.size());
  fail_unless_equals_int(out.caps.size(), 2);
  fail_if(out.caps[1].find(":0x") != std::string::npos, "%s", out.caps[1].c_str());
}
GST_END_TEST

GST_START_TEST(after_a_tiling_that_cannot_be_imported_the_device_copies) {
  tiled_driver("not-decoded");
  const auto wanted = reference();
  const std::string both = drm_caps("NV12:0x7f00000000000001, NV12");
  // `require` leaves nothing to measure the device's copies against.
  const Decoded required =
      decode(source(h264_mp4()), "dxvadec zero-copy=require", refusing_tiles(both));
  fail_unless(required.error.empty(), "%s", required.error.c_str());
  expect_same(required.pictures, wanted);
  fail_unless(required.step("exported") <= kMostOnTheWay, "%" G_GUINT64_FORMAT " exported",
              required.step("exported"));
  fail_unless_equals_uint64(required.step("gpu-copy") + required.step("exported"),
                            wanted.size());
  fail_unless(required.reason("modifier-not-importable") > 0);
  fail_unless_equals_int(required.caps.size(), 2);
  fail_if(required.caps[1].find(":0x") != std::string::npos, "%s", required.caps[1].c_str());

  const Decoded measured =
      decode(source(h264_mp4()), "dxvadec", refusing_tiles(both + ";video/x-raw"));
  fail_unless(measured.error.empty(), "%s", measured.error.c_str());
  expect_same(measured.pictures, wanted);
  fail_unless(measured.step("gpu-copy") > 0);
}
GST_END_TEST

GST_START_TEST(after_a_tiling_that_cannot_be_imported_the_cpu_copies_where_nobody_else_can) {
  const auto wanted = reference();
  // A device that cannot copy, and a consumer that takes nothing that it could copy into.
  for (const auto& [fault, formats] :
       {std::pair{"vpp:from=1,copy:from=1", "NV12:0x7f00000000000001, NV12"},
        std::pair{"", "NV12:0x7f00000000000001"}}) {
    tiled_driver("not-decoded");
    g_setenv("DXVASOFT_FAULT", fault, TRUE);
    const Decoded out = decode(source(h264_mp4()), "dxvadec",
                               refusing_tiles(drm_caps(formats) + ";video/x-raw"));
    fail_unless(out.error.empty(), "%s", out.error.c_str());
    expect_same(out.pictures, wanted);
    fail_unless_equals_uint64(out.step("gpu-copy"), 0);
    fail_unless_equals_uint64(out.step("cpu-copy") + out.step("exported"), wanted.size());
    fail_unless(out.step("exported") <= kMostOnTheWay);
    fail_unless_equals_uint64(out.reason("modifier-not-importable"), out.step("cpu-copy"));
  }
}
GST_END_TEST

static Suite* dxvadec_modifiers_suite() {
  Suite* suite = suite_create("dxvadec_modifiers");
  TCase* linear = tcase_create("linear only");
  tcase_set_timeout(linear, 120);
  tcase_add_test(linear, a_tiling_driver_makes_linear_surfaces_where_only_those_are_taken);
  tcase_add_test(linear, a_stream_of_a_few_pictures_gets_them_too);
  tcase_add_test(linear, other_caps_need_no_second_question);
  tcase_add_test(linear, what_a_driver_does_with_the_list_is_seen_and_not_believed);
  tcase_add_test(linear, a_device_that_fails_on_the_remade_surfaces_costs_no_picture);
  suite_add_tcase(suite, linear);
  TCase* drm = tcase_create("DMA_DRM");
  tcase_set_timeout(drm, 120);
  tcase_add_test(drm, dma_drm_caps_say_the_layout_that_the_driver_made);
  tcase_add_test(drm, of_several_layouts_the_driver_makes_one_that_is_listed);
  tcase_add_test(drm, a_layout_that_no_driver_makes_is_a_copy_with_that_reason);
  tcase_add_test(drm, surfaces_that_turn_to_a_layout_downstream_lacks_are_copied_alone);
  tcase_add_test(drm, after_a_tiling_that_cannot_be_imported_the_driver_makes_other_surfaces);
  tcase_add_test(drm, after_a_tiling_that_cannot_be_imported_the_device_copies);
  tcase_add_test(drm,
                 after_a_tiling_that_cannot_be_imported_the_cpu_copies_where_nobody_else_can);
  suite_add_tcase(suite, drm);
  return suite;
}

int main(int argc, char** argv) {
  if (!set_up_decode_rig(&argc, &argv)) return 77;
  return gst_check_run_suite(dxvadec_modifiers_suite(), "dxvadec_modifiers", __FILE__);
}
