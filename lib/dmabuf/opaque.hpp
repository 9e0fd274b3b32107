// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "lib/base/buffer_identity.hpp"
#include "lib/base/result.hpp"

namespace dxva::dmabuf {

// A name for memory that fstat() has none for (all of NVIDIA's lead to one node): the number
// that its exporter gave it, in a device that no file system has.
[[nodiscard]] inline BufferIdentity opaque_identity(uint64_t memory_id) {
  return {.device = UINT64_MAX - 1, .inode = memory_id};
}

// From this number on the memory's maker has written the number (eight bytes, in this machine's
// order) so far before its end, behind everything else: NVIDIA's OpenGL was seen to import
// other memory than the descriptor's, and to report no error (docs/design/nvidia.md, "An import
// that is black"). Not at the end, because buffers of Mesa's need room behind them.
inline constexpr uint64_t kSignatureFromEnd = 128;
inline constexpr uint64_t kFirstSignedNumber = uint64_t{1} << 62;
[[nodiscard]] inline bool is_signed(const BufferIdentity& identity) {
  return identity.device == opaque_identity(0).device && identity.inode >= kFirstSignedNumber;
}

// Looks at a descriptor that is said to be opaque memory of `size_bytes` (Vulkan's OPAQUE_FD)
// before a driver is given a duplicate of it: Mesa reads from whatever it gets, so a pipe or an
// eventfd hangs the thread for ever, and a memfd whose header says more than there is kills the
// process. Accepted are the two kinds that drivers are known to hand out: NVIDIA's control
// node, and a memfd that cannot shrink whose header (Mesa's util/os_memory_fd) fits the file
// and the size. Never reads from anything but a regular file, never moves the file position.
// Refusals: BadDescriptor, NotOpaqueMemory, ObjectTooSmall.
[[nodiscard]] Status inspect_opaque(int fd, uint64_t size_bytes);

}  // namespace dxva::dmabuf
