// SPDX-License-Identifier: LGPL-2.1-or-later

// From vaBeginPicture to vaSyncSurface, what the knobs do to it, and faults.

#include <unistd.h>

#include <cstring>
#include <thread>

#include "lib/base/unique_fd.hpp"
#include "tests/check/softva/client.hpp"
#include "tests/check/support/check.hpp"

using dxva::UniqueFd;
using namespace dxva::softva::test;

namespace {

// The two ends of a pipe, one byte at a time.
struct Gate {
  UniqueFd read, write;

  Gate() {
    int fds[2];
    fail_unless_equals_int(::pipe(fds), 0);
    read.reset(fds[0]);
    write.reset(fds[1]);
  }
  void wait() const {
    char byte;
    fail_unless_equals_int(::read(read.get(), &byte, 1), 1);
  }
  void open() const { fail_unless_equals_int(::write(write.get(), "x", 1), 1); }
};

bool has_shown(const Client& client, VASurfaceID surface, const FakeOrder& order,
               uint32_t width, uint32_t height) {
  const Export exported(client, surface);
  return exported.status() == VA_STATUS_SUCCESS &&
         shows(exported, order, VA_FOURCC_NV12, width, height);
}

GST_START_TEST(smaller_surface_takes_the_corner_of_the_picture) {
  Client client;
  const VASurfaceID surface = client.surface(61, 47);
  const FakeOrder order{.width = 64, .height = 48};
  fail_unless_equals_int(client.decode(client.context(61, 47), surface, order),
                         VA_STATUS_SUCCESS);
  fail_unless(has_shown(client, surface, order, 61, 47));
}
GST_END_TEST;

GST_START_TEST(larger_surface_keeps_what_the_picture_does_not_cover) {
  Client client;
  const VASurfaceID surface = client.surface(96, 80);
  const FakeOrder large{.width = 96, .height = 80, .seed = 1};
  const FakeOrder small{.width = 64, .height = 48, .seed = 2};
  const VAContextID context = client.context(96, 80);
  fail_unless_equals_int(client.decode(context, surface, large), VA_STATUS_SUCCESS);
  fail_unless_equals_int(client.decode(context, surface, small), VA_STATUS_SUCCESS);
  fail_unless(has_shown(client, surface, small, 64, 48));
  const Export exported(client, surface);
  fail_unless_equals_int(exported.row(0, 79)[95],
                         expected_byte(large, VA_FOURCC_NV12, 0, 95, 79));
  fail_unless_equals_int(exported.row(1, 39)[95],
                         expected_byte(large, VA_FOURCC_NV12, 1, 95, 39));
}
GST_END_TEST;

GST_START_TEST(gray_picture_has_neutral_chroma) {
  Client client;
  const VASurfaceID surface = client.surface(61, 47);
  const FakeOrder order{.width = 61, .height = 47, .gray = 1};
  fail_unless_equals_int(client.decode(client.context(61, 47), surface, order),
                         VA_STATUS_SUCCESS);
  fail_unless(has_shown(client, surface, order, 61, 47));
}
GST_END_TEST;

GST_START_TEST(depth_the_surface_does_not_hold_is_an_error) {
  Client client(VAProfileHEVCMain10);
  const VAContextID context = client.context(64, 48);
  fail_unless_equals_int(client.decode(context, client.surface(64, 48), {.bit_depth = 10}),
                         VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT);
  const VASurfaceID deep = client.surface(64, 48, VA_FOURCC_P010);
  fail_unless_equals_int(client.decode(context, deep, {.bit_depth = 8}),
                         VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT);
  fail_unless_equals_int(client.decode(context, deep, {.bit_depth = 10}), VA_STATUS_SUCCESS);
}
GST_END_TEST;

GST_START_TEST(failed_picture_leaves_the_surface_and_the_context_usable) {
  Client client;
  const VASurfaceID surface = client.surface(64, 48);
  const VAContextID context = client.context(64, 48);
  const FakeOrder good{.seed = 1};
  fail_unless_equals_int(client.decode(context, surface, good), VA_STATUS_SUCCESS);
  fail_unless_equals_int(
      client.decode(context, surface, {.action = FakeAction::BadInput, .seed = 2}),
      VA_STATUS_ERROR_DECODING_ERROR);
  fail_unless(has_shown(client, surface, good, 64, 48));

  // The device is well: only the picture was bad.
  fail_unless_equals_int(vaSyncSurface(client.display(), surface), VA_STATUS_SUCCESS);
  VASurfaceStatus status{};
  vaQuerySurfaceStatus(client.display(), surface, &status);
  fail_unless_equals_int(status, VASurfaceReady);
  void* info = nullptr;
  fail_unless_equals_int(
      vaQuerySurfaceError(client.display(), surface, VA_STATUS_ERROR_DECODING_ERROR, &info),
      VA_STATUS_SUCCESS);
  const auto* errors = static_cast<const VASurfaceDecodeMBErrors*>(info);
  fail_unless_equals_int(errors[0].status, 1);
  fail_unless_equals_int(errors[0].num_mb, 12);
  fail_unless_equals_int(errors[1].status, -1);

  fail_unless_equals_int(client.decode(context, surface, {.action = FakeAction::NoMemory}),
                         VA_STATUS_ERROR_ALLOCATION_FAILED);
  const FakeOrder next{.seed = 3};
  fail_unless_equals_int(client.decode(context, surface, next), VA_STATUS_SUCCESS);
  fail_unless(has_shown(client, surface, next, 64, 48));
  vaQuerySurfaceError(client.display(), surface, VA_STATUS_ERROR_DECODING_ERROR, &info);
  fail_unless_equals_int(static_cast<const VASurfaceDecodeMBErrors*>(info)[0].status, -1);
}
GST_END_TEST;

GST_START_TEST(picture_begun_anew_forgets_the_old_one) {
  Client client;
  const VASurfaceID surface_1 = client.surface(64, 48), surface_2 = client.surface(64, 48);
  const VAContextID context = client.context(64, 48);
  fail_unless_equals_int(vaBeginPicture(client.display(), context, surface_1),
                         VA_STATUS_SUCCESS);
  const FakeOrder order{.seed = 6};
  fail_unless_equals_int(client.decode(context, surface_2, order), VA_STATUS_SUCCESS);
  fail_unless(has_shown(client, surface_2, order, 64, 48));
  fail_if(has_shown(client, surface_1, order, 64, 48));
}
GST_END_TEST;

GST_START_TEST(buffer_is_taken_as_it_was_when_rendered) {
  Client client;
  const VASurfaceID surface = client.surface(64, 48);
  const VAContextID context = client.context(64, 48);
  FakeOrder order{.seed = 1};
  VABufferID buffer = VA_INVALID_ID;
  fail_unless_equals_int(vaCreateBuffer(client.display(), context, VASliceDataBufferType,
                                        sizeof order, 1, &order, &buffer),
                         VA_STATUS_SUCCESS);
  vaBeginPicture(client.display(), context, surface);
  fail_unless_equals_int(vaRenderPicture(client.display(), context, &buffer, 1),
                         VA_STATUS_SUCCESS);
  void* data = nullptr;
  fail_unless_equals_int(vaMapBuffer(client.display(), buffer, &data), VA_STATUS_SUCCESS);
  static_cast<FakeOrder*>(data)->seed = 2;
  fail_unless_equals_int(vaUnmapBuffer(client.display(), buffer), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaEndPicture(client.display(), context), VA_STATUS_SUCCESS);
  fail_unless(has_shown(client, surface, order, 64, 48));
}
GST_END_TEST;

GST_START_TEST(surface_is_busy_until_its_picture_is_there) {
  Client client;
  const VASurfaceID surface = client.surface(64, 48);
  const VAContextID context = client.context(64, 48);
  const Gate began, go;
  const FakeOrder order{.seed = 7, .began_fd = began.write.get(), .go_fd = go.read.get()};
  std::thread decoder([&] {
    fail_unless_equals_int(client.decode(context, surface, order), VA_STATUS_SUCCESS);
  });
  began.wait();
  VASurfaceStatus status{};
  fail_unless_equals_int(vaQuerySurfaceStatus(client.display(), surface, &status),
                         VA_STATUS_SUCCESS);
  fail_unless_equals_int(status, VASurfaceRendering);
  fail_unless_equals_int(vaSyncSurface2(client.display(), surface, 0),
                         VA_STATUS_ERROR_TIMEDOUT);
  go.open();
  fail_unless_equals_int(vaSyncSurface(client.display(), surface), VA_STATUS_SUCCESS);
  fail_unless(has_shown(client, surface, order, 64, 48));
  decoder.join();
  fail_unless_equals_int(vaSyncSurface2(client.display(), surface, 0), VA_STATUS_SUCCESS);
}
GST_END_TEST;

GST_START_TEST(contexts_decode_at_the_same_time) {
  Client client;
  const Gate began, go;
  const FakeOrder order{.began_fd = began.write.get(), .go_fd = go.read.get()};
  std::vector<std::thread> decoders;
  for (int i = 0; i < 3; ++i)
    decoders.emplace_back([&] {
      fail_unless_equals_int(
          client.decode(client.context(64, 48), client.surface(64, 48), order),
          VA_STATUS_SUCCESS);
    });
  // All are inside their decoder before one may leave it.
  for (int i = 0; i < 3; ++i) began.wait();
  for (int i = 0; i < 3; ++i) go.open();
  for (std::thread& decoder : decoders) decoder.join();
}
GST_END_TEST;

GST_START_TEST(surface_destroyed_while_it_is_drawn_to) {
  Client client;
  VASurfaceID surface = client.surface(64, 48);
  const VAContextID context = client.context(64, 48);
  const Gate began, go;
  const FakeOrder order{.began_fd = began.write.get(), .go_fd = go.read.get()};
  std::thread decoder([&] {
    fail_unless_equals_int(client.decode(context, surface, order), VA_STATUS_SUCCESS);
  });
  began.wait();
  const Export exported(client, surface);
  fail_unless_equals_int(vaDestroySurfaces(client.display(), &surface, 1), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaDestroyContext(client.display(), context), VA_STATUS_SUCCESS);
  go.open();
  decoder.join();
  fail_unless(shows(exported, order, VA_FOURCC_NV12, 64, 48));
}
GST_END_TEST;

GST_START_TEST(faults_hit_the_calls_they_name) {
  const ScopedEnvironment knob("DXVASOFT_FAULT",
                               "export:every=3,export:surface=2,endpicture:at=2,sync:from=2,"
                               "deriveimage:from=1,getimage:at=1,createcontext:at=2,"
                               "createsurfaces:at=4");
  Client client;
  const VADisplay display = client.display();
  const VASurfaceID surface_1 = client.surface(64, 48), surface_2 = client.surface(64, 48),
                    surface_3 = client.surface(64, 48);
  VASurfaceID none = VA_INVALID_SURFACE;
  fail_unless_equals_int(
      vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, 64, 48, &none, 1, nullptr, 0),
      VA_STATUS_ERROR_ALLOCATION_FAILED);

  fail_unless_equals_int(Export(client, surface_1).status(), VA_STATUS_SUCCESS);
  fail_unless_equals_int(Export(client, surface_2).status(), VA_STATUS_ERROR_OPERATION_FAILED);
  fail_unless_equals_int(Export(client, surface_3).status(), VA_STATUS_ERROR_OPERATION_FAILED);
  fail_unless_equals_int(Export(client, surface_3).status(), VA_STATUS_SUCCESS);
  fail_unless_equals_int(Export(client, surface_2).status(), VA_STATUS_ERROR_OPERATION_FAILED);

  const VAContextID context = client.context(64, 48);
  VAContextID no_context = VA_INVALID_ID;
  fail_unless_equals_int(
      vaCreateContext(display, client.config(), 64, 48, 0, nullptr, 0, &no_context),
      VA_STATUS_ERROR_ALLOCATION_FAILED);
  const FakeOrder order{.seed = 1}, lost{.seed = 2};
  fail_unless_equals_int(client.decode(context, surface_1, order), VA_STATUS_SUCCESS);
  fail_unless_equals_int(client.decode(context, surface_1, lost),
                         VA_STATUS_ERROR_DECODING_ERROR);
  fail_unless_equals_int(client.decode(context, surface_1, order), VA_STATUS_SUCCESS);

  fail_unless_equals_int(vaSyncSurface(display, surface_1), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaSyncSurface(display, surface_1), VA_STATUS_ERROR_OPERATION_FAILED);
  fail_unless_equals_int(vaSyncSurface2(display, surface_1, 0),
                         VA_STATUS_ERROR_OPERATION_FAILED);
  VAImage image{};
  fail_unless_equals_int(vaDeriveImage(display, surface_1, &image),
                         VA_STATUS_ERROR_OPERATION_FAILED);
  image = client.image(VA_FOURCC_NV12, 64, 48);
  fail_unless_equals_int(vaGetImage(display, surface_1, 0, 0, 64, 48, image.image_id),
                         VA_STATUS_ERROR_OPERATION_FAILED);
  fail_unless_equals_int(vaGetImage(display, surface_1, 0, 0, 64, 48, image.image_id),
                         VA_STATUS_SUCCESS);
}
GST_END_TEST;

GST_START_TEST(knobs_that_make_no_sense_stop_the_driver) {
  constexpr const char* kCases[][2] = {
      {"DXVASOFT_MEMORY", "floppy"},
      {"DXVASOFT_LAYOUT", "diagonal"},
      {"DXVASOFT_PITCH_ALIGN", "0"},
      {"DXVASOFT_PITCH_ALIGN", "64x"},
      {"DXVASOFT_PITCH_ALIGN", "4097"},
      {"DXVASOFT_DECODE_DELAY_MS", "-1"},
      {"DXVASOFT_FAULT", "export"},
      {"DXVASOFT_FAULT", "export:every"},
      {"DXVASOFT_FAULT", "export:at=0"},
      {"DXVASOFT_FAULT", "exprot:at=1"},
      {"DXVASOFT_FAULT", "export:on=1"},
      {"DXVASOFT_FAULT", "export:at=1,,"},
      {"DXVASOFT_FAULT", "export:at=1x"},
      {"DXVASOFT_FAULT", "=:"},
      {"DXVASOFT_TILED_FROM", "0"},
      {"DXVASOFT_TILED_FROM", "1"},
      {"DXVASOFT_LATE_MS", "60001"},
      {"DXVASOFT_DESCRIPTOR_SIZE", "long"},
      {"DXVASOFT_LOG", "/"},
  };
  for (const auto& [name, value] : kCases) {
    const ScopedEnvironment knob(name, value);
    fail_if(bool(dxva::va::make_headless_display("dxvasofttest")), "%s=%s", name, value);
  }
}
GST_END_TEST;

GST_START_TEST(vendor_string_can_be_anybodys) {
  {
    Client client;
    fail_unless(std::strstr(vaQueryVendorString(client.display()), "dxvasoft"));
  }
  const ScopedEnvironment knob("DXVASOFT_VENDOR", "Mesa Gallium driver 99.9");
  Client client;
  fail_unless_equals_string(vaQueryVendorString(client.display()), "Mesa Gallium driver 99.9");
}
GST_END_TEST;

GST_START_TEST(named_driver_wins_over_the_environment) {
  const ScopedEnvironment other("LIBVA_DRIVER_NAME", "nosuchdriver");
  Client client;
  fail_unless(std::strstr(vaQueryVendorString(client.display()), "dxvasoft"));
}
GST_END_TEST;

// VP9 changes its size without a key frame, and clients answer with a new context.
GST_START_TEST(a_new_context_goes_on_where_its_references_were_decoded) {
  Client client;
  const VASurfaceID one = client.surface(64, 48), two = client.surface(64, 48);
  const VAContextID old_context = client.context(64, 48);
  const auto drawn_before = [&](VAContextID context, VASurfaceID target, uint32_t reference,
                                uint32_t before) {
    const FakeOrder order{.counts = 1, .reference = reference};
    fail_unless_equals_int(client.decode(context, target, order), VA_STATUS_SUCCESS);
    return shows(Export(client, target), FakeOrder{.seed = before}, VA_FOURCC_NV12, 64, 48);
  };
  fail_unless(drawn_before(old_context, one, 0, 0));
  fail_unless(drawn_before(old_context, one, 0, 1));
  fail_unless_equals_int(vaDestroyContext(client.display(), old_context), VA_STATUS_SUCCESS);

  const VAContextID next = client.context(64, 48);
  fail_unless(drawn_before(next, two, one, 2));
  // Once it has decoded, a context keeps its decoder; one that refers to nothing has its own.
  fail_unless(drawn_before(next, two, VA_INVALID_SURFACE - 1, 3));
  const VAContextID fresh = client.context(64, 48);
  fail_unless(drawn_before(fresh, one, 0, 0));
  fail_unless(drawn_before(fresh, one, two, 1));
  // A surface that is gone, or that no decoder drew into, has nothing to go on with.
  const VASurfaceID blank = client.surface(64, 48);
  fail_unless(drawn_before(client.context(64, 48), one, blank, 0));
  VASurfaceID gone = two;
  fail_unless_equals_int(vaDestroySurfaces(client.display(), &gone, 1), VA_STATUS_SUCCESS);
  fail_unless(drawn_before(client.context(64, 48), one, two, 0));
}
GST_END_TEST;

GST_START_TEST(another_profile_s_decoder_is_not_taken_over) {
  Client client;
  const VASurfaceID surface = client.surface(64, 48), other = client.surface(64, 48);
  fail_unless_equals_int(client.decode(client.context(64, 48), surface, {}), VA_STATUS_SUCCESS);
  VAConfigID main = VA_INVALID_ID;
  VAContextID context = VA_INVALID_ID;
  fail_unless_equals_int(
      vaCreateConfig(client.display(), VAProfileH264Main, VAEntrypointVLD, nullptr, 0, &main),
      VA_STATUS_SUCCESS);
  fail_unless_equals_int(
      vaCreateContext(client.display(), main, 64, 48, 0, nullptr, 0, &context),
      VA_STATUS_SUCCESS);
  const FakeOrder order{.counts = 1, .reference = surface};
  fail_unless_equals_int(client.decode(context, other, order), VA_STATUS_SUCCESS);
  fail_unless(shows(Export(client, other), FakeOrder{}, VA_FOURCC_NV12, 64, 48));
}
GST_END_TEST;

Suite* softva_pictures_suite() {
  Suite* suite = suite_create("softva_pictures");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, smaller_surface_takes_the_corner_of_the_picture);
  tcase_add_test(tcase, larger_surface_keeps_what_the_picture_does_not_cover);
  tcase_add_test(tcase, gray_picture_has_neutral_chroma);
  tcase_add_test(tcase, depth_the_surface_does_not_hold_is_an_error);
  tcase_add_test(tcase, failed_picture_leaves_the_surface_and_the_context_usable);
  tcase_add_test(tcase, picture_begun_anew_forgets_the_old_one);
  tcase_add_test(tcase, buffer_is_taken_as_it_was_when_rendered);
  tcase_add_test(tcase, surface_is_busy_until_its_picture_is_there);
  tcase_add_test(tcase, contexts_decode_at_the_same_time);
  tcase_add_test(tcase, surface_destroyed_while_it_is_drawn_to);
  tcase_add_test(tcase, faults_hit_the_calls_they_name);
  tcase_add_test(tcase, knobs_that_make_no_sense_stop_the_driver);
  tcase_add_test(tcase, vendor_string_can_be_anybodys);
  tcase_add_test(tcase, named_driver_wins_over_the_environment);
  tcase_add_test(tcase, a_new_context_goes_on_where_its_references_were_decoded);
  tcase_add_test(tcase, another_profile_s_decoder_is_not_taken_over);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(softva_pictures)
