// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/vm/real_buffers.hpp"

#include <drm.h>
#include <drm_mode.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <cstring>
#include <string>

namespace dxva::vm {
namespace {

// drm/vgem_drm.h, which neither libdrm nor Debian's kernel headers install for C.
struct VgemFenceAttach {
  uint32_t handle;
  uint32_t flags;
  uint32_t out_fence;
  uint32_t pad;
};
struct VgemFenceSignal {
  uint32_t fence;
  uint32_t flags;
};
constexpr uint32_t kFenceWrites = 1;
constexpr unsigned long kFenceAttach = DRM_IOWR(DRM_COMMAND_BASE + 1, VgemFenceAttach);
constexpr unsigned long kFenceSignal = DRM_IOW(DRM_COMMAND_BASE + 2, VgemFenceSignal);

UniqueFd make_heap_buffer(uint64_t size_bytes) {
  const UniqueFd heap{::open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC)};
  dma_heap_allocation_data request{};
  request.len = size_bytes;
  request.fd_flags = O_RDWR | O_CLOEXEC;
  if (!heap.valid() || ::ioctl(heap.get(), DMA_HEAP_IOCTL_ALLOC, &request) != 0) return {};
  return UniqueFd{static_cast<int>(request.fd)};
}

UniqueFd make_udmabuf(uint64_t size_bytes) {
  const UniqueFd device{::open("/dev/udmabuf", O_RDWR | O_CLOEXEC)};
  const UniqueFd pages{::memfd_create("pages", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!device.valid() || !pages.valid() ||
      ::ftruncate(pages.get(), static_cast<off_t>(size_bytes)) != 0 ||
      ::fcntl(pages.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0)
    return {};
  udmabuf_create request{};
  request.memfd = static_cast<uint32_t>(pages.get());
  request.flags = UDMABUF_FLAGS_CLOEXEC;
  request.size = size_bytes;
  return UniqueFd{::ioctl(device.get(), UDMABUF_CREATE, &request)};
}

// Card numbers depend on the order in which modules were loaded.
UniqueFd open_vgem() {
  for (int number = 0; number < 4; ++number) {
    const std::string path = "/dev/dri/card" + std::to_string(number);
    UniqueFd node{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
    char name[16] = {};
    drm_version version{};
    version.name = name;
    version.name_len = sizeof name - 1;
    if (node.valid() && ::ioctl(node.get(), DRM_IOCTL_VERSION, &version) == 0 &&
        std::strcmp(name, "vgem") == 0)
      return node;
  }
  return {};
}

UniqueFd export_handle(int node, uint32_t handle) {
  drm_prime_handle request{};
  request.handle = handle;
  request.flags = DRM_CLOEXEC | DRM_RDWR;
  if (::ioctl(node, DRM_IOCTL_PRIME_HANDLE_TO_FD, &request) != 0) return {};
  return UniqueFd{request.fd};
}

}  // namespace

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::DmaHeap:
      return "dma-heap";
    case Kind::Udmabuf:
      return "udmabuf";
    case Kind::Vgem:
      return "vgem";
  }
  return "?";
}

UniqueFd make_buffer(Kind kind, uint64_t size_bytes) {
  switch (kind) {
    case Kind::DmaHeap:
      return make_heap_buffer(size_bytes);
    case Kind::Udmabuf:
      return make_udmabuf(size_bytes);
    case Kind::Vgem:
      return make_vgem_buffer(size_bytes).buffer;
  }
  return {};
}

VgemBuffer make_vgem_buffer(uint64_t size_bytes) {
  VgemBuffer made{.node = open_vgem()};
  drm_mode_create_dumb request{};
  request.width = 4096;
  request.height = static_cast<uint32_t>(size_bytes / 4096);
  request.bpp = 8;
  if (!made.node.valid() || ::ioctl(made.node.get(), DRM_IOCTL_MODE_CREATE_DUMB, &request) != 0)
    return made;
  made.handle = request.handle;
  made.buffer = export_handle(made.node.get(), made.handle);
  return made;
}

UniqueFd export_again(const VgemBuffer& buffer) {
  return export_handle(buffer.node.get(), buffer.handle);
}

uint32_t attach_write_fence(const VgemBuffer& buffer) {
  VgemFenceAttach request{.handle = buffer.handle, .flags = kFenceWrites};
  return ::ioctl(buffer.node.get(), kFenceAttach, &request) == 0 ? request.out_fence : 0;
}

bool signal_fence(const VgemBuffer& buffer, uint32_t fence) {
  VgemFenceSignal request{.fence = fence};
  return ::ioctl(buffer.node.get(), kFenceSignal, &request) == 0;
}

}  // namespace dxva::vm
