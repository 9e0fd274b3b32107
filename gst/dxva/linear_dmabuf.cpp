// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/linear_dmabuf.hpp"

#include <fcntl.h>
#include <linux/dma-heap.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/test_switch.hpp"

namespace dxva::gst {

namespace {

Result<UniqueFd> from_heap(int heap, uint64_t size_bytes) {
  dma_heap_allocation_data request{};
  request.len = size_bytes;
  request.fd_flags = O_RDWR | O_CLOEXEC;
  if (::ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &request) < 0)
    return errno_error("DMA_HEAP_IOCTL_ALLOC");
  return UniqueFd(static_cast<int>(request.fd));
}

Result<UniqueFd> from_memfd(uint64_t size_bytes) {
  UniqueFd fd(::memfd_create("dxva-copy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return errno_error("memfd_create");
  if (::ftruncate(fd.get(), static_cast<off_t>(size_bytes)) < 0)
    return errno_error("ftruncate");
  // What lib/dmabuf asks of a stand-in: it cannot shrink under a mapping.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK) < 0) return errno_error("F_ADD_SEALS");
  return fd;
}

// Opened once per process and kept.
const UniqueFd& system_heap() {
  static const UniqueFd heap(::open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC));
  return heap;
}

}  // namespace

bool have_linear_dmabufs() {
  return system_heap().valid() || test_switch().memfd;
}

Result<UniqueFd> make_linear_dmabuf(uint64_t size_bytes) {
  if (system_heap().valid()) return from_heap(system_heap().get(), size_bytes);
  if (test_switch().memfd) return from_memfd(size_bytes);
  return Error{.code = ErrorCode::Unsupported,
               .call = "open",
               .text = "no dma-buf heap on this machine"};
}

}  // namespace dxva::gst
