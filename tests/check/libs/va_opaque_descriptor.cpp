// SPDX-License-Identifier: LGPL-2.1-or-later

// What a driver may say about opaque memory, true or not.

#include "lib/va/opaque_descriptor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <va/va.h>

#include <filesystem>
#include <functional>

#include "lib/base/fourcc.hpp"
#include "lib/dmabuf/opaque.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;
using Descriptor = dmabuf::OpaqueSurfaceDescriptor;

namespace {

constexpr uint64_t kBytes = 64 * 48 * 3 / 2;

// A memfd as lavapipe makes them.
int new_memory(uint64_t bytes = kBytes) {
  const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const uint64_t header[] = {bytes + 4096, 4096};
  fail_unless(fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes + 4096)) == 0 &&
              pwrite(fd, header, sizeof header, 0) == sizeof header &&
              fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  return fd;
}

Descriptor good() {
  Descriptor out{.version = Descriptor::kVersion,
                 .fourcc = VA_FOURCC_NV12,
                 .width = 64,
                 .height = 48,
                 .object_count = 1,
                 .plane_count = 2};
  out.device_uuid[0] = 1;
  out.driver_uuid[15] = 2;
  for (auto& object : out.objects) object.fd = -1;
  out.objects[0] = {.size_bytes = kBytes, .memory_id = 7, .fd = new_memory(), .reserved = 0};
  out.planes[0] = {.object = 0, .offset = 0, .pitch_bytes = 64};
  out.planes[1] = {.object = 0, .offset = 64 * 48, .pitch_bytes = 64};
  return out;
}

size_t open_descriptors() {
  const std::filesystem::directory_iterator folder("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(folder), end(folder)));
}

}  // namespace

GST_START_TEST(what_the_driver_says_becomes_a_frame) {
  const auto frame = va::adopt_opaque_descriptor(good());
  fail_unless(bool(frame), "%s", frame ? "" : frame.error().describe().c_str());
  fail_unless(frame->opaque && frame->opaque->device[0] == 1 && frame->opaque->driver[15] == 2);
  fail_unless_equals_int(frame->fourcc, format::kNV12);
  fail_unless(frame->objects[0].identity == dmabuf::opaque_identity(7));
  fail_unless(frame->objects[0].fd.valid());
  fail_unless_equals_uint64(frame->objects[0].modifier, kModifierLinear);
  fail_unless_equals_uint64(frame->planes[1].offset, 64 * 48);
  // A duplicate is of the same device.
  const auto copy = frame->duplicate();
  fail_unless(copy && copy->opaque == frame->opaque);
}
GST_END_TEST;

GST_START_TEST(lies_are_refused_and_every_descriptor_closed) {
  const std::function<void(Descriptor&)> lies[] = {
      [](Descriptor& d) { d.fourcc = VA_FOURCC_YV12; },
      [](Descriptor& d) { d.object_count = 0; },
      [](Descriptor& d) { d.plane_count = 1; },
      [](Descriptor& d) { d.plane_count = 5; },
      [](Descriptor& d) { d.width = 0; },
      [](Descriptor& d) { d.height = 100000; },
      [](Descriptor& d) { d.planes[1].object = 1; },
      [](Descriptor& d) { d.planes[1].offset += 1; },
      [](Descriptor& d) { d.planes[1].offset = UINT32_MAX; },
      [](Descriptor& d) { d.planes[0].pitch_bytes = 63; },
      [](Descriptor& d) { d.planes[0].pitch_bytes = UINT32_MAX; },
      [](Descriptor& d) { d.objects[0].size_bytes += 1; },
      [](Descriptor& d) { d.objects[0].size_bytes = 0; },
      [](Descriptor& d) {
        close(d.objects[0].fd);
        int ends[2];
        fail_unless(pipe2(ends, O_CLOEXEC) == 0);
        close(ends[1]);
        d.objects[0].fd = ends[0];
      },
      [](Descriptor& d) {
        d.object_count = 2;
        d.objects[1] = d.objects[0];
        d.objects[1].fd = -1;
      },
  };
  const size_t before = open_descriptors();
  for (const auto& lie : lies) {
    Descriptor spoilt = good();
    lie(spoilt);
    // With no object none is the caller's to close either.
    const bool given = spoilt.object_count > 0;
    fail_unless(!va::adopt_opaque_descriptor(spoilt), "lie %td", &lie - lies);
    if (!given) close(spoilt.objects[0].fd);
    fail_unless_equals_int(open_descriptors(), before);
  }
  Descriptor many = good();
  many.object_count = 9;
  fail_unless(!va::adopt_opaque_descriptor(many));
  fail_unless_equals_int(open_descriptors(), before);
}
GST_END_TEST;

Suite* va_opaque_descriptor_suite() {
  Suite* suite = suite_create("va_opaque_descriptor");
  TCase* tests = tcase_create("general");
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, what_the_driver_says_becomes_a_frame);
  tcase_add_test(tests, lies_are_refused_and_every_descriptor_closed);
  return suite;
}

GST_CHECK_MAIN(va_opaque_descriptor)
