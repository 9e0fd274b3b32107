// SPDX-License-Identifier: LGPL-2.1-or-later

// Surfaces in memory of Vulkan's: exported as what they are and as nothing else, and whole for
// everybody who reads them through the driver.

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "lib/base/unique_fd.hpp"
#include "lib/dmabuf/opaque.hpp"
#include "lib/dmabuf/opaque_surface.hpp"
#include "tests/check/softva/client.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/in_child.hpp"

using dxva::UniqueFd;
using dxva::dmabuf::OpaqueSurfaceDescriptor;
using namespace dxva::softva::test;

namespace {

constexpr uint32_t kOpaque = dxva::dmabuf::kOpaqueFdMemoryType;

struct OpaqueExport {
  OpaqueExport(const Client& client, VASurfaceID surface,
               uint32_t version = OpaqueSurfaceDescriptor::kVersion) {
    descriptor.version = version;
    status = vaExportSurfaceHandle(client.display(), surface, kOpaque,
                                   VA_EXPORT_SURFACE_READ_ONLY, &descriptor);
    for (uint32_t i = 0; status == VA_STATUS_SUCCESS && i < descriptor.object_count; ++i)
      fds.emplace_back(descriptor.objects[i].fd);
  }
  OpaqueSurfaceDescriptor descriptor{};
  VAStatus status;
  std::vector<UniqueFd> fds;
};

VAStatus export_prime(const Client& client, VASurfaceID surface) {
  VADRMPRIMESurfaceDescriptor descriptor{};
  return vaExportSurfaceHandle(
      client.display(), surface, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2,
      VA_EXPORT_SURFACE_READ_ONLY | VA_EXPORT_SURFACE_SEPARATE_LAYERS, &descriptor);
}

uint32_t memory_types(const Client& client) {
  std::vector<VASurfaceAttrib> list(64);
  auto count = static_cast<unsigned>(list.size());
  fail_unless_equals_int(
      vaQuerySurfaceAttributes(client.display(), client.config(), list.data(), &count),
      VA_STATUS_SUCCESS);
  for (unsigned i = 0; i < count; ++i)
    if (list[i].type == VASurfaceAttribMemoryType)
      return static_cast<uint32_t>(list[i].value.value.i);
  return 0;
}

}  // namespace

GST_START_TEST(memory_of_vulkan_is_exported_as_what_it_is) {
  const ScopedEnvironment knob("DXVASOFT_MEMORY", "vulkan");
  Client client;
  fail_unless((memory_types(client) & kOpaque) != 0);
  fail_unless((memory_types(client) & VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2) == 0);
  std::set<uint64_t> ids;
  for (int i = 0; i < 3; ++i) {
    const VASurfaceID surface = client.surface(61, 47);
    fail_unless_equals_int(export_prime(client, surface),
                           VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE);
    const OpaqueExport one(client, surface), again(client, surface);
    fail_unless_equals_int(one.status, VA_STATUS_SUCCESS);
    const OpaqueSurfaceDescriptor& d = one.descriptor;
    fail_unless(d.fourcc == VA_FOURCC_NV12 && d.width == 61 && d.height == 47);
    fail_unless(d.object_count == 1 && d.plane_count == 2);
    const uint8_t nobody[16] = {};
    fail_unless(std::memcmp(d.device_uuid, nobody, 16) != 0 &&
                std::memcmp(d.driver_uuid, nobody, 16) != 0);
    fail_unless(d.planes[1].offset + uint64_t{d.planes[1].pitch_bytes} * 24 <=
                d.objects[0].size_bytes);
    fail_unless(bool(dxva::dmabuf::inspect_opaque(d.objects[0].fd, d.objects[0].size_bytes)));
    // The same memory each time, by another descriptor; no other surface's.
    fail_unless(again.descriptor.objects[0].fd != d.objects[0].fd);
    fail_unless_equals_uint64(again.descriptor.objects[0].memory_id, d.objects[0].memory_id);
    fail_unless(ids.insert(d.objects[0].memory_id).second);
  }
}
GST_END_TEST;

GST_START_TEST(planes_stand_where_the_layout_knob_says) {
  const ScopedEnvironment knob("DXVASOFT_MEMORY", "vulkan");
  for (const char* layout : {"padded", "gap", "two-objects", "odd-pitch"}) {
    const ScopedEnvironment other("DXVASOFT_LAYOUT", layout);
    Client client;
    const OpaqueExport exported(client, client.surface(64, 48));
    fail_unless_equals_int(exported.status, VA_STATUS_SUCCESS);
    const OpaqueSurfaceDescriptor& d = exported.descriptor;
    const bool two = std::strcmp(layout, "two-objects") == 0;
    fail_unless_equals_int(d.object_count, two ? 2 : 1);
    fail_unless_equals_int(d.planes[1].object, two ? 1 : 0);
    fail_unless(d.planes[0].pitch_bytes >= 64);
    const uint64_t chroma_end = d.planes[1].offset + uint64_t{d.planes[1].pitch_bytes} * 24;
    fail_unless(chroma_end <= d.objects[d.planes[1].object].size_bytes);
  }
}
GST_END_TEST;

GST_START_TEST(pictures_are_read_back_through_the_driver) {
  const ScopedEnvironment knob("DXVASOFT_MEMORY", "vulkan");
  for (const char* layout : {"tight", "padded", "gap"}) {
    const ScopedEnvironment other("DXVASOFT_LAYOUT", layout);
    Client client;
    const FakeOrder order{.width = 61, .height = 47, .seed = 5};
    const VASurfaceID surface = client.surface(61, 47);
    fail_unless_equals_int(client.decode(client.context(61, 47), surface, order),
                           VA_STATUS_SUCCESS);
    const VAImage image = client.image(VA_FOURCC_NV12, 61, 47);
    fail_unless_equals_int(vaGetImage(client.display(), surface, 0, 0, 61, 47, image.image_id),
                           VA_STATUS_SUCCESS);
    const MappedImage copy(client, image);
    fail_unless(shows(copy, order, VA_FOURCC_NV12, 61, 47));
    VAImage derived{};
    fail_unless_equals_int(vaDeriveImage(client.display(), surface, &derived),
                           VA_STATUS_SUCCESS);
    const MappedImage own(client, derived);
    fail_unless(shows(own, order, VA_FOURCC_NV12, 61, 47));
  }
}
GST_END_TEST;

GST_START_TEST(other_memory_is_no_opaque_memory) {
  const ScopedEnvironment knob("DXVASOFT_MEMORY", "memfd");
  Client client;
  fail_unless((memory_types(client) & kOpaque) == 0);
  const OpaqueExport exported(client, client.surface(64, 48));
  fail_unless_equals_int(exported.status, VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE);
}
GST_END_TEST;

GST_START_TEST(a_descriptor_of_another_version_is_refused) {
  const ScopedEnvironment knob("DXVASOFT_MEMORY", "vulkan");
  Client client;
  const OpaqueExport exported(client, client.surface(64, 48), 2);
  fail_unless_equals_int(exported.status, VA_STATUS_ERROR_INVALID_PARAMETER);
}
GST_END_TEST;

GST_START_TEST(a_driver_that_ends_leaves_no_descriptor) {
  const ScopedEnvironment knob("DXVASOFT_MEMORY", "vulkan");
  size_t before = 0;
  // Whatever Vulkan keeps for itself is there after the first.
  for (int i = 0; i < 3; ++i) {
    {
      Client client;
      for (int k = 0; k < 10; ++k) {
        const VASurfaceID surface = client.surface(64, 48);
        const OpaqueExport exported(client, surface);
        fail_unless_equals_int(exported.status, VA_STATUS_SUCCESS);
      }
    }
    if (i == 0) before = open_descriptors();
  }
  fail_unless_equals_int(open_descriptors(), before);
}
GST_END_TEST;

// On a machine without Vulkan there is nothing to test; on a rig of ours there must be.
bool vulkan_is_missing() {
  const ScopedEnvironment knob("DXVASOFT_MEMORY", "vulkan");
  return !getenv("DXVA_RIG") && !dxva::test::yes_in_child([] {
    auto display = dxva::va::HeadlessDisplay::create("dxvasofttest");
    return display && display->initialize();
  });
}

int main(int argc, char** argv) {
  gst_check_init(&argc, &argv);
  if (vulkan_is_missing()) {
    std::printf("# SKIP no Vulkan device that exports memory\n");
    return 77;
  }
  Suite* suite = suite_create("softva_opaque");
  TCase* tests = tcase_create("general");
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, memory_of_vulkan_is_exported_as_what_it_is);
  tcase_add_test(tests, planes_stand_where_the_layout_knob_says);
  tcase_add_test(tests, pictures_are_read_back_through_the_driver);
  tcase_add_test(tests, other_memory_is_no_opaque_memory);
  tcase_add_test(tests, a_descriptor_of_another_version_is_refused);
  tcase_add_test(tests, a_driver_that_ends_leaves_no_descriptor);
  return gst_check_run_suite(suite, "softva_opaque", __FILE__);
}
