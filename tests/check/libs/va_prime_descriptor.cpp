// SPDX-License-Identifier: LGPL-2.1-or-later

// What drivers say about an export, true or not. The kinds of descriptions are those of real
// ones: Mesa, Intel with and without compression, NVIDIA, and V4L2 shims that ignore the
// request for separate layers.

#include "lib/va/prime_descriptor.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;
using Descriptor = VADRMPRIMESurfaceDescriptor;

namespace {

constexpr uint32_t kSize = 6144;  // 64x64 NV12, tight

int new_buffer(off_t size = kSize) {
  const int fd = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  fail_unless(fd >= 0);
  fail_unless(::ftruncate(fd, size) == 0);
  fail_unless(::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  return fd;
}

int open_descriptors() {
  int count = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir("/proc/self/fd"), ::closedir);
  while (::readdir(dir.get())) ++count;
  return count;
}

Descriptor separate() {
  Descriptor out{.fourcc = VA_FOURCC_NV12, .width = 64, .height = 64};
  for (auto& object : out.objects) object.fd = -1;
  out.num_objects = 1;
  out.objects[0] = {.fd = new_buffer()};
  out.num_layers = 2;
  out.layers[0] = {.drm_format = format::kR8, .num_planes = 1, .pitch = {64}};
  out.layers[1] = {
      .drm_format = format::kGR88, .num_planes = 1, .offset = {4096}, .pitch = {64}};
  return out;
}

Descriptor composed() {
  Descriptor out = separate();
  out.num_layers = 1;
  out.layers[0] = {.drm_format = format::kNV12,
                   .num_planes = 2,
                   .object_index = {0, 0},
                   .offset = {0, 4096},
                   .pitch = {64, 64}};
  return out;
}

void expect_plane(const dmabuf::ExternalFrame& frame, uint32_t p, uint32_t format,
                  uint64_t offset, uint64_t pitch) {
  fail_unless(frame.planes[p].format == format);
  fail_unless_equals_uint64(frame.planes[p].offset, offset);
  fail_unless_equals_uint64(frame.planes[p].pitch_bytes, pitch);
}

GST_START_TEST(separate_layers_are_taken_as_they_are) {
  Descriptor descriptor = separate();
  descriptor.objects[0].size = 1;  // some drivers say 0, some too little: measured instead
  const auto frame = va::adopt_descriptor(descriptor);
  fail_unless(bool(frame), "%s", frame ? "" : frame.error().describe().c_str());
  fail_unless(frame->fourcc == format::kNV12 && frame->width == 64 && frame->height == 64);
  fail_unless_equals_int(frame->plane_count, 2);
  expect_plane(*frame, 0, format::kR8, 0, 64);
  expect_plane(*frame, 1, format::kGR88, 4096, 64);
  fail_unless_equals_uint64(frame->objects[0].size_bytes, kSize);
}
GST_END_TEST;

GST_START_TEST(composed_layer_becomes_two_planes) {
  const auto frame = va::adopt_descriptor(composed());
  fail_unless(bool(frame));
  fail_unless_equals_int(frame->plane_count, 2);
  expect_plane(*frame, 0, format::kR8, 0, 64);
  expect_plane(*frame, 1, format::kGR88, 4096, 64);

  Descriptor ten_bit = composed();
  ten_bit.fourcc = VA_FOURCC_P010;
  ten_bit.width = 32;
  ten_bit.layers[0].drm_format = format::kP010;
  const auto deep = va::adopt_descriptor(ten_bit);
  fail_unless(bool(deep));
  expect_plane(*deep, 0, format::kR16, 0, 64);
  expect_plane(*deep, 1, format::kGR1616, 4096, 64);
}
GST_END_TEST;

GST_START_TEST(one_buffer_behind_two_descriptors_is_one_buffer) {
  const int before = open_descriptors();
  Descriptor descriptor = separate();
  descriptor.num_objects = 2;
  descriptor.objects[1] = {.fd = ::fcntl(descriptor.objects[0].fd, F_DUPFD_CLOEXEC, 0)};
  descriptor.layers[1].object_index[0] = 1;
  const auto frame = va::adopt_descriptor(descriptor);
  fail_unless(bool(frame));
  fail_unless_equals_int(frame->object_count, 1);
  expect_plane(*frame, 0, format::kR8, 0, 64);
  expect_plane(*frame, 1, format::kGR88, 4096, 64);
  fail_unless_equals_int(open_descriptors(), before + 1);
  const auto layout = video::classify(frame->describe(), video::LayoutRule::TightLinear);
  fail_unless(bool(layout));
}
GST_END_TEST;

GST_START_TEST(one_descriptor_listed_twice_is_closed_once) {
  const int before = open_descriptors();
  {
    Descriptor descriptor = separate();
    descriptor.num_objects = 2;
    descriptor.objects[1] = descriptor.objects[0];
    descriptor.layers[1].object_index[0] = 1;
    const auto frame = va::adopt_descriptor(descriptor);
    fail_unless(bool(frame));
    fail_unless_equals_int(frame->object_count, 1);
    fail_unless(::fcntl(frame->objects[0].fd.get(), F_GETFD) >= 0);
  }
  fail_unless_equals_int(open_descriptors(), before);
}
GST_END_TEST;

GST_START_TEST(a_buffer_per_plane_is_linear) {
  Descriptor descriptor = separate();
  descriptor.num_objects = 2;
  descriptor.objects[1] = {.fd = new_buffer(2048)};
  descriptor.layers[1].object_index[0] = 1;
  descriptor.layers[1].offset[0] = 0;
  const auto frame = va::adopt_descriptor(descriptor);
  fail_unless(bool(frame));
  fail_unless_equals_int(frame->object_count, 2);
  const auto layout = video::classify(frame->describe(), video::LayoutRule::Any);
  fail_unless(layout && layout->layout_class == video::LayoutClass::Linear);
}
GST_END_TEST;

struct Bad {
  const char* what;
  Reason reason;
  std::function<void(Descriptor&)> change;
};

const std::vector<Bad>& bad_descriptors() {
  using enum Reason;
  static const std::vector<Bad> table = {
      {"compression planes beside separate layers", AuxPlane,
       [](auto& d) {
         for (uint32_t l = 0; l < 2; ++l) {
           d.layers[l].num_planes = 2;
           d.layers[l].pitch[1] = 64;
         }
       }},
      {"compression planes in a composed layer", AuxPlane,
       [](auto& d) {
         d.num_layers = 1;
         d.layers[0].drm_format = format::kNV12;
         d.layers[0].num_planes = 4;
       }},
      {"one layer of luma and its metadata", AuxPlane,
       [](auto& d) {
         d.num_layers = 1;
         d.layers[0].num_planes = 2;
       }},
      {"three layers", AuxPlane,
       [](auto& d) {
         d.num_layers = 3;
         d.layers[2] = d.layers[1];
       }},
      {"luma alone", PlaneCount, [](auto& d) { d.num_layers = 1; }},
      {"no layers", DescriptorInvalid, [](auto& d) { d.num_layers = 0; }},
      {"2^32-1 layers", DescriptorInvalid, [](auto& d) { d.num_layers = UINT32_MAX; }},
      {"no planes", DescriptorInvalid, [](auto& d) { d.layers[1].num_planes = 0; }},
      {"2^32-1 planes", DescriptorInvalid,
       [](auto& d) { d.layers[1].num_planes = UINT32_MAX; }},
      {"2^32-1 objects", DescriptorInvalid, [](auto& d) { d.num_objects = UINT32_MAX; }},
      {"plane in no object", DescriptorInvalid,
       [](auto& d) { d.layers[1].object_index[0] = 3; }},
      {"layer of another format", DescriptorInvalid,
       [](auto& d) {
         d.num_layers = 1;
         d.layers[0].drm_format = format::kP010;
         d.layers[0].num_planes = 2;
       }},
      {"unknown picture format", FormatUnsupported, [](auto& d) { d.fourcc = 0x12345678; }},
      {"picture format that is not ours", FormatUnsupported,
       [](auto& d) { d.fourcc = VA_FOURCC_YUY2; }},
      {"three planes of one byte", FormatUnsupported,
       [](auto& d) { d.layers[1].drm_format = format::kR8; }},
      {"chroma outside", OffsetOutOfRange, [](auto& d) { d.layers[1].offset[0] = kSize; }},
      {"chroma half outside", ObjectTooSmall, [](auto& d) { d.layers[1].offset[0] = 5000; }},
      {"pitch 0", PitchTooSmall, [](auto& d) { d.layers[0].pitch[0] = 0; }},
      {"width 0", SizeOutOfRange, [](auto& d) { d.width = 0; }},
      {"larger than its buffer", ObjectTooSmall, [](auto& d) { d.height = 1080; }},
      {"buffer that claims to be large", ObjectTooSmall,
       [](auto& d) {
         ::close(d.objects[0].fd);
         d.objects[0] = {.fd = new_buffer(4196), .size = 1 << 20};
       }},
      {"tiled luma, linear chroma", ModifierMismatch,
       [](auto& d) {
         d.num_objects = 2;
         d.objects[1] = {.fd = new_buffer()};
         d.objects[1].drm_format_modifier = 1;
         d.layers[1].object_index[0] = 1;
       }},
      {"second descriptor is a device", NotADmabuf,
       [](auto& d) {
         d.num_objects = 2;
         d.objects[1] = {.fd = ::open("/dev/null", O_RDWR | O_CLOEXEC)};
       }},
  };
  return table;
}

GST_START_TEST(bad_descriptors_are_refused_and_closed) {
  const int before = open_descriptors();
  for (const Bad& bad : bad_descriptors()) {
    Descriptor descriptor = separate();
    bad.change(descriptor);
    const auto frame = va::adopt_descriptor(descriptor);
    fail_if(bool(frame), "%s: accepted", bad.what);
    fail_unless(frame.error().reason == bad.reason, "%s: %s", bad.what,
                frame.error().describe().c_str());
    fail_unless_equals_int(open_descriptors(), before);
  }
}
GST_END_TEST;

GST_START_TEST(descriptors_that_are_none_are_refused) {
  for (int fd : {-1, 1 << 20}) {
    Descriptor descriptor = separate();
    ::close(descriptor.objects[0].fd);
    descriptor.objects[0].fd = fd;
    const auto frame = va::adopt_descriptor(descriptor);
    fail_if(bool(frame));
    fail_unless(frame.error().reason == Reason::BadDescriptor);
  }
  Descriptor none = separate();
  ::close(none.objects[0].fd);
  none.num_objects = 0;
  const auto frame = va::adopt_descriptor(none);
  fail_if(bool(frame));
  fail_unless(frame.error().reason == Reason::DescriptorInvalid);
}
GST_END_TEST;

Suite* va_prime_descriptor_suite() {
  Suite* suite = suite_create("va_prime_descriptor");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, separate_layers_are_taken_as_they_are);
  tcase_add_test(tcase, composed_layer_becomes_two_planes);
  tcase_add_test(tcase, one_buffer_behind_two_descriptors_is_one_buffer);
  tcase_add_test(tcase, one_descriptor_listed_twice_is_closed_once);
  tcase_add_test(tcase, a_buffer_per_plane_is_linear);
  tcase_add_test(tcase, bad_descriptors_are_refused_and_closed);
  tcase_add_test(tcase, descriptors_that_are_none_are_refused);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(va_prime_descriptor)
