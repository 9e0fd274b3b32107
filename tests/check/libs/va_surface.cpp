// SPDX-License-Identifier: LGPL-2.1-or-later

// Surfaces as descriptors and as pixels, on a driver that says what it is told (fakeva/).

#include <dirent.h>
#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/va/cpu_mapper.hpp"
#include "lib/va/exporter.hpp"
#include "lib/va/surface_pool.hpp"
#include "tests/check/libs/fakeva/fake_va.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;

namespace {

constexpr VASurfaceID kSurface = 1;

void tell(const char* words) {
  ::setenv("FAKE_VA", words, 1);
}

const fakeva::Counts& counts() {
  const void* found = ::dlsym(RTLD_DEFAULT, "fake_va_counts");
  fail_unless(found != nullptr);
  return *static_cast<const fakeva::Counts*>(found);
}

std::shared_ptr<va::Display> open_display() {
  tell("");
  auto display = va::Display::open({.kind = va::DeviceChoice::Kind::Software});
  fail_unless(bool(display));
  return *display;
}

int open_descriptors() {
  int count = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir("/proc/self/fd"), ::closedir);
  while (::readdir(dir.get())) ++count;
  return count;
}

Result<va::SurfaceMapping> map(const std::shared_ptr<va::Display>& display) {
  return va::map_for_read(display, kSurface, format::kNV12, fakeva::kWidth, fakeva::kHeight);
}

void expect_picture(const video::FrameView& view) {
  fail_unless(view.fourcc == format::kNV12 && view.plane_count == 2);
  fail_unless(view.width == fakeva::kWidth && view.height == fakeva::kHeight);
  uint32_t offset = 0;
  for (uint32_t p = 0; p < 2; ++p) {
    const video::PlaneView& plane = view.planes[p];
    fail_unless_equals_int(plane.pitch_bytes, fakeva::kPitch);
    fail_unless_equals_int(plane.row_bytes, fakeva::kWidth);
    fail_unless_equals_int(plane.rows, p == 0 ? fakeva::kHeight : fakeva::kHeight / 2);
    for (uint32_t row = 0; row < plane.rows; ++row)
      for (uint32_t x = 0; x < plane.row_bytes; ++x)
        fail_unless_equals_int(plane.data[row * plane.pitch_bytes + x],
                               fakeva::pattern(offset + row * fakeva::kPitch + x));
    offset += fakeva::kPitch * plane.rows;
  }
}

void expect_nothing_left() {
  fail_unless_equals_int(counts().live_images, 0);
  fail_unless_equals_int(counts().live_maps, 0);
}

GST_START_TEST(exported_surface_is_measured_and_classified) {
  const auto display = open_display();
  const int before = open_descriptors();
  {
    auto frame = va::export_surface(*display, kSurface);
    fail_unless(bool(frame), "%s", frame ? "" : frame.error().describe().c_str());
    fail_unless(frame->fourcc == format::kNV12);
    fail_unless_equals_int(frame->object_count, 1);
    fail_unless_equals_int(frame->plane_count, 2);
    // The driver said 0.
    fail_unless_equals_uint64(frame->objects[0].size_bytes, fakeva::kSize);
    fail_unless(frame->objects[0].identity != BufferIdentity{});
    const auto layout = video::classify(frame->describe(), video::LayoutRule::TightLinear);
    fail_unless(bool(layout));
  }
  fail_unless_equals_int(open_descriptors(), before);
}
GST_END_TEST;

GST_START_TEST(failed_exports_say_whether_to_ask_again) {
  struct Case {
    const char* words;
    Reason reason;
  };
  const auto display = open_display();
  const int before = open_descriptors();
  for (const Case& c :
       {Case{"export-unimplemented", Reason::ExportUnsupported},
        Case{"export-fails", Reason::ExportFailed}, Case{"export-pipe", Reason::NotADmabuf}}) {
    tell(c.words);
    const auto frame = va::export_surface(*display, kSurface);
    fail_if(bool(frame), "%s", c.words);
    fail_unless(frame.error().reason == c.reason, "%s", c.words);
    fail_unless_equals_int(open_descriptors(), before);
  }
}
GST_END_TEST;

std::shared_ptr<va::SurfacePool> make_pool(const std::shared_ptr<va::Display>& display) {
  auto pool = va::SurfacePool::create(display, {.fourcc = format::kNV12,
                                                .width = fakeva::kWidth,
                                                .height = fakeva::kHeight,
                                                .count = 1});
  fail_unless(bool(pool), "%s", pool ? "" : pool.error().describe().c_str());
  return *pool;
}

// Its next picture's export: the buffer, and how often the driver was asked for it.
struct Look {
  BufferIdentity buffer;
  uint32_t generation = 0;
  int asked = 0;
};
Look look_at_next(va::SurfacePool& pool) {
  const int before = counts().exported;
  const auto lease = pool.acquire();
  fail_unless(bool(lease));
  Look out;
  // A picture may be looked at twice, as when caps are agreed for it.
  for (int i = 0; i < 2; ++i) {
    const auto exported = (*lease)->exported();
    fail_unless(bool(exported));
    out.buffer = exported->frame->objects[0].identity;
    out.generation = exported->generation;
  }
  out.asked = counts().exported - before;
  return out;
}

GST_START_TEST(export_is_trusted_after_two_pictures_in_one_buffer) {
  const auto display = open_display();
  const auto pool = make_pool(display);
  const int before = open_descriptors();
  const Look start = look_at_next(*pool);
  fail_unless_equals_int(start.asked, 1);
  fail_unless_equals_int(look_at_next(*pool).asked, 1);
  for (int i = 0; i < 5; ++i) {
    const Look later = look_at_next(*pool);
    fail_unless_equals_int(later.asked, 0);
    fail_unless(later.buffer == start.buffer && later.generation == start.generation);
  }
  fail_unless_equals_int(open_descriptors(), before + 1);
}
GST_END_TEST;

GST_START_TEST(surface_that_moves_is_followed_until_it_rests) {
  const auto display = open_display();
  const auto pool = make_pool(display);
  tell("export-moved");
  Look last = look_at_next(*pool);
  for (int i = 0; i < 3; ++i) {
    const Look next = look_at_next(*pool);
    fail_unless_equals_int(next.asked, 1);
    fail_if(next.buffer == last.buffer || next.generation == last.generation);
    last = next;
  }
  tell("");
  fail_unless_equals_int(look_at_next(*pool).asked, 1);
  const Look rested = look_at_next(*pool);
  fail_unless_equals_int(rested.asked, 0);
  fail_unless(rested.buffer == last.buffer);
}
GST_END_TEST;

GST_START_TEST(doubted_or_refused_export_is_looked_at_again) {
  const auto display = open_display();
  const auto pool = make_pool(display);
  const Look start = look_at_next(*pool);
  (void)look_at_next(*pool);
  fail_unless_equals_int(look_at_next(*pool).asked, 0);
  {
    const auto lease = pool->acquire();
    (*lease)->doubt_export();
  }
  tell("export-moved");
  const Look moved = look_at_next(*pool);
  fail_unless_equals_int(moved.asked, 1);
  fail_if(moved.buffer == start.buffer || moved.generation == start.generation);

  tell("export-fails");
  {
    const auto lease = pool->acquire();
    fail_if(bool((*lease)->exported()));
    // Not asked at once.
    const int before = counts().exported;
    fail_if(bool((*lease)->exported()));
    fail_unless_equals_int(counts().exported, before);
  }
}
GST_END_TEST;

GST_START_TEST(derived_image_is_preferred) {
  const auto display = open_display();
  const fakeva::Counts before = counts();
  {
    auto mapping = map(display);
    fail_unless(bool(mapping));
    expect_picture(mapping->view());
    fail_unless_equals_int(counts().derived, before.derived + 1);
    // The first is compared with vaGetImage's; the next is believed.
    fail_unless_equals_int(counts().copied, before.copied + 1);
    fail_unless(bool(map(display)));
    fail_unless_equals_int(counts().derived, before.derived + 2);
    fail_unless_equals_int(counts().copied, before.copied + 1);
    const va::SurfaceMapping moved = std::move(*mapping);
    expect_picture(moved.view());
  }
  expect_nothing_left();
}
GST_END_TEST;

GST_START_TEST(derived_image_of_another_picture_is_not_used) {
  const auto display = open_display();
  tell("derive-other");
  const int derived = counts().derived;
  for (int i = 0; i < 3; ++i) {
    auto mapping = map(display);
    fail_unless(bool(mapping));
    expect_picture(mapping->view());
    fail_unless_equals_int(counts().derived, derived + 1);
  }
  expect_nothing_left();
}
GST_END_TEST;

GST_START_TEST(one_colour_proves_no_layout) {
  const auto display = open_display();
  tell("flat");
  const int copied = counts().copied;
  for (int i = 1; i <= 3; ++i) {
    fail_unless(bool(map(display)));
    fail_unless_equals_int(counts().copied, copied + i);
  }
  tell("derive-other");
  auto mapping = map(display);
  fail_unless(bool(mapping));
  expect_picture(mapping->view());
}
GST_END_TEST;

GST_START_TEST(every_way_has_its_turns_and_one_stays) {
  const auto display = open_display();
  auto exported = va::export_surface(*display, kSurface);
  fail_unless(bool(exported));
  const auto memory = std::make_shared<const dmabuf::ExternalFrame>(std::move(*exported));
  const auto turn = [&] {
    auto mapping = va::map_for_read(display, kSurface, format::kNV12, fakeva::kWidth,
                                    fakeva::kHeight, memory);
    fail_unless(bool(mapping));
    expect_picture(mapping->view());
    std::vector<uint8_t> copy(fakeva::kSize);
    mapping->plane_copy()(mapping->view().planes[0], copy.data(), fakeva::kPitch);
    for (uint32_t x = 0; x < fakeva::kWidth; ++x)
      fail_unless_equals_int(copy[fakeva::kPitch + x], fakeva::pattern(fakeva::kPitch + x));
    mapping->whole_picture_copied();
  };
  // More than five ways take.
  const fakeva::Counts before = counts();
  constexpr int kTurns = 30;
  for (int i = 0; i < kTurns; ++i) turn();
  fail_unless(counts().derived > before.derived && counts().copied > before.copied);
  // Each of derive and get was left for another; the map asks the driver for nothing.
  const fakeva::Counts measured = counts();
  for (int i = 0; i < 10; ++i) turn();
  const int derived = counts().derived - measured.derived;
  const int copied = counts().copied - measured.copied;
  fail_unless(derived + copied == 10 || derived + copied == 0);
  fail_unless(derived == 0 || copied == 0);
  expect_nothing_left();
}
GST_END_TEST;

// Times that copies by each way took, as if there had been some; 0: it had no turns.
void set_times(const va::Display& display, int derive, int streaming, int get) {
  const va::CopyKey key{.what = va::CopyKey::What::ReadBack,
                        .fourcc = format::kNV12,
                        .modifier = kModifierInvalid};
  const std::array times{derive, streaming, get};
  for (Fastest::Way way = 0; way < times.size(); ++way)
    for (int turn = 0; turn < 3 && times[way] > 0; ++turn)
      display.copy_choices().took(key, way, std::chrono::microseconds(times[way]));
}

Result<va::SurfaceMapping> map_in_place(const std::shared_ptr<va::Display>& display) {
  return va::map_for_read_in_place(display, kSurface, format::kNV12, fakeva::kWidth,
                                   fakeva::kHeight);
}

// Reading a picture where it lies takes as long as copying it by plain loads does.
GST_START_TEST(an_image_is_read_in_place_where_plain_loads_keep_up) {
  enum class Way { None, Derived, Copied };
  struct Row {
    int derive, streaming, get;  // microseconds
    Way way;
  };
  // Without streaming loads that way has no turns, and its time is nobody's.
  const bool streams = video::streaming_copy() != nullptr;
  for (const Row& row : {Row{0, 0, 0, Way::None}, Row{100, 100, 0, Way::None},
                         Row{100, 300, 900, Way::Derived}, Row{124, 100, 900, Way::Derived},
                         Row{130, 100, 900, streams ? Way::None : Way::Derived},
                         Row{5000, 100, 300, streams ? Way::None : Way::Copied},
                         Row{5000, 5000, 300, Way::Copied}}) {
    const auto display = open_display();
    set_times(*display, row.derive, row.streaming, row.get);
    const fakeva::Counts before = counts();
    const auto mapping = map_in_place(display);
    fail_unless_equals_int(bool(mapping), row.way != Way::None);
    fail_unless_equals_int(counts().derived - before.derived, row.way == Way::Derived);
    if (!mapping) continue;
    expect_picture(mapping->view());
    for (uint32_t p = 0; p < 2; ++p) {
      const video::PlaneView& plane = mapping->view().planes[p];
      const auto image = mapping->image();
      fail_unless(plane.data >= image.data() &&
                  plane.data + plane.pitch_bytes * plane.rows <= image.data() + image.size());
    }
  }
  expect_nothing_left();
}
GST_END_TEST;

GST_START_TEST(a_wrong_image_is_not_read_in_place) {
  const auto display = open_display();
  set_times(*display, 100, 100, 300);
  for (const char* words : {"derive-other", "derive-fails", "map-fails", "sync-fails"}) {
    tell(words);
    fail_if(bool(map_in_place(display)), "%s", words);
    expect_nothing_left();
  }
}
GST_END_TEST;

GST_START_TEST(memory_is_mapped_where_the_driver_has_no_images) {
  const auto display = open_display();
  auto exported = va::export_surface(*display, kSurface);
  fail_unless(bool(exported));
  tell("derive-fails,get-fails");
  fail_if(bool(map(display)));
  auto mapping =
      va::map_for_read(display, kSurface, format::kNV12, fakeva::kWidth, fakeva::kHeight,
                       std::make_shared<const dmabuf::ExternalFrame>(std::move(*exported)));
  fail_unless(bool(mapping));
  expect_picture(mapping->view());
}
GST_END_TEST;

GST_START_TEST(unsuitable_derived_images_are_copied_out) {
  const auto display = open_display();
  int copies = counts().copied;
  for (const char* words : {"derive-fails", "derive-p010", "derive-short"}) {
    tell(words);
    {
      auto mapping = map(display);
      fail_unless(bool(mapping), "%s", words);
      expect_picture(mapping->view());
      fail_unless_equals_int(counts().copied, ++copies);
    }
    expect_nothing_left();
  }
}
GST_END_TEST;

GST_START_TEST(failures_leave_nothing_behind) {
  struct Case {
    const char* words;
    Reason reason;
  };
  const auto display = open_display();
  for (const Case& c :
       {Case{"derive-fails,get-fails", Reason::None}, Case{"map-fails", Reason::None},
        Case{"images-short", Reason::ObjectTooSmall}, Case{"sync-fails", Reason::SyncFailed}}) {
    tell(c.words);
    const auto mapping = map(display);
    fail_if(bool(mapping), "%s", c.words);
    fail_unless(mapping.error().reason == c.reason, "%s: %s", c.words,
                mapping.error().describe().c_str());
    expect_nothing_left();
  }
}
GST_END_TEST;

GST_START_TEST(damaged_picture_is_still_a_picture) {
  const auto display = open_display();
  tell("sync-damaged");
  auto mapping = map(display);
  fail_unless(bool(mapping));
  expect_picture(mapping->view());
}
GST_END_TEST;

GST_START_TEST(sizes_and_formats_the_driver_has_not_are_refused) {
  const auto display = open_display();
  const auto too_big = va::map_for_read(display, kSurface, format::kNV12, 640, 480);
  fail_if(bool(too_big));
  const auto other = va::map_for_read(display, kSurface, format::kP010, 64, 48);
  fail_if(bool(other));
  fail_unless(other.error().reason == Reason::FormatUnsupported);
  fail_if(bool(va::map_for_read(display, kSurface, 0, 64, 48)));
  fail_if(bool(va::map_for_read(display, kSurface, format::kNV12, 0, 0)));
  expect_nothing_left();
}
GST_END_TEST;

GST_START_TEST(mapping_keeps_its_display_alive) {
  auto display = open_display();
  const int stops = counts().stops;
  auto mapping = map(display);
  fail_unless(bool(mapping));
  display.reset();
  fail_unless_equals_int(counts().stops, stops);
  expect_picture(mapping->view());
  { const va::SurfaceMapping last = std::move(*mapping); }
  fail_unless_equals_int(counts().stops, stops + 1);
  expect_nothing_left();
}
GST_END_TEST;

Suite* va_surface_suite() {
  Suite* suite = suite_create("va_surface");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, exported_surface_is_measured_and_classified);
  tcase_add_test(tcase, failed_exports_say_whether_to_ask_again);
  tcase_add_test(tcase, export_is_trusted_after_two_pictures_in_one_buffer);
  tcase_add_test(tcase, surface_that_moves_is_followed_until_it_rests);
  tcase_add_test(tcase, doubted_or_refused_export_is_looked_at_again);
  tcase_add_test(tcase, derived_image_is_preferred);
  tcase_add_test(tcase, derived_image_of_another_picture_is_not_used);
  tcase_add_test(tcase, one_colour_proves_no_layout);
  tcase_add_test(tcase, every_way_has_its_turns_and_one_stays);
  tcase_add_test(tcase, an_image_is_read_in_place_where_plain_loads_keep_up);
  tcase_add_test(tcase, a_wrong_image_is_not_read_in_place);
  tcase_add_test(tcase, memory_is_mapped_where_the_driver_has_no_images);
  tcase_add_test(tcase, unsuitable_derived_images_are_copied_out);
  tcase_add_test(tcase, failures_leave_nothing_behind);
  tcase_add_test(tcase, damaged_picture_is_still_a_picture);
  tcase_add_test(tcase, sizes_and_formats_the_driver_has_not_are_refused);
  tcase_add_test(tcase, mapping_keeps_its_display_alive);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(va_surface)
