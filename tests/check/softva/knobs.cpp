// SPDX-License-Identifier: LGPL-2.1-or-later

// Drivers that are harder to live with: tiled memory, sizes that are not true, layers nobody
// asked for, pictures that come late; and the log that says what a client did about it.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/base/unique_fd.hpp"
#include "tests/check/softva/client.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva::softva::test;
namespace format = dxva::format;

namespace {

constexpr uint32_t kComposed = VA_EXPORT_SURFACE_READ_WRITE | VA_EXPORT_SURFACE_COMPOSED_LAYERS;
constexpr uint64_t kMadeUpModifier = 0x7f00000000000001;

struct Size {
  uint32_t width, height;
};
constexpr Size kSizes[] = {{64, 48}, {1, 1}, {61, 47}, {200, 30}, {2, 3}};

// A surface with a picture in it.
VASurfaceID decoded(const Client& client, Size size, const FakeOrder& order,
                    uint32_t fourcc = VA_FOURCC_NV12) {
  const VASurfaceID surface = client.surface(size.width, size.height, fourcc);
  fail_unless_equals_int(client.decode(client.context(size.width, size.height), surface, order),
                         VA_STATUS_SUCCESS);
  return surface;
}

bool reads_back(const Client& client, VASurfaceID surface, Size size, const FakeOrder& order,
                uint32_t fourcc = VA_FOURCC_NV12) {
  const VAImage image = client.image(fourcc, size.width, size.height);
  if (vaGetImage(client.display(), surface, 0, 0, size.width, size.height, image.image_id) !=
      VA_STATUS_SUCCESS)
    return false;
  const MappedImage mapped(client, image);
  return shows(mapped, order, fourcc, size.width, size.height);
}

// The made-up tiling, written down a second time: byte x of row y in tiles of 64 x 8.
size_t tiled_place(uint32_t x, uint32_t y, uint32_t pitch) {
  const size_t tile = y / 8 * (pitch / 64) + x / 64;
  return tile * 512 + y % 8 * 64 + (y % 2 ? (x % 64 + 32) % 64 : x % 64);
}

bool shows_in_tiles(const Export& exported, const FakeOrder& order, uint32_t fourcc,
                    Size size) {
  for (uint32_t plane = 0; plane < 2; ++plane) {
    const uint32_t pitch = exported.descriptor().layers[plane].pitch[0];
    for (uint32_t y = 0; y < rows(plane, size.height); ++y)
      for (uint32_t x = 0; x < row_bytes(fourcc, plane, size.width); ++x)
        if (exported.row(plane, 0)[tiled_place(x, y, pitch)] !=
            expected_byte(order, fourcc, plane, x, y))
          return false;
  }
  return true;
}

GST_START_TEST(tiled_memory_is_scrambled_and_says_so) {
  const ScopedEnvironment knob("DXVASOFT_LAYOUT", "tiled");
  Client client;
  for (const Size size : kSizes) {
    const FakeOrder order{.width = size.width, .height = size.height, .seed = 3};
    const VASurfaceID surface = decoded(client, size, order);
    const Export exported(client, surface);
    fail_unless_equals_int(exported.status(), VA_STATUS_SUCCESS);
    fail_unless_equals_uint64(exported.descriptor().objects[0].drm_format_modifier,
                              kMadeUpModifier);
    fail_unless(shows_in_tiles(exported, order, VA_FOURCC_NV12, size));
    // Who maps it as rows gets something else, as soon as there are two rows.
    if (size.height > 3)
      fail_if(shows(exported, order, VA_FOURCC_NV12, size.width, size.height));
    fail_unless(reads_back(client, surface, size, order));
    VAImage image{};
    fail_unless_equals_int(vaDeriveImage(client.display(), surface, &image),
                           VA_STATUS_ERROR_OPERATION_FAILED);
    fail_unless(image.image_id == VA_INVALID_ID && image.buf == VA_INVALID_ID);
  }
}
GST_END_TEST;

GST_START_TEST(tiled_words_read_back_right) {
  const ScopedEnvironment knob("DXVASOFT_LAYOUT", "tiled");
  Client client(VAProfileHEVCMain10);
  const Size size{.width = 61, .height = 47};
  const FakeOrder order{.width = 61, .height = 47, .bit_depth = 10, .seed = 4};
  const VASurfaceID surface = decoded(client, size, order, VA_FOURCC_P010);
  fail_unless(shows_in_tiles(Export(client, surface), order, VA_FOURCC_P010, size));
  fail_unless(reads_back(client, surface, size, order, VA_FOURCC_P010));
}
GST_END_TEST;

GST_START_TEST(tiled_surface_keeps_what_the_picture_does_not_cover) {
  const ScopedEnvironment knob("DXVASOFT_LAYOUT", "tiled");
  Client client;
  const FakeOrder large{.width = 96, .height = 80, .seed = 1};
  const FakeOrder small{.width = 64, .height = 48, .seed = 2};
  const VASurfaceID surface = decoded(client, {96, 80}, large);
  fail_unless_equals_int(client.decode(client.context(96, 80), surface, small),
                         VA_STATUS_SUCCESS);
  const VAImage image = client.image(VA_FOURCC_NV12, 96, 80);
  fail_unless_equals_int(vaGetImage(client.display(), surface, 0, 0, 96, 80, image.image_id),
                         VA_STATUS_SUCCESS);
  const MappedImage mapped(client, image);
  fail_unless(shows(mapped, small, VA_FOURCC_NV12, 64, 48));
  fail_unless_equals_int(mapped.row(0, 79)[95],
                         expected_byte(large, VA_FOURCC_NV12, 0, 95, 79));
}
GST_END_TEST;

GST_START_TEST(client_that_lists_modifiers_gets_one_of_them) {
  const ScopedEnvironment knob("DXVASOFT_LAYOUT", "tiled");
  Client client;
  const struct {
    std::vector<uint64_t> offered;
    uint64_t granted;
  } cases[] = {{{0}, 0}, {{1, kMadeUpModifier, 0}, kMadeUpModifier}, {{0, 1}, 0}};
  for (const auto& one : cases) {
    std::vector<uint64_t> offered = one.offered;
    VADRMFormatModifierList list{.num_modifiers = static_cast<uint32_t>(offered.size()),
                                 .modifiers = offered.data()};
    VASurfaceAttrib wish{};
    wish.type = VASurfaceAttribDRMFormatModifiers;
    wish.flags = VA_SURFACE_ATTRIB_SETTABLE;
    wish.value.type = VAGenericValueTypePointer;
    wish.value.value.p = &list;
    VASurfaceID surface = VA_INVALID_SURFACE;
    fail_unless_equals_int(
        vaCreateSurfaces(client.display(), VA_RT_FORMAT_YUV420, 64, 48, &surface, 1, &wish, 1),
        VA_STATUS_SUCCESS);
    const Export exported(client, surface);
    fail_unless_equals_uint64(exported.descriptor().objects[0].drm_format_modifier,
                              one.granted);
  }
}
GST_END_TEST;

// The surface's modifier; 1 when the driver makes none for that list.
static uint64_t modifier_for_linear_only(Client& client) {
  uint64_t linear = 0;
  VADRMFormatModifierList list{.num_modifiers = 1, .modifiers = &linear};
  VASurfaceAttrib wish{};
  wish.type = VASurfaceAttribDRMFormatModifiers;
  wish.flags = VA_SURFACE_ATTRIB_SETTABLE;
  wish.value.type = VAGenericValueTypePointer;
  wish.value.value.p = &list;
  VASurfaceID surface = VA_INVALID_SURFACE;
  const VAStatus made =
      vaCreateSurfaces(client.display(), VA_RT_FORMAT_YUV420, 64, 48, &surface, 1, &wish, 1);
  if (made == VA_STATUS_ERROR_ATTR_NOT_SUPPORTED) return 1;
  fail_unless_equals_int(made, VA_STATUS_SUCCESS);
  return Export(client, surface).descriptor().objects[0].drm_format_modifier;
}

GST_START_TEST(lists_of_modifiers_are_answered_as_the_knob_says) {
  const ScopedEnvironment layout("DXVASOFT_LAYOUT", "tiled");
  const struct {
    const char* knob;
    uint64_t modifier;
    bool named;  // among the surface attributes
  } cases[] = {{"honoured", 0, true},
               {"ignored", kMadeUpModifier, true},
               {"refused", 1, true},
               {"unlisted", kMadeUpModifier, false}};
  for (const auto& one : cases) {
    const ScopedEnvironment knob("DXVASOFT_MODIFIERS", one.knob);
    Client client;
    fail_unless_equals_uint64(modifier_for_linear_only(client), one.modifier);
    VAConfigID config = VA_INVALID_ID;
    fail_unless_equals_int(vaCreateConfig(client.display(), VAProfileH264Main, VAEntrypointVLD,
                                          nullptr, 0, &config),
                           VA_STATUS_SUCCESS);
    VASurfaceAttrib attributes[32];
    unsigned count = 32;
    fail_unless_equals_int(
        vaQuerySurfaceAttributes(client.display(), config, attributes, &count),
        VA_STATUS_SUCCESS);
    bool named = false;
    for (unsigned i = 0; i < count; ++i)
      named |= attributes[i].type == VASurfaceAttribDRMFormatModifiers;
    fail_unless_equals_int(named, one.named);
  }
}
GST_END_TEST;

GST_START_TEST(surfaces_turn_tiled_at_an_export) {
  const ScopedEnvironment layout("DXVASOFT_LAYOUT", "tiled");
  const ScopedEnvironment knob("DXVASOFT_TILED_FROM", "3");
  Client client;
  const Size size{.width = 200, .height = 30};
  const FakeOrder order{.width = size.width, .height = size.height, .seed = 6};
  const VASurfaceID surface = decoded(client, size, order);
  for (int export_number = 1; export_number <= 4; ++export_number) {
    const Export exported(client, surface);
    const bool tiled = export_number >= 3;
    fail_unless_equals_uint64(exported.descriptor().objects[0].drm_format_modifier,
                              tiled ? kMadeUpModifier : 0);
    fail_unless(tiled ? shows_in_tiles(exported, order, VA_FOURCC_NV12, size)
                      : shows(exported, order, VA_FOURCC_NV12, size.width, size.height));
    fail_unless(reads_back(client, surface, size, order));
  }
  const FakeOrder next{.width = size.width, .height = size.height, .seed = 7};
  fail_unless_equals_int(client.decode(client.context(size.width, size.height), surface, next),
                         VA_STATUS_SUCCESS);
  fail_unless(reads_back(client, surface, size, next));
}
GST_END_TEST;

GST_START_TEST(composed_layout_has_one_layer_whatever_is_asked) {
  const ScopedEnvironment knob("DXVASOFT_LAYOUT", "composed");
  Client client;
  const FakeOrder order{.seed = 2};
  const VASurfaceID surface = decoded(client, {64, 48}, order);
  for (const uint32_t flags :
       {uint32_t{VA_EXPORT_SURFACE_READ_ONLY | VA_EXPORT_SURFACE_SEPARATE_LAYERS}, kComposed,
        uint32_t{VA_EXPORT_SURFACE_READ_ONLY}}) {
    // Mapped for writing, or the helper cannot map it.
    const Export exported(client, surface, flags | VA_EXPORT_SURFACE_READ_WRITE);
    fail_unless_equals_int(exported.descriptor().num_layers, 1);
    fail_unless_equals_int(exported.descriptor().layers[0].num_planes, 2);
    fail_unless_equals_int(exported.descriptor().layers[0].drm_format, format::kNV12);
    fail_unless(shows(exported, order, VA_FOURCC_NV12, 64, 48));
  }
}
GST_END_TEST;

GST_START_TEST(odd_pitch_is_odd_in_samples) {
  const ScopedEnvironment knob("DXVASOFT_LAYOUT", "odd-pitch");
  Client client;
  Client deep(VAProfileHEVCMain10);
  for (const Size size : kSizes) {
    const Export bytes(client, client.surface(size.width, size.height));
    fail_unless_equals_int(bytes.descriptor().layers[0].pitch[0] % 2, 1);
    const Export words(deep, deep.surface(size.width, size.height, VA_FOURCC_P010));
    fail_unless_equals_int(words.descriptor().layers[0].pitch[0] % 4, 2);
  }
}
GST_END_TEST;

GST_START_TEST(descriptor_sizes_can_be_untrue) {
  Client truthful;
  const Export right(truthful, truthful.surface(64, 48));
  const uint32_t size = right.descriptor().objects[0].size;
  fail_unless_equals_uint64(size, right.object_bytes(0));
  {
    const ScopedEnvironment knob("DXVASOFT_DESCRIPTOR_SIZE", "0");
    Client client;
    const Export exported(client, client.surface(64, 48));
    fail_unless_equals_int(exported.descriptor().objects[0].size, 0);
    fail_unless_equals_uint64(exported.object_bytes(0), size);
  }
  {
    const ScopedEnvironment knob("DXVASOFT_DESCRIPTOR_SIZE", "short");
    Client client;
    const Export exported(client, client.surface(64, 48));
    fail_unless(exported.descriptor().objects[0].size < 64 * 48 * 3 / 2);
    fail_unless_equals_uint64(exported.object_bytes(0), size);
  }
}
GST_END_TEST;

GST_START_TEST(exports_can_be_missing_and_nothing_says_otherwise) {
  const Size size = kSizes[0];
  const FakeOrder order{.width = size.width, .height = size.height, .seed = 7};
  const ScopedEnvironment knob("DXVASOFT_EXPORT", "missing");
  Client client;
  const VASurfaceID surface = decoded(client, size, order);
  const Export exported(client, surface);
  fail_unless_equals_int(exported.status(), VA_STATUS_ERROR_UNIMPLEMENTED);
  fail_unless(reads_back(client, surface, size, order));

  std::vector<VASurfaceAttrib> attributes(64);
  unsigned count = static_cast<unsigned>(attributes.size());
  fail_unless_equals_int(
      vaQuerySurfaceAttributes(client.display(), client.config(), attributes.data(), &count),
      VA_STATUS_SUCCESS);
  bool named = false;
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i].type != VASurfaceAttribMemoryType) continue;
    named = true;
    fail_unless_equals_int(attributes[i].value.value.i, VA_SURFACE_ATTRIB_MEM_TYPE_VA);
  }
  fail_unless(named);
}
GST_END_TEST;

GST_START_TEST(late_picture_is_not_there_before_its_sync) {
  const ScopedEnvironment knob("DXVASOFT_LATE_MS", "20");
  Client client;
  const VAContextID context = client.context(64, 48);
  const VASurfaceID surface = client.surface(64, 48);
  // The same surface again and again, as with field pairs: pictures come in their order.
  for (uint32_t seed = 0; seed < 3; ++seed)
    fail_unless_equals_int(client.decode(context, surface, {.seed = seed}), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaSyncSurface(client.display(), surface), VA_STATUS_SUCCESS);
  VASurfaceStatus status{};
  fail_unless_equals_int(vaQuerySurfaceStatus(client.display(), surface, &status),
                         VA_STATUS_SUCCESS);
  fail_unless_equals_int(status, VASurfaceReady);
  const Export exported(client, surface);
  fail_unless(shows(exported, {.seed = 2}, VA_FOURCC_NV12, 64, 48));
  // vaGetImage waits by itself.
  fail_unless_equals_int(client.decode(context, surface, {.seed = 9}), VA_STATUS_SUCCESS);
  fail_unless(reads_back(client, surface, {64, 48}, {.seed = 9}));
}
GST_END_TEST;

GST_START_TEST(surface_is_busy_while_its_picture_is_late) {
  // Nobody waits that long: what is seen below is what is seen in the meantime.
  const ScopedEnvironment knob("DXVASOFT_LATE_MS", "60000");
  Client client;
  const VADisplay display = client.display();
  const VAContextID context = client.context(64, 48);
  VASurfaceID surface = client.surface(64, 48);
  const FakeOrder order{.seed = 5};
  fail_unless_equals_int(client.decode(context, surface, order), VA_STATUS_SUCCESS);
  VASurfaceStatus status{};
  fail_unless_equals_int(vaQuerySurfaceStatus(display, surface, &status), VA_STATUS_SUCCESS);
  fail_unless_equals_int(status, VASurfaceRendering);
  fail_unless_equals_int(vaSyncSurface2(display, surface, 0), VA_STATUS_ERROR_TIMEDOUT);
  const Export exported(client, surface);
  fail_if(shows(exported, order, VA_FOURCC_NV12, 64, 48));
  // An error is told at once, and makes nothing late.
  const VASurfaceID other = client.surface(64, 48);
  fail_unless_equals_int(client.decode(context, other, {.action = FakeAction::BadInput}),
                         VA_STATUS_ERROR_DECODING_ERROR);
  fail_unless_equals_int(vaSyncSurface2(display, other, 0), VA_STATUS_SUCCESS);
  // Gone in the middle of it; the memory lives as long as the picture needs it.
  fail_unless_equals_int(vaDestroySurfaces(display, &surface, 1), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaDestroyContext(display, context), VA_STATUS_SUCCESS);
  client.terminate();
  fail_unless(shows(exported, order, VA_FOURCC_NV12, 64, 48));
}
GST_END_TEST;

GST_START_TEST(faults_of_one_surface_hit_every_call_on_it) {
  const ScopedEnvironment knob(
      "DXVASOFT_FAULT",
      "beginpicture:surface=2,endpicture:surface=3,sync:surface=1,deriveimage:surface=1,"
      "getimage:surface=1,createsurfaces:surface=6");
  Client client;
  const VADisplay display = client.display();
  const VAContextID context = client.context(64, 48);
  VASurfaceID ids[6];
  fail_unless_equals_int(
      vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, 64, 48, ids, 5, nullptr, 0),
      VA_STATUS_SUCCESS);
  // Memory is out at the sixth, however often one asks.
  for (int attempt = 0; attempt < 2; ++attempt)
    fail_unless_equals_int(
        vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, 64, 48, &ids[5], 1, nullptr, 0),
        VA_STATUS_ERROR_ALLOCATION_FAILED);
  for (int round = 0; round < 2; ++round) {
    fail_unless_equals_int(client.decode(context, ids[0], {}), VA_STATUS_SUCCESS);
    fail_unless_equals_int(client.decode(context, ids[1], {}),
                           VA_STATUS_ERROR_OPERATION_FAILED);
    fail_unless_equals_int(client.decode(context, ids[2], {}), VA_STATUS_ERROR_DECODING_ERROR);
    const VAImage image = client.image(VA_FOURCC_NV12, 64, 48);
    for (int i = 0; i < 2; ++i) {
      const VAStatus expected = i == 0 ? VA_STATUS_ERROR_OPERATION_FAILED : VA_STATUS_SUCCESS;
      fail_unless_equals_int(vaSyncSurface(display, ids[i]), expected);
      VAImage derived{};
      fail_unless_equals_int(vaDeriveImage(display, ids[i], &derived), expected);
      fail_unless_equals_int(vaGetImage(display, ids[i], 0, 0, 64, 48, image.image_id),
                             expected);
    }
  }
}
GST_END_TEST;

GST_START_TEST(lost_device_answers_nothing_and_lets_go_of_all) {
  const ScopedEnvironment knob("DXVASOFT_FAULT", "endpicture:lost=2");
  Client client;
  const VADisplay display = client.display();
  const size_t before = open_descriptors();
  VAContextID context = client.context(64, 48);
  VASurfaceID surface = client.surface(64, 48);
  const VAImage image = client.image(VA_FOURCC_NV12, 64, 48);
  fail_unless_equals_int(client.decode(context, surface, {}), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaSyncSurface(display, surface), VA_STATUS_SUCCESS);
  fail_unless_equals_int(client.decode(context, surface, {}), VA_STATUS_ERROR_HW_BUSY);

  VASurfaceStatus status{};
  VAImage derived{};
  VABufferID buffer = VA_INVALID_ID;
  VASurfaceID other = VA_INVALID_SURFACE;
  fail_unless_equals_int(vaQuerySurfaceStatus(display, surface, &status),
                         VA_STATUS_ERROR_HW_BUSY);
  fail_unless_equals_int(vaSyncSurface(display, surface), VA_STATUS_ERROR_HW_BUSY);
  fail_unless_equals_int(vaSyncSurface2(display, surface, 0), VA_STATUS_ERROR_HW_BUSY);
  fail_unless_equals_int(vaDeriveImage(display, surface, &derived), VA_STATUS_ERROR_HW_BUSY);
  fail_unless_equals_int(vaBeginPicture(display, context, surface), VA_STATUS_ERROR_HW_BUSY);
  fail_unless_equals_int(
      vaCreateBuffer(display, context, VASliceDataBufferType, 100, 1, nullptr, &buffer),
      VA_STATUS_ERROR_HW_BUSY);
  fail_unless_equals_int(
      vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, 64, 48, &other, 1, nullptr, 0),
      VA_STATUS_ERROR_HW_BUSY);
  fail_unless_equals_int(Export(client, surface).status(), VA_STATUS_ERROR_HW_BUSY);

  fail_unless_equals_int(vaDestroyImage(display, image.image_id), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaDestroySurfaces(display, &surface, 1), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaDestroyContext(display, context), VA_STATUS_SUCCESS);
  fail_unless_equals_int(open_descriptors(), before);
  // The next start is on a device that is there again.
  client.terminate();
  Client again;
  fail_unless_equals_int(again.decode(again.context(64, 48), again.surface(64, 48), {}),
                         VA_STATUS_SUCCESS);
}
GST_END_TEST;

GST_START_TEST(hung_sync_ends_at_its_time_out) {
  const ScopedEnvironment knob("DXVASOFT_FAULT", "sync:hang-from=2");
  Client client;
  const VASurfaceID surface = client.surface(64, 48);
  fail_unless_equals_int(client.decode(client.context(64, 48), surface, {}), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaSyncSurface(client.display(), surface), VA_STATUS_SUCCESS);
  for (const uint64_t timeout_ns : {0, 1'000'000})
    fail_unless_equals_int(vaSyncSurface2(client.display(), surface, timeout_ns),
                           VA_STATUS_ERROR_TIMEDOUT);
  // Everything else goes on.
  fail_unless_equals_int(Export(client, surface).status(), VA_STATUS_SUCCESS);
}
GST_END_TEST;

// The words of a driver that does not start with this setting; empty where it starts.
std::string refusal_with(const char* name, const char* value) {
  const ScopedEnvironment setting(name, value);
  std::string words;
  auto display = dxva::va::HeadlessDisplay::create("dxvasofttest");
  fail_unless(static_cast<bool>(display));
  vaSetErrorCallback(
      display->get(),
      [](void* all, const char* text) { static_cast<std::string*>(all)->append(text); },
      &words);
  return display->initialize() ? std::string() : words;
}

GST_START_TEST(a_name_that_is_no_setting_is_refused_with_those_that_are) {
  for (const char* name : {"DXVASOFT_FUALT", "DXVASOFT_", "DXVASOFT_LAYOUT_"}) {
    const std::string words = refusal_with(name, "export:from=1");
    fail_unless(words.find(std::string(name) + " is no setting") != std::string::npos, "%s",
                words.c_str());
    fail_unless(words.find("FAULT, ") != std::string::npos, "%s", words.c_str());
  }
  // Of others, and ours, also where they ask for nothing.
  for (const char* name : {"DXVASOF_FAULT", "DXVASOFT_FAULT", "DXVASOFT_DUMP"}) {
    const std::string words = refusal_with(name, "");
    fail_unless(words.empty(), "%s: %s", name, words.c_str());
  }
}
GST_END_TEST;

GST_START_TEST(log_tells_what_was_called_on_which_surface) {
  std::string name = (std::filesystem::temp_directory_path() / "dxvasoft-log-XXXXXX").string();
  { const dxva::UniqueFd made{::mkstemp(name.data())}; }
  {
    const ScopedEnvironment knob("DXVASOFT_LOG", name.c_str());
    const ScopedEnvironment fault("DXVASOFT_FAULT", "export:surface=2");
    Client client;
    const VASurfaceID one = client.surface(64, 48), two = client.surface(64, 48);
    fail_unless_equals_int(Export(client, one).status(), VA_STATUS_SUCCESS);
    fail_unless_equals_int(Export(client, two).status(), VA_STATUS_ERROR_OPERATION_FAILED);
    std::ostringstream expected;
    expected << "createconfig\ncreatesurfaces surface=1\nsurface=1 id=0x" << std::hex << one
             << "\ncreatesurfaces surface=2\nsurface=2 id=0x" << two
             << "\nexport surface=1\nexport surface=2 failed\n";
    std::stringstream written;
    written << std::ifstream(name).rdbuf();
    // The macro keeps the pointers, so the strings need names.
    const std::string log = written.str();
    const std::string wanted = expected.str();
    fail_unless_equals_string(log.c_str(), wanted.c_str());
  }
  std::filesystem::remove(name);
}
GST_END_TEST;

Suite* softva_knobs_suite() {
  Suite* suite = suite_create("softva_knobs");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, tiled_memory_is_scrambled_and_says_so);
  tcase_add_test(tcase, tiled_words_read_back_right);
  tcase_add_test(tcase, tiled_surface_keeps_what_the_picture_does_not_cover);
  tcase_add_test(tcase, client_that_lists_modifiers_gets_one_of_them);
  tcase_add_test(tcase, lists_of_modifiers_are_answered_as_the_knob_says);
  tcase_add_test(tcase, surfaces_turn_tiled_at_an_export);
  tcase_add_test(tcase, composed_layout_has_one_layer_whatever_is_asked);
  tcase_add_test(tcase, odd_pitch_is_odd_in_samples);
  tcase_add_test(tcase, descriptor_sizes_can_be_untrue);
  tcase_add_test(tcase, exports_can_be_missing_and_nothing_says_otherwise);
  tcase_add_test(tcase, late_picture_is_not_there_before_its_sync);
  tcase_add_test(tcase, surface_is_busy_while_its_picture_is_late);
  tcase_add_test(tcase, faults_of_one_surface_hit_every_call_on_it);
  tcase_add_test(tcase, lost_device_answers_nothing_and_lets_go_of_all);
  tcase_add_test(tcase, hung_sync_ends_at_its_time_out);
  tcase_add_test(tcase, a_name_that_is_no_setting_is_refused_with_those_that_are);
  tcase_add_test(tcase, log_tells_what_was_called_on_which_surface);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(softva_knobs)
