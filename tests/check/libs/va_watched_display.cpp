// SPDX-License-Identifier: LGPL-2.1-or-later
// A display under a second handle: the same display, on which buffers that were not made are
// counted.
#include "lib/va/watched_display.hpp"

#include <va/va_backend.h>

#include "lib/va/display.hpp"
#include "tests/check/support/check.hpp"

using dxva::va::DeviceChoice;
using dxva::va::Display;
using dxva::va::WatchedDisplay;

namespace {

std::shared_ptr<Display> open_display() {
  auto display = Display::open({.kind = DeviceChoice::Kind::Software});
  fail_unless(bool(display), "%s", display ? "" : display.error().describe().c_str());
  return *display;
}

VAStatus create_buffer(VADisplay handle) {
  VABufferID id = VA_INVALID_ID;
  return vaCreateBuffer(handle, 0, VASliceDataBufferType, 16, 1, nullptr, &id);
}

VAStatus make_a_buffer(VADriverContextP, VAContextID, VABufferType, unsigned, unsigned, void*,
                       VABufferID* id) {
  *id = 7;
  return VA_STATUS_SUCCESS;
}

}  // namespace

// The fake driver makes no buffers at all.
GST_START_TEST(buffers_that_are_not_made_are_counted_where_they_were_asked_for) {
  const auto display = open_display();
  WatchedDisplay watched(display->get());
  WatchedDisplay other(display->get());
  fail_unless(create_buffer(display->get()) != VA_STATUS_SUCCESS);
  fail_unless_equals_int(watched.take_refused_buffers(), 0);
  for (int i = 0; i < 2; ++i)
    fail_unless_equals_int(create_buffer(watched.get()), VA_STATUS_ERROR_UNIMPLEMENTED);
  fail_unless_equals_int(other.take_refused_buffers(), 0);
  fail_unless_equals_int(watched.take_refused_buffers(), 2);
  fail_unless_equals_int(watched.take_refused_buffers(), 0);
}
GST_END_TEST

GST_START_TEST(buffers_that_are_made_are_the_drivers) {
  const auto display = open_display();
  auto& table = *static_cast<VADisplayContext*>(display->get())->pDriverContext->vtable;
  const auto refuses = table.vaCreateBuffer;
  WatchedDisplay watched(display->get());
  table.vaCreateBuffer = make_a_buffer;
  VABufferID id = VA_INVALID_ID;
  fail_unless_equals_int(
      vaCreateBuffer(watched.get(), 0, VASliceDataBufferType, 16, 1, nullptr, &id),
      VA_STATUS_SUCCESS);
  fail_unless_equals_int(id, 7);
  fail_unless_equals_int(watched.take_refused_buffers(), 0);
  table.vaCreateBuffer = refuses;
}
GST_END_TEST

namespace {

int begun, rendered, ended;

// What libavcodec does for a picture.
void draw(VADisplay handle, bool parameters) {
  VABufferID id = 7;
  if (parameters)
    fail_unless_equals_int(
        vaCreateBuffer(handle, 0, VAPictureParameterBufferType, 16, 1, nullptr, &id),
        VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaBeginPicture(handle, 0, 3), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaRenderPicture(handle, 0, &id, parameters ? 1 : 0),
                         VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaEndPicture(handle, 0), VA_STATUS_SUCCESS);
}

}  // namespace

GST_START_TEST(a_picture_that_was_never_started_is_kept_from_the_driver) {
  const auto display = open_display();
  auto& table = *static_cast<VADisplayContext*>(display->get())->pDriverContext->vtable;
  const VADriverVTable before = table;
  table.vaCreateBuffer = make_a_buffer;
  table.vaBeginPicture = [](VADriverContextP, VAContextID, VASurfaceID) {
    ++begun;
    return VA_STATUS_SUCCESS;
  };
  table.vaRenderPicture = [](VADriverContextP, VAContextID, VABufferID*, int) {
    ++rendered;
    return VA_STATUS_SUCCESS;
  };
  table.vaEndPicture = [](VADriverContextP, VAContextID) {
    ++ended;
    return VA_STATUS_SUCCESS;
  };
  begun = rendered = ended = 0;
  WatchedDisplay watched(display->get());
  draw(watched.get(), true);
  fail_unless_equals_int(watched.take_unstarted_pictures(), 0);
  draw(watched.get(), false);
  fail_unless_equals_int(watched.take_unstarted_pictures(), 1);
  draw(watched.get(), true);
  fail_unless_equals_int(watched.take_unstarted_pictures(), 0);
  fail_unless(begun == 2 && rendered == 2 && ended == 2, "%d %d %d", begun, rendered, ended);
  table = before;
}
GST_END_TEST

GST_START_TEST(it_is_the_same_display) {
  const auto display = open_display();
  WatchedDisplay watched(display->get());
  fail_unless(vaDisplayIsValid(watched.get()));
  fail_unless_equals_string(vaQueryVendorString(watched.get()), display->vendor().c_str());
  fail_unless_equals_int(vaMaxNumProfiles(watched.get()), vaMaxNumProfiles(display->get()));
  // A surface of one is a surface of the other.
  VASurfaceID surface = VA_INVALID_ID;
  fail_unless_equals_int(
      vaCreateSurfaces(display->get(), VA_RT_FORMAT_YUV420, 64, 48, &surface, 1, nullptr, 0),
      VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaSyncSurface(watched.get(), surface), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaDestroySurfaces(watched.get(), &surface, 1), VA_STATUS_SUCCESS);
}
GST_END_TEST

static Suite* va_watched_display_suite() {
  Suite* suite = suite_create("va_watched_display");
  TCase* cases = tcase_create("general");
  tcase_add_test(cases, buffers_that_are_not_made_are_counted_where_they_were_asked_for);
  tcase_add_test(cases, buffers_that_are_made_are_the_drivers);
  tcase_add_test(cases, a_picture_that_was_never_started_is_kept_from_the_driver);
  tcase_add_test(cases, it_is_the_same_display);
  suite_add_tcase(suite, cases);
  return suite;
}

GST_CHECK_MAIN(va_watched_display)
