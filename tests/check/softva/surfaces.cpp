// SPDX-License-Identifier: LGPL-2.1-or-later

// Surfaces as memory: what an export says is where the pixels are, in every layout; what is
// imported is checked and then drawn into.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>

#include "lib/base/fourcc.hpp"
#include "lib/base/unique_fd.hpp"
#include "tests/check/softva/client.hpp"
#include "tests/check/support/check.hpp"

using dxva::UniqueFd;
using namespace dxva::softva::test;
namespace format = dxva::format;

namespace {

constexpr uint32_t kSeparate = VA_EXPORT_SURFACE_READ_WRITE | VA_EXPORT_SURFACE_SEPARATE_LAYERS;
constexpr uint32_t kComposed = VA_EXPORT_SURFACE_READ_WRITE | VA_EXPORT_SURFACE_COMPOSED_LAYERS;
constexpr const char* kLayouts[] = {"tight",       "padded",  "gap",
                                    "two-objects", "dup-fds", "odd-pitch"};

struct Size {
  uint32_t width, height;
};
constexpr Size kSizes[] = {{64, 48}, {1, 1}, {61, 47}, {1918, 1078}, {2, 3}};

struct stat stat_of(int fd) {
  struct stat out {};
  fail_unless_equals_int(::fstat(fd, &out), 0);
  return out;
}

void check_numbers(const Export& exported, uint32_t fourcc, Size size) {
  const VADRMPRIMESurfaceDescriptor& descriptor = exported.descriptor();
  fail_unless_equals_int(descriptor.fourcc, fourcc);
  fail_unless_equals_int(descriptor.width, size.width);
  fail_unless_equals_int(descriptor.height, size.height);
  for (uint32_t i = 0; i < descriptor.num_objects; ++i) {
    fail_unless_equals_uint64(descriptor.objects[i].drm_format_modifier, 0);
    // gst-va takes the size by lseek and relies on the descriptor's not being larger.
    fail_unless(descriptor.objects[i].size <= exported.object_bytes(i));
  }
  const bool composed = descriptor.num_layers == 1;
  for (uint32_t plane = 0; plane < 2; ++plane) {
    const auto& layer = descriptor.layers[composed ? 0 : plane];
    const uint32_t within = composed ? plane : 0;
    fail_unless(layer.object_index[within] < descriptor.num_objects);
    fail_unless(layer.pitch[within] >= row_bytes(fourcc, plane, size.width));
    const uint64_t end =
        layer.offset[within] + uint64_t{layer.pitch[within]} * rows(plane, size.height);
    fail_unless(end <= descriptor.objects[layer.object_index[within]].size);
  }
}

GST_START_TEST(export_shows_the_decoded_picture_in_every_layout) {
  for (const char* layout : kLayouts) {
    const ScopedEnvironment knob("DXVASOFT_LAYOUT", layout);
    Client client;
    for (const Size size : kSizes) {
      const VASurfaceID surface = client.surface(size.width, size.height);
      const VAContextID context = client.context(size.width, size.height);
      const FakeOrder order{.width = size.width, .height = size.height, .seed = 5};
      fail_unless_equals_int(client.decode(context, surface, order), VA_STATUS_SUCCESS);
      for (const uint32_t flags : {kSeparate, kComposed}) {
        const Export exported(client, surface, flags);
        fail_unless_equals_int(exported.status(), VA_STATUS_SUCCESS);
        check_numbers(exported, VA_FOURCC_NV12, size);
        fail_unless(shows(exported, order, VA_FOURCC_NV12, size.width, size.height), "%s %ux%u",
                    layout, size.width, size.height);
      }
    }
  }
}
GST_END_TEST;

GST_START_TEST(ten_bit_export_has_words_with_the_sample_on_top) {
  for (const char* layout : kLayouts) {
    const ScopedEnvironment knob("DXVASOFT_LAYOUT", layout);
    Client client(VAProfileHEVCMain10);
    for (const Size size : kSizes) {
      const VASurfaceID surface = client.surface(size.width, size.height, VA_FOURCC_P010);
      const VAContextID context = client.context(size.width, size.height);
      const FakeOrder order{
          .width = size.width, .height = size.height, .bit_depth = 10, .seed = 9};
      fail_unless_equals_int(client.decode(context, surface, order), VA_STATUS_SUCCESS);
      const Export exported(client, surface);
      fail_unless_equals_int(exported.status(), VA_STATUS_SUCCESS);
      check_numbers(exported, VA_FOURCC_P010, size);
      fail_unless(shows(exported, order, VA_FOURCC_P010, size.width, size.height));
      fail_unless_equals_int(exported.descriptor().layers[0].drm_format, format::kR16);
      fail_unless_equals_int(exported.descriptor().layers[1].drm_format, format::kGR1616);
    }
  }
}
GST_END_TEST;

GST_START_TEST(layers_are_separate_unless_composed_is_asked_for) {
  Client client;
  const VASurfaceID surface = client.surface(64, 48);
  for (const uint32_t flags : {kSeparate, uint32_t{VA_EXPORT_SURFACE_READ_ONLY}}) {
    const Export exported(client, surface, flags);
    fail_unless_equals_int(exported.descriptor().num_layers, 2);
    fail_unless_equals_int(exported.descriptor().layers[0].drm_format, format::kR8);
    fail_unless_equals_int(exported.descriptor().layers[1].drm_format, format::kGR88);
    fail_unless_equals_int(exported.descriptor().layers[1].num_planes, 1);
  }
  const Export composed(client, surface, kComposed);
  fail_unless_equals_int(composed.descriptor().num_layers, 1);
  fail_unless_equals_int(composed.descriptor().layers[0].drm_format, format::kNV12);
  fail_unless_equals_int(composed.descriptor().layers[0].num_planes, 2);
}
GST_END_TEST;

GST_START_TEST(tight_layout_is_what_strict_importers_accept) {
  Client client;
  const VASurfaceID surface = client.surface(1918, 1078);
  const Export exported(client, surface);
  const VADRMPRIMESurfaceDescriptor& descriptor = exported.descriptor();
  fail_unless_equals_int(descriptor.num_objects, 1);
  fail_unless_equals_int(descriptor.layers[0].offset[0], 0);
  fail_unless_equals_int(descriptor.layers[0].pitch[0], descriptor.layers[1].pitch[0]);
  fail_unless_equals_int(descriptor.layers[1].offset[0], descriptor.layers[0].pitch[0] * 1078);
}
GST_END_TEST;

GST_START_TEST(other_layouts_are_what_they_are_called) {
  constexpr uint32_t kWidth = 128, kHeight = 40;
  {
    const ScopedEnvironment knob("DXVASOFT_LAYOUT", "padded");
    Client client;
    const Export exported(client, client.surface(kWidth, kHeight));
    const auto& layers = exported.descriptor().layers;
    fail_unless(layers[0].pitch[0] > kWidth);
    fail_unless(layers[1].offset[0] > layers[0].pitch[0] * kHeight);
    fail_unless_equals_int(layers[1].offset[0] % layers[0].pitch[0], 0);
  }
  {
    const ScopedEnvironment knob("DXVASOFT_LAYOUT", "gap");
    Client client;
    const Export exported(client, client.surface(kWidth, kHeight));
    const auto& layers = exported.descriptor().layers;
    fail_unless(layers[1].offset[0] > layers[0].pitch[0] * kHeight);
    fail_if(layers[1].offset[0] % layers[0].pitch[0] == 0);
  }
  {
    const ScopedEnvironment knob("DXVASOFT_LAYOUT", "two-objects");
    Client client;
    const Export exported(client, client.surface(kWidth, kHeight));
    fail_unless_equals_int(exported.descriptor().num_objects, 2);
    fail_if(stat_of(exported.descriptor().objects[0].fd).st_ino ==
            stat_of(exported.descriptor().objects[1].fd).st_ino);
  }
  {
    const ScopedEnvironment knob("DXVASOFT_LAYOUT", "dup-fds");
    Client client;
    const Export exported(client, client.surface(kWidth, kHeight));
    fail_unless_equals_int(exported.descriptor().num_objects, 2);
    fail_if(exported.descriptor().objects[0].fd == exported.descriptor().objects[1].fd);
    fail_unless(stat_of(exported.descriptor().objects[0].fd).st_ino ==
                stat_of(exported.descriptor().objects[1].fd).st_ino);
  }
}
GST_END_TEST;

GST_START_TEST(odd_pitch_alignment_is_obeyed) {
  const ScopedEnvironment knob("DXVASOFT_PITCH_ALIGN", "7");
  Client client;
  const Export exported(client, client.surface(64, 48));
  fail_unless_equals_int(exported.descriptor().layers[0].pitch[0], 70);
  Client deep(VAProfileHEVCMain10);
  // Words stay on even addresses whatever was asked.
  const Export words(deep, deep.surface(3, 3, VA_FOURCC_P010));
  fail_unless_equals_int(words.descriptor().layers[0].pitch[0] % 2, 0);
}
GST_END_TEST;

GST_START_TEST(two_exports_are_the_same_buffer) {
  Client client;
  const VASurfaceID surface = client.surface(64, 48);
  const VASurfaceID other = client.surface(64, 48);
  const Export one_export(client, surface);
  const Export again(client, surface);
  const Export stranger(client, other);
  const struct stat one = stat_of(one_export.descriptor().objects[0].fd);
  const struct stat two = stat_of(again.descriptor().objects[0].fd);
  fail_if(one_export.descriptor().objects[0].fd == again.descriptor().objects[0].fd);
  fail_unless(one.st_ino == two.st_ino && one.st_dev == two.st_dev);
  fail_if(one.st_ino == stat_of(stranger.descriptor().objects[0].fd).st_ino);
  one_export.row(0, 3)[4] = 77;
  fail_unless_equals_int(again.row(0, 3)[4], 77);
}
GST_END_TEST;

GST_START_TEST(exported_memfd_cannot_be_shrunk) {
  const ScopedEnvironment knob("DXVASOFT_MEMORY", "memfd");
  Client client;
  const Export exported(client, client.surface(64, 48));
  const int fd = exported.descriptor().objects[0].fd;
  fail_unless(::fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK);
  fail_if(::ftruncate(fd, 0) == 0);
  fail_unless(::fcntl(fd, F_GETFD) & FD_CLOEXEC);
}
GST_END_TEST;

GST_START_TEST(export_outlives_the_surface) {
  Client client;
  const VASurfaceID surface = client.surface(64, 48);
  const FakeOrder order{};
  fail_unless_equals_int(client.decode(client.context(64, 48), surface, order),
                         VA_STATUS_SUCCESS);
  const Export exported(client, surface);
  VASurfaceID id = surface;
  fail_unless_equals_int(vaDestroySurfaces(client.display(), &id, 1), VA_STATUS_SUCCESS);
  fail_unless(shows(exported, order, VA_FOURCC_NV12, 64, 48));
}
GST_END_TEST;

GST_START_TEST(attributes_follow_the_config) {
  struct {
    VAProfile profile;
    uint32_t rt_format;
    std::vector<uint32_t> fourccs;
  } const cases[] = {
      {VAProfileH264High, VA_RT_FORMAT_YUV420, {VA_FOURCC_NV12}},
      {VAProfileHEVCMain10, VA_RT_FORMAT_YUV420_10, {VA_FOURCC_P010}},
      {VAProfileHEVCMain10,
       VA_RT_FORMAT_YUV420 | VA_RT_FORMAT_YUV420_10,
       {VA_FOURCC_NV12, VA_FOURCC_P010}},
  };
  Client client;
  for (const auto& one : cases) {
    VAConfigAttrib wanted{.type = VAConfigAttribRTFormat, .value = one.rt_format};
    VAConfigID config;
    fail_unless_equals_int(
        vaCreateConfig(client.display(), one.profile, VAEntrypointVLD, &wanted, 1, &config),
        VA_STATUS_SUCCESS);
    unsigned count = 0;
    fail_unless_equals_int(vaQuerySurfaceAttributes(client.display(), config, nullptr, &count),
                           VA_STATUS_SUCCESS);
    std::vector<VASurfaceAttrib> list(count);
    unsigned too_few = count - 1;
    fail_unless_equals_int(
        vaQuerySurfaceAttributes(client.display(), config, list.data(), &too_few),
        VA_STATUS_ERROR_MAX_NUM_EXCEEDED);
    fail_unless_equals_int(
        vaQuerySurfaceAttributes(client.display(), config, list.data(), &count),
        VA_STATUS_SUCCESS);

    std::vector<uint32_t> fourccs;
    uint32_t memory = 0;
    int max_width = 0;
    for (const VASurfaceAttrib& attribute : list) {
      if (attribute.type == VASurfaceAttribPixelFormat)
        fourccs.push_back(static_cast<uint32_t>(attribute.value.value.i));
      if (attribute.type == VASurfaceAttribMemoryType)
        memory = static_cast<uint32_t>(attribute.value.value.i);
      if (attribute.type == VASurfaceAttribMaxWidth) max_width = attribute.value.value.i;
    }
    fail_unless(fourccs == one.fourccs);
    fail_unless(memory & VA_SURFACE_ATTRIB_MEM_TYPE_VA);
    fail_unless(memory & VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2);
    fail_unless_equals_int(max_width, 8192);
  }
}
GST_END_TEST;

GST_START_TEST(wishes_of_real_clients_are_granted) {
  Client client;
  uint64_t modifiers[] = {1, 0, 2};
  VADRMFormatModifierList list{.num_modifiers = 3, .modifiers = modifiers};
  VASurfaceAttrib wishes[4]{};
  wishes[0] = {.type = VASurfaceAttribPixelFormat,
               .flags = VA_SURFACE_ATTRIB_SETTABLE,
               .value = {.type = VAGenericValueTypeInteger, .value = {.i = VA_FOURCC_NV12}}};
  wishes[1] = {.type = VASurfaceAttribUsageHint,
               .flags = VA_SURFACE_ATTRIB_SETTABLE,
               .value = {.type = VAGenericValueTypeInteger,
                         .value = {.i = VA_SURFACE_ATTRIB_USAGE_HINT_DECODER}}};
  wishes[2] = {.type = VASurfaceAttribMemoryType,
               .flags = VA_SURFACE_ATTRIB_SETTABLE,
               .value = {.type = VAGenericValueTypeInteger,
                         .value = {.i = VA_SURFACE_ATTRIB_MEM_TYPE_VA}}};
  wishes[3] = {.type = VASurfaceAttribDRMFormatModifiers,
               .flags = VA_SURFACE_ATTRIB_SETTABLE,
               .value = {.type = VAGenericValueTypePointer, .value = {.p = &list}}};
  VASurfaceID ids[3];
  fail_unless_equals_int(
      vaCreateSurfaces(client.display(), VA_RT_FORMAT_YUV420, 64, 48, ids, 3, wishes, 4),
      VA_STATUS_SUCCESS);
  VASurfaceStatus status{};
  fail_unless_equals_int(vaQuerySurfaceStatus(client.display(), ids[2], &status),
                         VA_STATUS_SUCCESS);
  fail_unless_equals_int(status, VASurfaceReady);
}
GST_END_TEST;

// --- import

VAStatus import(const Client& client, VADRMPRIMESurfaceDescriptor& descriptor, uint32_t width,
                uint32_t height, VASurfaceID* id, uint32_t rt_format = VA_RT_FORMAT_YUV420) {
  VASurfaceAttrib wishes[2]{};
  wishes[0] = {.type = VASurfaceAttribMemoryType,
               .flags = VA_SURFACE_ATTRIB_SETTABLE,
               .value = {.type = VAGenericValueTypeInteger,
                         .value = {.i = VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2}}};
  wishes[1] = {.type = VASurfaceAttribExternalBufferDescriptor,
               .flags = VA_SURFACE_ATTRIB_SETTABLE,
               .value = {.type = VAGenericValueTypePointer, .value = {.p = &descriptor}}};
  return vaCreateSurfaces(client.display(), rt_format, width, height, id, 1, wishes, 2);
}

GST_START_TEST(decoding_into_an_import_fills_the_strangers_buffer) {
  for (const char* layout : kLayouts) {
    const ScopedEnvironment knob("DXVASOFT_LAYOUT", layout);
    Client client;
    for (const uint32_t flags : {kSeparate, kComposed}) {
      Export lent(client, client.surface(61, 47), flags);
      const size_t before = open_descriptors();
      VASurfaceID imported = VA_INVALID_SURFACE;
      fail_unless_equals_int(import(client, lent.descriptor(), 61, 47, &imported),
                             VA_STATUS_SUCCESS);
      const FakeOrder order{.width = 61, .height = 47, .seed = 3};
      fail_unless_equals_int(client.decode(client.context(61, 47), imported, order),
                             VA_STATUS_SUCCESS);
      fail_unless(shows(lent, order, VA_FOURCC_NV12, 61, 47));
      fail_unless_equals_int(vaDestroySurfaces(client.display(), &imported, 1),
                             VA_STATUS_SUCCESS);
      // The client's descriptors are still the client's.
      fail_unless_equals_int(open_descriptors(), before);
      stat_of(lent.descriptor().objects[0].fd);
    }
  }
}
GST_END_TEST;

GST_START_TEST(hostile_descriptors_are_refused) {
  Client client;
  const Export lent(client, client.surface(64, 48));
  const VADRMPRIMESurfaceDescriptor good = lent.descriptor();
  const UniqueFd unsealed{::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  fail_unless_equals_int(::ftruncate(unsealed.get(), 1 << 16), 0);
  int pipe_fds[2];
  fail_unless_equals_int(::pipe(pipe_fds), 0);
  const UniqueFd pipe_read{pipe_fds[0]}, pipe_write{pipe_fds[1]};
  const UniqueFd null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  const UniqueFd read_only{::open(
      ("/proc/self/fd/" + std::to_string(good.objects[0].fd)).c_str(), O_RDONLY | O_CLOEXEC)};

  using Spoil = std::function<void(VADRMPRIMESurfaceDescriptor&)>;
  struct {
    const char* what;
    Spoil spoil;
  } const cases[] = {
      {"another format", [](auto& d) { d.fourcc = VA_FOURCC_P010; }},
      {"another size", [](auto& d) { d.width = 63; }},
      {"no objects", [](auto& d) { d.num_objects = 0; }},
      {"too many objects", [](auto& d) { d.num_objects = 5; }},
      {"no layers", [](auto& d) { d.num_layers = 0; }},
      {"too many layers", [](auto& d) { d.num_layers = 4000; }},
      {"composed with one plane", [](auto& d) { d.num_layers = 1; }},
      {"no planes", [](auto& d) { d.layers[1].num_planes = 0; }},
      {"too many planes", [](auto& d) { d.layers[0].num_planes = 9; }},
      {"a layer of another format", [](auto& d) { d.layers[1].drm_format = format::kR8; }},
      {"an object nobody sent", [](auto& d) { d.layers[1].object_index[0] = 3; }},
      {"a closed descriptor", [](auto& d) { d.objects[0].fd = 999999; }},
      {"no descriptor", [](auto& d) { d.objects[0].fd = -1; }},
      {"a pipe", [&](auto& d) { d.objects[0].fd = pipe_read.get(); }},
      {"/dev/null", [&](auto& d) { d.objects[0].fd = null.get(); }},
      {"memory that can shrink", [&](auto& d) { d.objects[0].fd = unsealed.get(); }},
      {"memory that cannot be written", [&](auto& d) { d.objects[0].fd = read_only.get(); }},
      {"a size above the real one", [](auto& d) { d.objects[0].size = 1u << 30; }},
      {"a tiled modifier", [](auto& d) { d.objects[0].drm_format_modifier = 1; }},
      {"no modifier",
       [](auto& d) { d.objects[0].drm_format_modifier = dxva::kModifierInvalid; }},
      {"pitch 0", [](auto& d) { d.layers[0].pitch[0] = 0; }},
      {"pitch below a row", [](auto& d) { d.layers[0].pitch[0] = 63; }},
      {"pitch out of the buffer", [](auto& d) { d.layers[0].pitch[0] = 1 << 20; }},
      {"largest pitch", [](auto& d) { d.layers[1].pitch[0] = UINT32_MAX; }},
      {"offset out of the buffer", [](auto& d) { d.layers[1].offset[0] = 1 << 20; }},
      {"largest offset", [](auto& d) { d.layers[1].offset[0] = UINT32_MAX; }},
  };
  const size_t before = open_descriptors();
  for (const auto& one : cases) {
    VADRMPRIMESurfaceDescriptor bad = good;
    one.spoil(bad);
    VASurfaceID id = VA_INVALID_SURFACE;
    const VAStatus status = import(client, bad, 64, 48, &id);
    fail_unless(status == VA_STATUS_ERROR_INVALID_PARAMETER, "%s: %d", one.what, status);
    fail_unless(open_descriptors() == before, "%s: descriptor leaked", one.what);
  }
  VADRMPRIMESurfaceDescriptor fine = good;
  VASurfaceID id = VA_INVALID_SURFACE;
  fail_unless_equals_int(import(client, fine, 64, 48, &id), VA_STATUS_SUCCESS);
}
GST_END_TEST;

GST_START_TEST(words_on_odd_addresses_are_refused) {
  Client client(VAProfileHEVCMain10);
  Export lent(client, client.surface(64, 40, VA_FOURCC_P010));
  VADRMPRIMESurfaceDescriptor bad = lent.descriptor();
  VASurfaceID id = VA_INVALID_SURFACE;
  bad.layers[0].offset[0] = 1;
  fail_unless_equals_int(import(client, bad, 64, 40, &id, VA_RT_FORMAT_YUV420_10),
                         VA_STATUS_ERROR_INVALID_PARAMETER);
  bad = lent.descriptor();
  bad.layers[0].pitch[0] += 1;
  fail_unless_equals_int(import(client, bad, 64, 40, &id, VA_RT_FORMAT_YUV420_10),
                         VA_STATUS_ERROR_INVALID_PARAMETER);
}
GST_END_TEST;

GST_START_TEST(running_out_of_descriptors_is_an_error_and_leaves_none) {
  Client client;
  const VASurfaceID surface = client.surface(64, 48);
  std::vector<UniqueFd> hog;
  for (;;) {
    UniqueFd fd = UniqueFd::duplicate(0);
    if (!fd.valid()) break;
    hog.push_back(std::move(fd));
  }
  fail_if(hog.empty());
  VASurfaceID id = VA_INVALID_SURFACE;
  fail_unless_equals_int(
      vaCreateSurfaces(client.display(), VA_RT_FORMAT_YUV420, 64, 48, &id, 1, nullptr, 0),
      VA_STATUS_ERROR_ALLOCATION_FAILED);
  fail_unless_equals_int(Export(client, surface).status(), VA_STATUS_ERROR_ALLOCATION_FAILED);
  hog.pop_back();
  // One descriptor is enough for one object.
  fail_unless_equals_int(Export(client, surface).status(), VA_STATUS_SUCCESS);
  fail_unless_equals_int(Export(client, surface).status(), VA_STATUS_SUCCESS);
}
GST_END_TEST;

Suite* softva_surfaces_suite() {
  Suite* suite = suite_create("softva_surfaces");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, export_shows_the_decoded_picture_in_every_layout);
  tcase_add_test(tcase, ten_bit_export_has_words_with_the_sample_on_top);
  tcase_add_test(tcase, layers_are_separate_unless_composed_is_asked_for);
  tcase_add_test(tcase, tight_layout_is_what_strict_importers_accept);
  tcase_add_test(tcase, other_layouts_are_what_they_are_called);
  tcase_add_test(tcase, odd_pitch_alignment_is_obeyed);
  tcase_add_test(tcase, two_exports_are_the_same_buffer);
  tcase_add_test(tcase, exported_memfd_cannot_be_shrunk);
  tcase_add_test(tcase, export_outlives_the_surface);
  tcase_add_test(tcase, attributes_follow_the_config);
  tcase_add_test(tcase, wishes_of_real_clients_are_granted);
  tcase_add_test(tcase, decoding_into_an_import_fills_the_strangers_buffer);
  tcase_add_test(tcase, hostile_descriptors_are_refused);
  tcase_add_test(tcase, words_on_odd_addresses_are_refused);
  tcase_add_test(tcase, running_out_of_descriptors_is_an_error_and_leaves_none);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(softva_surfaces)
