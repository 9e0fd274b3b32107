// SPDX-License-Identifier: LGPL-2.1-or-later

// Frames of descriptors: what they own, and reading them with the CPU.

#include "lib/dmabuf/external_frame.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/dmabuf/mapping.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;
using dmabuf::Access;
using dmabuf::CpuAccess;
using dmabuf::ExternalFrame;
using dmabuf::Mapping;

namespace {

constexpr uint64_t kSize = 4608;  // 64x48 NV12

UniqueFd memfd() {
  UniqueFd fd{::memfd_create("test", MFD_CLOEXEC)};
  fail_unless(fd.valid());
  fail_unless(::ftruncate(fd.get(), kSize) == 0);
  return fd;
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

ExternalFrame two_object_frame() {
  ExternalFrame frame;
  frame.fourcc = format::kNV12;
  frame.width = 64;
  frame.height = 48;
  frame.object_count = frame.plane_count = 2;
  for (uint32_t i = 0; i < 2; ++i) {
    frame.objects[i].fd = memfd();
    frame.objects[i].size_bytes = kSize;
    frame.objects[i].identity = {1, i};
    frame.objects[i].modifier = 7 + i;
    frame.planes[i] = {.object = i, .offset = 16 * i, .pitch_bytes = 64 + i, .format = 100 + i};
  }
  return frame;
}

GST_START_TEST(description_has_all_numbers) {
  const ExternalFrame frame = two_object_frame();
  const auto image = frame.describe();
  fail_unless(image.fourcc == format::kNV12 && image.width == 64 && image.height == 48);
  fail_unless(image.object_count == 2 && image.plane_count == 2);
  for (uint32_t i = 0; i < 2; ++i) {
    fail_unless(image.objects[i].size_bytes == kSize);
    fail_unless(image.objects[i].identity == (BufferIdentity{1, i}));
    fail_unless(image.objects[i].modifier == 7 + i);
    fail_unless(image.planes[i].object == i && image.planes[i].offset == 16 * i);
    fail_unless(image.planes[i].pitch_bytes == 64 + i && image.planes[i].format == 100 + i);
  }
}
GST_END_TEST;

GST_START_TEST(frames_close_their_descriptors) {
  int numbers[2];
  {
    ExternalFrame frame = two_object_frame();
    numbers[0] = frame.objects[0].fd.get();
    numbers[1] = frame.objects[1].fd.get();
    const ExternalFrame moved = std::move(frame);
    fail_unless(is_open(numbers[0]) && is_open(numbers[1]));
  }
  fail_if(is_open(numbers[0]) || is_open(numbers[1]));
}
GST_END_TEST;

GST_START_TEST(duplicates_live_on_their_own) {
  Result<ExternalFrame> copy = two_object_frame().duplicate();  // the original is gone here
  fail_unless(bool(copy));
  for (uint32_t i = 0; i < 2; ++i) {
    const int fd = copy->objects[i].fd.get();
    fail_unless(is_open(fd));
    fail_unless(::fcntl(fd, F_GETFD) & FD_CLOEXEC);
    fail_unless(copy->objects[i].size_bytes == kSize);
    fail_unless(copy->objects[i].identity == (BufferIdentity{1, i}));
    fail_unless(copy->objects[i].modifier == 7 + i);
    fail_unless(copy->planes[i].pitch_bytes == 64 + i);
  }
}
GST_END_TEST;

GST_START_TEST(failed_duplicate_leaves_nothing_open) {
  ExternalFrame frame = two_object_frame();
  frame.objects[1].fd.reset();
  const int next_free = frame.objects[0].fd.duplicate().get();
  const auto copy = frame.duplicate();
  fail_if(bool(copy));
  fail_unless(copy.error().code == ErrorCode::BadInput);
  fail_if(is_open(next_free));
}
GST_END_TEST;

GST_START_TEST(mappings_show_the_memory) {
  const UniqueFd fd = memfd();
  {
    auto access = CpuAccess::begin(fd.get(), Access::ReadWrite);
    fail_unless(bool(access));
    auto writer = Mapping::map(fd.get(), kSize, Access::ReadWrite);
    fail_unless(bool(writer));
    writer->data()[kSize - 1] = 42;
  }
  auto reader = Mapping::map(fd.get(), kSize, Access::Read);
  fail_unless(bool(reader));
  fail_unless_equals_uint64(reader->size_bytes(), kSize);
  const Mapping moved = std::move(*reader);
  fail_unless_equals_int(moved.data()[kSize - 1], 42);
  fail_unless(reader->data() == nullptr);
}
GST_END_TEST;

GST_START_TEST(a_frame_that_is_read_again_is_mapped_once) {
  const ExternalFrame frame = two_object_frame();
  const ExternalFrame::Object& object = frame.objects[1];
  const auto first = object.mapping->read(object.fd.get(), kSize);
  fail_unless(bool(first));
  fail_unless(::pwrite(object.fd.get(), "x", 1, 9) == 1);
  const auto again = object.mapping->read(object.fd.get(), kSize);
  fail_unless(bool(again) && *again == *first && (*again)[9] == 'x');
  // One that failed is tried again.
  fail_if(bool(frame.objects[0].mapping->read(-1, kSize)));
  fail_unless(bool(frame.objects[0].mapping->read(frame.objects[0].fd.get(), kSize)));
}
GST_END_TEST;

GST_START_TEST(more_than_there_is_cannot_be_mapped) {
  const UniqueFd fd = memfd();
  for (uint64_t size : {uint64_t{0}, kSize + 1, uint64_t{1} << 40, UINT64_MAX}) {
    const auto mapping = Mapping::map(fd.get(), size, Access::Read);
    fail_if(bool(mapping));
    fail_unless(mapping.error().code == ErrorCode::BadInput);
  }
  int ends[2];
  fail_unless(::pipe2(ends, O_CLOEXEC) == 0);
  const UniqueFd one{ends[0]}, other{ends[1]};
  fail_if(bool(Mapping::map(one.get(), 1, Access::Read)));
  fail_if(bool(Mapping::map(-1, 1, Access::Read)));
}
GST_END_TEST;

GST_START_TEST(access_to_plain_memory_needs_no_words) {
  const UniqueFd fd = memfd();
  for (Access access : {Access::Read, Access::Write, Access::ReadWrite}) {
    auto begun = CpuAccess::begin(fd.get(), access);
    fail_unless(bool(begun));
    begun->end();
    begun->end();
  }
  fail_if(bool(CpuAccess::begin(-1, Access::Read)));
}
GST_END_TEST;

Suite* dmabuf_frame_suite() {
  Suite* suite = suite_create("dmabuf_frame");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, description_has_all_numbers);
  tcase_add_test(tcase, frames_close_their_descriptors);
  tcase_add_test(tcase, duplicates_live_on_their_own);
  tcase_add_test(tcase, failed_duplicate_leaves_nothing_open);
  tcase_add_test(tcase, mappings_show_the_memory);
  tcase_add_test(tcase, a_frame_that_is_read_again_is_mapped_once);
  tcase_add_test(tcase, more_than_there_is_cannot_be_mapped);
  tcase_add_test(tcase, access_to_plain_memory_needs_no_words);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(dmabuf_frame)
