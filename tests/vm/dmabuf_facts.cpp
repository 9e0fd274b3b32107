// SPDX-License-Identifier: LGPL-2.1-or-later

// What lib/dmabuf believes of dma-bufs, on real ones. Natively a memfd stands in for them and
// none of this can be asked. Runs in the virtual machine only, with vgem loaded.

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "lib/dmabuf/identity.hpp"
#include "lib/dmabuf/mapping.hpp"
#include "tests/check/support/check.hpp"
#include "tests/vm/real_buffers.hpp"

using namespace dxva;

namespace {

constexpr TestSwitch kOff{};
constexpr uint64_t kSize = 8 * 4096;
constexpr unsigned long kDmabufMagic = 0x444d4142;

UniqueFd buffer_of(vm::Kind kind) {
  UniqueFd fd = vm::make_buffer(kind, kSize);
  fail_unless(fd.valid(), "no %s buffer: %m", vm::kind_name(kind));
  return fd;
}

bool same_file(int a, int b) {
  const pid_t self = ::getpid();
  const long order = ::syscall(SYS_kcmp, self, self, KCMP_FILE, a, b);
  fail_if(order < 0, "kcmp: %m");
  return order == 0;
}

bool ready(int fd, short events) {
  pollfd wanted{.fd = fd, .events = events, .revents = 0};
  fail_unless(::poll(&wanted, 1, 0) >= 0);
  return (wanted.revents & events) != 0;
}

UniqueFd fences_of(int buffer, uint32_t access) {
  dma_buf_export_sync_file request{.flags = access, .fd = -1};
  fail_unless(::ioctl(buffer, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &request) == 0, "%m");
  return UniqueFd{request.fd};
}

GST_START_TEST(every_kind_is_recognised_by_its_file_system_without_the_test_switch) {
  for (const vm::Kind kind : vm::kKinds) {
    const UniqueFd fd = buffer_of(kind);
    struct statfs system {};
    fail_unless(::fstatfs(fd.get(), &system) == 0);
    fail_unless(static_cast<unsigned long>(system.f_type) == kDmabufMagic, "%s",
                vm::kind_name(kind));

    const auto facts = dmabuf::inspect(fd.get(), kOff);
    fail_unless(bool(facts), "%s: %s", vm::kind_name(kind),
                facts ? "" : facts.error().describe().c_str());
    fail_unless(facts->kind == dmabuf::FdKind::Dmabuf);
    fail_unless(facts->size_bytes == kSize, "%s: %" G_GUINT64_FORMAT, vm::kind_name(kind),
                guint64(facts->size_bytes));
  }
}
GST_END_TEST;

GST_START_TEST(identity_is_the_buffers_across_dup_and_differs_between_buffers) {
  std::vector<UniqueFd> open_ones;
  std::vector<BufferIdentity> seen;
  for (const vm::Kind kind : vm::kKinds) {
    for (int round = 0; round < 2; ++round) {
      UniqueFd fd = buffer_of(kind);
      const UniqueFd twin = fd.duplicate();
      const auto facts = dmabuf::inspect(fd.get(), kOff);
      const auto twin_facts = dmabuf::inspect(twin.get(), kOff);
      fail_unless(facts && twin_facts && facts->identity == twin_facts->identity);
      fail_unless(same_file(fd.get(), twin.get()));
      fail_unless(std::find(seen.begin(), seen.end(), facts->identity) == seen.end(),
                  "%s has the identity of another buffer", vm::kind_name(kind));
      seen.push_back(facts->identity);
      open_ones.push_back(std::move(fd));
    }
  }
}
GST_END_TEST;

// The cache of imports lives from this: a decoder exports its surface again for every frame.
GST_START_TEST(a_second_export_of_a_drm_buffer_has_the_identity_of_the_first) {
  const vm::VgemBuffer buffer = vm::make_vgem_buffer(kSize);
  fail_unless(buffer.buffer.valid(), "%m");
  const UniqueFd second = vm::export_again(buffer);
  fail_unless(second.valid() && second.get() != buffer.buffer.get());
  fail_unless(same_file(second.get(), buffer.buffer.get()));
  const auto first_facts = dmabuf::inspect(buffer.buffer.get(), kOff);
  const auto second_facts = dmabuf::inspect(second.get(), kOff);
  fail_unless(first_facts && second_facts && first_facts->identity == second_facts->identity);
}
GST_END_TEST;

GST_START_TEST(an_inode_is_not_given_to_a_later_buffer) {
  for (const vm::Kind kind : vm::kKinds) {
    BufferIdentity before{};
    for (int round = 0; round < 50; ++round) {
      const auto facts = dmabuf::inspect(buffer_of(kind).get(), kOff);  // closed at once
      fail_unless(bool(facts));
      fail_if(facts->identity == before, "%s, round %d", vm::kind_name(kind), round);
      before = facts->identity;
    }
  }
}
GST_END_TEST;

GST_START_TEST(cpu_access_brackets_a_map_that_all_descriptors_share) {
  for (const vm::Kind kind : vm::kKinds) {
    const UniqueFd fd = buffer_of(kind);
    const UniqueFd twin = fd.duplicate();
    auto writer = dmabuf::Mapping::map(fd.get(), kSize, dmabuf::Access::ReadWrite);
    auto reader = dmabuf::Mapping::map(twin.get(), kSize, dmabuf::Access::Read);
    fail_unless(writer && reader, "%s", vm::kind_name(kind));
    {
      auto access = dmabuf::CpuAccess::begin(fd.get(), dmabuf::Access::Write);
      fail_unless(bool(access), "%s", vm::kind_name(kind));
      for (uint64_t at = 0; at < kSize; ++at) writer->data()[at] = uint8_t(at * 7);
    }
    auto access = dmabuf::CpuAccess::begin(twin.get(), dmabuf::Access::Read);
    fail_unless(bool(access));
    for (uint64_t at = 0; at < kSize; ++at)
      fail_unless_equals_int(reader->data()[at], uint8_t(at * 7));
  }
}
GST_END_TEST;

// inspect() tells a dma-buf from other anonymous files on old kernels by this answer.
GST_START_TEST(a_sync_with_nonsense_flags_is_refused_as_such) {
  for (const vm::Kind kind : vm::kKinds) {
    const UniqueFd fd = buffer_of(kind);
    dma_buf_sync nonsense{.flags = ~uint64_t{0}};
    fail_unless(::ioctl(fd.get(), DMA_BUF_IOCTL_SYNC, &nonsense) != 0 && errno == EINVAL,
                "%s: %m", vm::kind_name(kind));
  }
}
GST_END_TEST;

GST_START_TEST(a_buffer_nobody_uses_gives_a_signalled_fence_and_takes_it_back) {
  for (const vm::Kind kind : vm::kKinds) {
    const UniqueFd fd = buffer_of(kind);
    for (const uint32_t access : {DMA_BUF_SYNC_READ, DMA_BUF_SYNC_WRITE}) {
      const UniqueFd fence = fences_of(fd.get(), access);
      fail_unless(ready(fence.get(), POLLIN), "%s", vm::kind_name(kind));
      dma_buf_import_sync_file back{.flags = access, .fd = fence.get()};
      fail_unless(::ioctl(fd.get(), DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &back) == 0, "%s: %m",
                  vm::kind_name(kind));
    }
    fail_unless(ready(fd.get(), POLLIN) && ready(fd.get(), POLLOUT), "%s", vm::kind_name(kind));
  }
}
GST_END_TEST;

GST_START_TEST(a_writers_fence_is_exported_unsignalled_and_ends_with_the_write) {
  const vm::VgemBuffer written = vm::make_vgem_buffer(kSize);
  const uint32_t write = vm::attach_write_fence(written);
  fail_unless(write != 0, "%m");
  // "May I read?" no; and the sync ioctl is no substitute for asking: it would block here.
  const UniqueFd fence = fences_of(written.buffer.get(), DMA_BUF_SYNC_READ);
  fail_if(ready(fence.get(), POLLIN));
  fail_if(ready(written.buffer.get(), POLLIN));

  // Tied to another buffer, the same fence holds that one too, whatever made it.
  const UniqueFd other = buffer_of(vm::Kind::DmaHeap);
  dma_buf_import_sync_file tie{.flags = DMA_BUF_SYNC_WRITE, .fd = fence.get()};
  fail_unless(::ioctl(other.get(), DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &tie) == 0, "%m");
  fail_if(ready(other.get(), POLLIN));

  fail_unless(vm::signal_fence(written, write), "%m");
  fail_unless(ready(fence.get(), POLLIN));
  fail_unless(ready(written.buffer.get(), POLLIN) && ready(other.get(), POLLIN));
}
GST_END_TEST;

// A map of a picture that left unfinished shows the picture: the ioctl's documentation promises
// coherent caches only, but it waits.
GST_START_TEST(cpu_access_waits_for_the_writer) {
  const vm::VgemBuffer source = vm::make_vgem_buffer(kSize);
  const uint32_t write = vm::attach_write_fence(source);
  fail_unless(write != 0, "%m");
  const UniqueFd fence = fences_of(source.buffer.get(), DMA_BUF_SYNC_READ);
  const UniqueFd picture = buffer_of(vm::Kind::DmaHeap);
  dma_buf_import_sync_file tie{.flags = DMA_BUF_SYNC_WRITE, .fd = fence.get()};
  fail_unless(::ioctl(picture.get(), DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &tie) == 0, "%m");
  auto mapping = dmabuf::Mapping::map(picture.get(), kSize, dmabuf::Access::ReadWrite);
  fail_unless(bool(mapping));

  std::atomic<bool> reader_begins{false};
  std::thread writer([&] {
    while (!reader_begins) std::this_thread::yield();
    std::fill_n(mapping->data(), kSize, uint8_t{0x5a});
    (void)vm::signal_fence(source, write);
  });
  reader_begins = true;
  const auto access = dmabuf::CpuAccess::begin(picture.get(), dmabuf::Access::Read);
  const bool written = std::all_of(mapping->data(), mapping->data() + kSize,
                                   [](uint8_t byte) { return byte == 0x5a; });
  writer.join();
  fail_unless(access && written);
}
GST_END_TEST;

// GL → decoder: reading holds back a writer, never another reader.
GST_START_TEST(a_readers_fence_holds_back_writers_only) {
  const vm::VgemBuffer source = vm::make_vgem_buffer(kSize);
  const uint32_t pending = vm::attach_write_fence(source);
  const UniqueFd fence = fences_of(source.buffer.get(), DMA_BUF_SYNC_READ);
  const UniqueFd picture = buffer_of(vm::Kind::DmaHeap);
  dma_buf_import_sync_file tie{.flags = DMA_BUF_SYNC_READ, .fd = fence.get()};
  fail_unless(::ioctl(picture.get(), DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &tie) == 0, "%m");
  fail_unless(ready(picture.get(), POLLIN));
  fail_if(ready(picture.get(), POLLOUT));
  fail_unless(vm::signal_fence(source, pending));
  fail_unless(ready(picture.get(), POLLOUT));
}
GST_END_TEST;

Suite* dmabuf_facts_suite() {
  Suite* suite = suite_create("dmabuf_facts");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_set_timeout(tcase, 120);  // an emulated processor
  tcase_add_test(tcase, every_kind_is_recognised_by_its_file_system_without_the_test_switch);
  tcase_add_test(tcase, identity_is_the_buffers_across_dup_and_differs_between_buffers);
  tcase_add_test(tcase, a_second_export_of_a_drm_buffer_has_the_identity_of_the_first);
  tcase_add_test(tcase, an_inode_is_not_given_to_a_later_buffer);
  tcase_add_test(tcase, cpu_access_brackets_a_map_that_all_descriptors_share);
  tcase_add_test(tcase, a_sync_with_nonsense_flags_is_refused_as_such);
  tcase_add_test(tcase, a_buffer_nobody_uses_gives_a_signalled_fence_and_takes_it_back);
  tcase_add_test(tcase, a_writers_fence_is_exported_unsignalled_and_ends_with_the_write);
  tcase_add_test(tcase, cpu_access_waits_for_the_writer);
  tcase_add_test(tcase, a_readers_fence_holds_back_writers_only);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(dmabuf_facts)
