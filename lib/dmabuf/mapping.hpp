// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>

#include "lib/base/result.hpp"

namespace dxva::dmabuf {

enum class Access { Read, Write, ReadWrite };

// Tells the kernel that the CPU is about to touch a dma-buf, and when it is done
// (DMA_BUF_IOCTL_SYNC, linux/dma-buf.h): without it caches may hold stale pixels. A memfd has
// no such ioctl and needs none. Retries on EINTR and EAGAIN. Reentrant.
class CpuAccess {
 public:
  CpuAccess() = default;
  // Lends `fd`, which must stay open until end().
  [[nodiscard]] static Result<CpuAccess> begin(int fd, Access access);
  CpuAccess(CpuAccess&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), flags_(other.flags_) {}
  CpuAccess& operator=(CpuAccess&& other) noexcept;
  ~CpuAccess() { end(); }
  void end();

 private:
  int fd_ = -1;
  uint64_t flags_ = 0;
};

// Memory of a descriptor, unmapped once.
class Mapping {
 public:
  Mapping() = default;
  [[nodiscard]] static Result<Mapping> map(int fd, uint64_t size_bytes, Access access);
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  [[nodiscard]] uint8_t* data() const { return static_cast<uint8_t*>(data_); }
  [[nodiscard]] uint64_t size_bytes() const { return size_; }

 private:
  void* data_ = nullptr;
  uint64_t size_ = 0;
};

// Memory of one descriptor for reading, mapped at the first call and for as long as this lives:
// to map it anew for each picture would cost a page fault for each page of it. Thread-safe.
class KeptMapping {
 public:
  KeptMapping() = default;
  KeptMapping(const KeptMapping&) = delete;
  KeptMapping& operator=(const KeptMapping&) = delete;
  // `fd` is of the same memory each time.
  [[nodiscard]] Result<const uint8_t*> read(int fd, uint64_t size_bytes);

 private:
  std::mutex lock_;
  Mapping mapping_;
};

}  // namespace dxva::dmabuf
