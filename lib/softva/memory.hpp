// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "lib/base/device_uuids.hpp"
#include "lib/base/result.hpp"
#include "lib/base/unique_fd.hpp"
#include "lib/vulkan/memory_exporter.hpp"

namespace dxva::softva {

// Where surfaces' memory comes from, best first: a dma-heap or udmabuf gives real dma-bufs; a
// memfd, sealed so that it cannot shrink under a reader, is what is left on a kernel with
// neither, and serves everyone who maps. Vulkan's is for GL_EXT_memory_object_fd, is exported
// in a way of our own (lib/dmabuf/opaque_surface.hpp), and is taken only when asked for.
enum class MemoryKind : uint8_t { DmaHeap, Udmabuf, Memfd, Vulkan };
[[nodiscard]] std::optional<MemoryKind> memory_kind(std::string_view name);
[[nodiscard]] const char* memory_kind_name(MemoryKind kind);
// The first kind that this machine and user can allocate.
[[nodiscard]] Result<MemoryKind> best_memory_kind();

// One buffer: a descriptor others can share, mapped here for reading and writing. Shared by the
// surface, images derived from it and pictures in flight, so that destroying the surface in one
// thread never pulls pixels from under another.
// Thread rules: reentrant; the pixels are guarded by whoever uses them.
class Memory {
 public:
  // Zeroed; `size_bytes` is a multiple of the page size.
  [[nodiscard]] static Result<std::shared_ptr<Memory>> allocate(MemoryKind kind,
                                                                uint64_t size_bytes);
  // A stranger's buffer, by a duplicate of its descriptor: a dma-buf, or a memfd that can no
  // longer shrink. Everything else is refused, because its owner could truncate it and the next
  // access here would be a SIGBUS.
  [[nodiscard]] static Result<std::shared_ptr<Memory>> import(int fd);

  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  [[nodiscard]] uint8_t* data() const { return data_; }
  [[nodiscard]] uint64_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] int fd() const { return fd_.get(); }  // lent; none of Vulkan's
  // Whose memory it is, when only GL and Vulkan can read its descriptors; else null.
  [[nodiscard]] const DeviceUuids* opaque_to() const { return opaque_ ? &uuids_ : nullptr; }
  // No other memory of this process has it, now or later.
  [[nodiscard]] uint64_t id() const { return id_; }
  // A new descriptor for someone who will close it.
  [[nodiscard]] Result<UniqueFd> share_fd() const;

 private:
  Memory();
  static Result<std::shared_ptr<Memory>> allocate_from_vulkan(uint64_t size_bytes);
  static Result<std::shared_ptr<Memory>> map(UniqueFd fd, uint64_t size_bytes, bool dmabuf);
  friend class CpuAccess;

  const uint64_t id_;
  UniqueFd fd_;
  std::unique_ptr<vulkan::ExportableMemory> opaque_;  // instead of fd_ and the mapping
  DeviceUuids uuids_;
  uint8_t* data_ = nullptr;
  uint64_t size_bytes_ = 0;
  bool dmabuf_ = false;
};

// The CPU is touching `memory` while this lives. A dma-buf's caches are kept coherent by it
// (DMA_BUF_IOCTL_SYNC); a memfd needs nothing. The kernel makes it wait for all fences on the
// buffer; FencedWrite is the write that one of them is about, so it tells the kernel nothing.
class CpuAccess {
 public:
  enum class Mode { Read, Write, ReadWrite, FencedWrite };
  CpuAccess(std::shared_ptr<const Memory> memory, Mode mode);
  CpuAccess(const CpuAccess&) = delete;
  CpuAccess& operator=(const CpuAccess&) = delete;
  ~CpuAccess();

 private:
  std::shared_ptr<const Memory> memory_;
  const uint64_t flags_;
  const bool tells_kernel_;
};

}  // namespace dxva::softva
