// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/dmabuf/opaque.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <string>

namespace dxva::dmabuf {
namespace {

// Of /dev/nvidiactl and /dev/nvidia0…, since the driver exists; /dev/null and its like have 1.
constexpr unsigned kNvidiaMajor = 195;

// What Mesa writes before the bytes: how many there are with this header, and where they begin.
struct MesaHeader {
  uint64_t total_bytes = 0;
  uint64_t data_offset = 0;
};

Status check_memfd(int fd, const struct stat& file, uint64_t size_bytes) {
  // Whoever maps a file that shrinks dies of SIGBUS, and the driver maps it.
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    return refusal(Reason::NotOpaqueMemory, "a file that can shrink");
  const auto file_bytes = static_cast<uint64_t>(file.st_size);
  MesaHeader header;
  if (::pread(fd, &header, sizeof header, 0) != sizeof header)
    return refusal(Reason::ObjectTooSmall,
                   "a file of " + std::to_string(file_bytes) + " bytes");
  if (header.total_bytes > file_bytes || header.data_offset < sizeof header ||
      header.data_offset > header.total_bytes)
    return refusal(Reason::NotOpaqueMemory, "a memfd without a header of Mesa's");
  if (header.total_bytes - header.data_offset < size_bytes)
    return refusal(Reason::ObjectTooSmall,
                   std::to_string(header.total_bytes - header.data_offset) + " bytes, not " +
                       std::to_string(size_bytes));
  return Done{};
}

}  // namespace

Status inspect_opaque(int fd, uint64_t size_bytes) {
  struct stat file {};
  struct statfs system {};
  if (fd < 0 || ::fcntl(fd, F_GETFD) < 0 || ::fstat(fd, &file) != 0 ||
      ::fstatfs(fd, &system) != 0)
    return refusal(Reason::BadDescriptor, "no open file");
  if (size_bytes == 0) return refusal(Reason::BadDescriptor, "empty memory");
  if (S_ISCHR(file.st_mode) && major(file.st_rdev) == kNvidiaMajor) return Done{};
  if (S_ISREG(file.st_mode) && static_cast<unsigned long>(system.f_type) == TMPFS_MAGIC)
    return check_memfd(fd, file, size_bytes);
  return refusal(Reason::NotOpaqueMemory, "neither NVIDIA's node nor a memfd");
}

}  // namespace dxva::dmabuf
