// SPDX-License-Identifier: LGPL-2.1-or-later

// Memory of each kind. dma-heap and udmabuf need a kernel that has them (tests/vm runs them on
// one); a memfd is everywhere.

#include "lib/softva/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "tests/check/support/check.hpp"

using namespace dxva::softva;

namespace {

constexpr uint64_t kBytes = 16384;

void check_kind(MemoryKind kind) {
  auto memory = Memory::allocate(kind, kBytes);
  fail_unless(bool(memory));
  Memory& own = **memory;
  fail_unless_equals_uint64(own.size_bytes(), kBytes);
  fail_unless(std::all_of(own.data(), own.data() + kBytes, [](uint8_t b) { return b == 0; }));
  auto fd = own.share_fd();
  fail_unless(bool(fd));
  fail_unless_equals_int(::lseek(fd->get(), 0, SEEK_END), kBytes);
  // The same bytes through an import, there and back.
  auto import = Memory::import(fd->get());
  fail_unless(bool(import));
  {
    const CpuAccess access(*memory, CpuAccess::Mode::Write);
    own.data()[100] = 42;
  }
  {
    const CpuAccess access(*import, CpuAccess::Mode::ReadWrite);
    fail_unless_equals_int((*import)->data()[100], 42);
    (*import)->data()[kBytes - 1] = 43;
  }
  const CpuAccess access(*memory, CpuAccess::Mode::Read);
  fail_unless_equals_int(own.data()[kBytes - 1], 43);
}

GST_START_TEST(memfd_is_shared_zeroed_memory) {
  check_kind(MemoryKind::Memfd);
}
GST_END_TEST;

GST_START_TEST(udmabuf_is_shared_zeroed_memory) {
  if (::access("/dev/udmabuf", R_OK | W_OK) != 0) DXVA_SKIP("no /dev/udmabuf");
  check_kind(MemoryKind::Udmabuf);
}
GST_END_TEST;

GST_START_TEST(dma_heap_is_shared_zeroed_memory) {
  if (::access("/dev/dma_heap/system", R_OK) != 0) DXVA_SKIP("no /dev/dma_heap/system");
  check_kind(MemoryKind::DmaHeap);
}
GST_END_TEST;

GST_START_TEST(best_kind_can_be_allocated) {
  const auto kind = best_memory_kind();
  fail_unless(bool(kind));
  check_kind(*kind);
}
GST_END_TEST;

GST_START_TEST(kinds_that_are_not_there_say_so) {
  if (::access("/dev/udmabuf", F_OK) == 0) DXVA_SKIP("this machine has /dev/udmabuf");
  const auto memory = Memory::allocate(MemoryKind::Udmabuf, kBytes);
  fail_if(bool(memory));
  fail_unless(memory.error().code == dxva::ErrorCode::Unsupported);
}
GST_END_TEST;

GST_START_TEST(memory_that_could_vanish_is_not_imported) {
  using dxva::UniqueFd;
  const UniqueFd unsealed{::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  fail_unless_equals_int(::ftruncate(unsealed.get(), kBytes), 0);
  fail_if(bool(Memory::import(unsealed.get())));
  fail_unless_equals_int(::fcntl(unsealed.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  fail_unless(bool(Memory::import(unsealed.get())));

  const UniqueFd empty{::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  fail_unless_equals_int(::fcntl(empty.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  fail_if(bool(Memory::import(empty.get())));
  fail_if(bool(Memory::import(-1)));
  const UniqueFd folder{::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  fail_if(bool(Memory::import(folder.get())));
}
GST_END_TEST;

Suite* softva_memory_suite() {
  Suite* suite = suite_create("softva_memory");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, memfd_is_shared_zeroed_memory);
  tcase_add_test(tcase, udmabuf_is_shared_zeroed_memory);
  tcase_add_test(tcase, dma_heap_is_shared_zeroed_memory);
  tcase_add_test(tcase, best_kind_can_be_allocated);
  tcase_add_test(tcase, kinds_that_are_not_there_say_so);
  tcase_add_test(tcase, memory_that_could_vanish_is_not_imported);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(softva_memory)
