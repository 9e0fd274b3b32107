// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/dmabuf/mapping.hpp"

#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace dxva::dmabuf {
namespace {

uint64_t sync_flags(Access access) {
  switch (access) {
    case Access::Read:
      return DMA_BUF_SYNC_READ;
    case Access::Write:
      return DMA_BUF_SYNC_WRITE;
    case Access::ReadWrite:
      return DMA_BUF_SYNC_RW;
  }
  return DMA_BUF_SYNC_RW;
}

// Writing needs PROT_READ too on some architectures, and many exporters refuse write-only.
int protection(Access access) {
  return access == Access::Read ? PROT_READ : PROT_READ | PROT_WRITE;
}

int sync_ioctl(int fd, uint64_t flags) {
  dma_buf_sync request{.flags = flags};
  int result;
  do {
    result = ::ioctl(fd, DMA_BUF_IOCTL_SYNC, &request);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  return result;
}

}  // namespace

Result<CpuAccess> CpuAccess::begin(int fd, Access access) {
  CpuAccess out;
  const uint64_t flags = sync_flags(access);
  if (sync_ioctl(fd, flags | DMA_BUF_SYNC_START) != 0) {
    if (errno == ENOTTY) return out;  // a memfd: plain memory, nothing to end
    return errno_error("DMA_BUF_IOCTL_SYNC");
  }
  out.fd_ = fd;
  out.flags_ = flags;
  return out;
}

CpuAccess& CpuAccess::operator=(CpuAccess&& other) noexcept {
  if (this != &other) {
    end();
    fd_ = std::exchange(other.fd_, -1);
    flags_ = other.flags_;
  }
  return *this;
}

void CpuAccess::end() {
  // Nobody can act on a failure here: the access is over either way.
  if (fd_ >= 0) sync_ioctl(std::exchange(fd_, -1), flags_ | DMA_BUF_SYNC_END);
}

Result<Mapping> Mapping::map(int fd, uint64_t size_bytes, Access access) {
  // Mapping more than there is succeeds, and the first touch behind the end kills the process.
  const off_t end = ::lseek(fd, 0, SEEK_END);
  if (end < 0) return errno_error("lseek");
  if (::lseek(fd, 0, SEEK_SET) != 0) return errno_error("lseek");
  if (size_bytes == 0 || size_bytes > static_cast<uint64_t>(end))
    return Error{.code = ErrorCode::BadInput,
                 .call = "mmap",
                 .text = std::to_string(size_bytes) + " bytes of " + std::to_string(end),
                 .reason = Reason::ObjectTooSmall};
  void* data = size_bytes <= SIZE_MAX
                   ? ::mmap(nullptr, size_bytes, protection(access), MAP_SHARED, fd, 0)
                   : MAP_FAILED;
  if (data == MAP_FAILED) return errno_error("mmap");
  Mapping out;
  out.data_ = data;
  out.size_ = size_bytes;
  return out;
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_) ::munmap(data_, size_);
}

Result<const uint8_t*> KeptMapping::read(int fd, uint64_t size_bytes) {
  const std::lock_guard guard(lock_);
  if (!mapping_.data()) {
    auto mapped = Mapping::map(fd, size_bytes, Access::Read);
    if (!mapped) return mapped.error();
    mapping_ = std::move(*mapped);
  }
  return static_cast<const uint8_t*>(mapping_.data());
}

}  // namespace dxva::dmabuf
