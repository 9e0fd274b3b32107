// SPDX-License-Identifier: LGPL-2.1-or-later

// lib/va on the bundled driver, over every memory layout it can take: the picture that was put
// into a surface must come out of the export's memory and of the CPU mapping alike.

#include <va/va.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/dmabuf/mapping.hpp"
#include "lib/va/cpu_mapper.hpp"
#include "lib/va/exporter.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;
using video::LayoutClass;

namespace {

struct LayoutCase {
  const char* name;
  LayoutClass expected;
  uint32_t objects;
};
// A row of 98 NV12 pixels gets a pitch of 128.
constexpr std::array kLayouts = {
    LayoutCase{"tight", LayoutClass::TightLinear, 1},
    LayoutCase{"padded", LayoutClass::Linear, 1},
    LayoutCase{"gap", LayoutClass::Linear, 1},
    LayoutCase{"two-objects", LayoutClass::Linear, 2},
    LayoutCase{"dup-fds", LayoutClass::TightLinear, 1},
};
constexpr std::array kFormats = {format::kNV12, format::kP010};
constexpr uint32_t kWidth = 98;
constexpr uint32_t kHeight = 54;

std::shared_ptr<va::Display> open_display(const char* layout = "tight",
                                          const char* faults = nullptr) {
  ::setenv("DXVASOFT_LAYOUT", layout, 1);
  if (faults)
    ::setenv("DXVASOFT_FAULT", faults, 1);
  else
    ::unsetenv("DXVASOFT_FAULT");
  auto display = va::Display::open({.kind = va::DeviceChoice::Kind::Software});
  fail_unless(bool(display), "%s", display ? "" : display.error().describe().c_str());
  return *display;
}

class TestSurface {
 public:
  TestSurface(const va::Display& display, uint32_t fourcc) : display_(display.get()) {
    VASurfaceAttrib format{};
    format.type = VASurfaceAttribPixelFormat;
    format.flags = VA_SURFACE_ATTRIB_SETTABLE;
    format.value.type = VAGenericValueTypeInteger;
    format.value.value.i = static_cast<int>(va::va_fourcc(fourcc));
    const uint32_t rt = fourcc == format::kP010 ? VA_RT_FORMAT_YUV420_10 : VA_RT_FORMAT_YUV420;
    fail_unless(vaCreateSurfaces(display_, rt, kWidth, kHeight, &id_, 1, &format, 1) ==
                VA_STATUS_SUCCESS);
  }
  ~TestSurface() { vaDestroySurfaces(display_, &id_, 1); }
  TestSurface(const TestSurface&) = delete;
  TestSurface& operator=(const TestSurface&) = delete;

  [[nodiscard]] VASurfaceID id() const { return id_; }

 private:
  VADisplay display_;
  VASurfaceID id_ = VA_INVALID_SURFACE;
};

// Differs for neighbours, rows and planes.
uint8_t pattern(uint32_t plane, uint32_t row, uint32_t x) {
  return static_cast<uint8_t>(plane * 101 + row * 31 + x * 7 + 1);
}

void put_picture(const va::Display& display, VASurfaceID surface, uint32_t fourcc) {
  VAImageFormat format{.fourcc = va::va_fourcc(fourcc), .byte_order = VA_LSB_FIRST};
  VAImage image{};
  fail_unless(vaCreateImage(display.get(), &format, kWidth, kHeight, &image) ==
              VA_STATUS_SUCCESS);
  void* data = nullptr;
  fail_unless(vaMapBuffer(display.get(), image.buf, &data) == VA_STATUS_SUCCESS);
  for (uint32_t p = 0; p < 2; ++p)
    for (uint32_t row = 0; row < video::plane_rows(p, kHeight); ++row)
      for (uint32_t x = 0; x < video::plane_row_bytes(fourcc, p, kWidth); ++x)
        static_cast<uint8_t*>(data)[image.offsets[p] + row * image.pitches[p] + x] =
            pattern(p, row, x);
  vaUnmapBuffer(display.get(), image.buf);
  fail_unless(vaPutImage(display.get(), surface, image.image_id, 0, 0, kWidth, kHeight, 0, 0,
                         kWidth, kHeight) == VA_STATUS_SUCCESS);
  vaDestroyImage(display.get(), image.image_id);
}

void expect_picture(const uint8_t* plane, uint32_t p, uint64_t pitch, uint32_t fourcc) {
  for (uint32_t row = 0; row < video::plane_rows(p, kHeight); ++row)
    for (uint32_t x = 0; x < video::plane_row_bytes(fourcc, p, kWidth); ++x)
      fail_unless_equals_int(plane[row * pitch + x], pattern(p, row, x));
}

GST_START_TEST(software_device_is_the_bundled_driver) {
  const auto display = open_display();
  fail_unless(display->is_software());
  fail_unless(display->node() == "software");
  fail_unless(display->vendor().find("dxvasoft") != std::string::npos, "%s",
              display->vendor().c_str());
  bool h264 = false;
  for (VAProfile profile : display->profiles()) {
    h264 |= profile == VAProfileH264High;
    auto caps = display->decode_caps(profile);
    fail_unless(bool(caps), "profile %d", profile);
    fail_if(caps->fourccs.empty());
    fail_unless(caps->exports_prime2);
  }
  fail_unless(h264);
}
GST_END_TEST;

GST_START_TEST(export_shows_the_picture_in_every_layout) {
  for (const LayoutCase& layout : kLayouts) {
    const auto display = open_display(layout.name);
    for (uint32_t fourcc : kFormats) {
      const TestSurface surface(*display, fourcc);
      put_picture(*display, surface.id(), fourcc);
      auto frame = va::export_surface(*display, surface.id());
      fail_unless(bool(frame), "%s: %s", layout.name,
                  frame ? "" : frame.error().describe().c_str());
      fail_unless_equals_int(frame->object_count, layout.objects);
      const auto found = video::classify(frame->describe(), video::LayoutRule::Any);
      fail_unless(found && found->layout_class == layout.expected, "%s", layout.name);
      for (uint32_t p = 0; p < 2; ++p) {
        const auto& plane = frame->planes[p];
        const auto& object = frame->objects[plane.object];
        auto access = dmabuf::CpuAccess::begin(object.fd.get(), dmabuf::Access::Read);
        auto memory =
            dmabuf::Mapping::map(object.fd.get(), object.size_bytes, dmabuf::Access::Read);
        fail_unless(access && memory);
        expect_picture(memory->data() + plane.offset, p, plane.pitch_bytes, fourcc);
      }
    }
  }
}
GST_END_TEST;

GST_START_TEST(mapping_shows_the_picture_in_every_layout) {
  for (const LayoutCase& layout : kLayouts) {
    const auto display = open_display(layout.name);
    for (uint32_t fourcc : kFormats) {
      const TestSurface surface(*display, fourcc);
      put_picture(*display, surface.id(), fourcc);
      auto mapping = va::map_for_read(display, surface.id(), fourcc, kWidth, kHeight);
      fail_unless(bool(mapping), "%s: %s", layout.name,
                  mapping ? "" : mapping.error().describe().c_str());
      const video::FrameView& view = mapping->view();
      for (uint32_t p = 0; p < 2; ++p)
        expect_picture(view.planes[p].data, p, view.planes[p].pitch_bytes, fourcc);
    }
  }
}
GST_END_TEST;

GST_START_TEST(mapping_survives_a_driver_that_cannot_derive) {
  const auto display = open_display("tight", "deriveimage:every=1");
  const TestSurface surface(*display, format::kNV12);
  put_picture(*display, surface.id(), format::kNV12);
  auto mapping = va::map_for_read(display, surface.id(), format::kNV12, kWidth, kHeight);
  fail_unless(bool(mapping));
  for (uint32_t p = 0; p < 2; ++p)
    expect_picture(mapping->view().planes[p].data, p, mapping->view().planes[p].pitch_bytes,
                   format::kNV12);
}
GST_END_TEST;

GST_START_TEST(exports_of_one_surface_are_one_buffer) {
  const auto display = open_display();
  const TestSurface surface(*display, format::kNV12);
  const TestSurface other(*display, format::kNV12);
  const auto one = va::export_surface(*display, surface.id());
  const auto again = va::export_surface(*display, surface.id());
  const auto different = va::export_surface(*display, other.id());
  fail_unless(one && again && different);
  fail_unless(one->objects[0].identity == again->objects[0].identity);
  fail_if(one->objects[0].identity == different->objects[0].identity);
}
GST_END_TEST;

GST_START_TEST(ordered_faults_come_through_with_their_reasons) {
  const auto display = open_display("tight", "export:at=2,sync:at=1");
  const TestSurface surface(*display, format::kNV12);
  fail_unless(bool(va::export_surface(*display, surface.id())));
  const auto failed = va::export_surface(*display, surface.id());
  fail_if(bool(failed));
  fail_unless(failed.error().reason == Reason::ExportFailed);
  fail_unless(bool(va::export_surface(*display, surface.id())));

  const auto unsynced = va::map_for_read(display, surface.id(), format::kNV12, kWidth, kHeight);
  fail_if(bool(unsynced));
  fail_unless(unsynced.error().reason == Reason::SyncFailed);
}
GST_END_TEST;

GST_START_TEST(surfaces_that_are_none_are_errors) {
  const auto display = open_display();
  for (VASurfaceID id : {VASurfaceID{0}, VASurfaceID{12345}, VASurfaceID{VA_INVALID_SURFACE}}) {
    fail_if(bool(va::export_surface(*display, id)));
    fail_if(bool(va::map_for_read(display, id, format::kNV12, kWidth, kHeight)));
  }
}
GST_END_TEST;

Suite* softva_surface_suite() {
  Suite* suite = suite_create("softva_surface");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, software_device_is_the_bundled_driver);
  tcase_add_test(tcase, export_shows_the_picture_in_every_layout);
  tcase_add_test(tcase, mapping_shows_the_picture_in_every_layout);
  tcase_add_test(tcase, mapping_survives_a_driver_that_cannot_derive);
  tcase_add_test(tcase, exports_of_one_surface_are_one_buffer);
  tcase_add_test(tcase, ordered_faults_come_through_with_their_reasons);
  tcase_add_test(tcase, surfaces_that_are_none_are_errors);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(softva_surface)
