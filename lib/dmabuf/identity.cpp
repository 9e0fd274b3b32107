// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/dmabuf/identity.hpp"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <optional>

namespace dxva::dmabuf {
namespace {

constexpr unsigned long kDmabufMagic = 0x444d4142;  // DMA_BUF_MAGIC, linux/magic.h since 5.3

// Before Linux 5.3 a dma-buf was one of the many "anonymous inode" files. This request asks for
// nothing: dma-bufs refuse its flags with EINVAL before doing anything, other files do not know
// its number.
bool answers_like_a_dmabuf(int fd) {
  dma_buf_sync nonsense{.flags = ~uint64_t{0}};
  return ::ioctl(fd, DMA_BUF_IOCTL_SYNC, &nonsense) != 0 && errno == EINVAL;
}

// All those files share one inode, so nothing tells two buffers apart. Each look at one gets a
// new name: a cache then misses, which is slow; with one name it would show another frame's
// pixels.
BufferIdentity fresh_identity() {
  static std::atomic<uint64_t> next{1};
  return {.device = UINT64_MAX, .inode = next++};
}

// A memfd that cannot shrink: whoever maps a shrunken one dies of SIGBUS.
bool is_sealed_memfd(int fd, const struct stat& file, unsigned long filesystem) {
  if (filesystem != TMPFS_MAGIC || !S_ISREG(file.st_mode)) return false;
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

std::optional<uint64_t> measure(int fd) {
  const off_t end = ::lseek(fd, 0, SEEK_END);
  if (end < 0 || ::lseek(fd, 0, SEEK_SET) != 0) return std::nullopt;
  return static_cast<uint64_t>(end);
}

}  // namespace

Result<FdFacts> inspect(int fd, const TestSwitch& test) {
  struct stat file {};
  struct statfs system {};
  if (fd < 0 || ::fcntl(fd, F_GETFD) < 0 || ::fstat(fd, &file) != 0 ||
      ::fstatfs(fd, &system) != 0)
    return refusal(Reason::BadDescriptor, "no open file");

  // The type comes first: until it is known, not even a size is asked for.
  const auto filesystem = static_cast<unsigned long>(system.f_type);
  FdFacts facts{.identity = {.device = file.st_dev, .inode = file.st_ino}};
  if (filesystem == kDmabufMagic) {
    facts.kind = FdKind::Dmabuf;
  } else if (filesystem == ANON_INODE_FS_MAGIC && answers_like_a_dmabuf(fd)) {
    facts.kind = FdKind::Dmabuf;
    facts.identity = fresh_identity();
  } else if (test.memfd && is_sealed_memfd(fd, file, filesystem)) {
    facts.kind = FdKind::TestMemfd;
  } else {
    return refusal(Reason::NotADmabuf, "not a dma-buf");
  }

  const auto size = measure(fd);
  if (!size) return refusal(Reason::BadDescriptor, "size cannot be measured");
  if (*size == 0) return refusal(Reason::BadDescriptor, "empty buffer");
  facts.size_bytes = *size;
  return facts;
}

}  // namespace dxva::dmabuf
