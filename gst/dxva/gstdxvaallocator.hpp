// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Dma-buf memory that any element downstream may map and see correct pixels in.

#include <gst/allocators/allocators.h>

#include <functional>
#include <memory>
#include <span>

#include "gst/common/gst_ptr.hpp"
#include "lib/base/buffer_identity.hpp"
#include "lib/base/unique_fd.hpp"

G_BEGIN_DECLS

#define GST_TYPE_DXVA_ALLOCATOR (gst_dxva_allocator_get_type())
G_DECLARE_FINAL_TYPE(GstDxvaAllocator, gst_dxva_allocator, GST, DXVA_ALLOCATOR,
                     GstDmaBufAllocator)

#define GST_TYPE_DXVA_OPAQUE_ALLOCATOR (gst_dxva_opaque_allocator_get_type())
G_DECLARE_FINAL_TYPE(GstDxvaOpaqueAllocator, gst_dxva_opaque_allocator, GST,
                     DXVA_OPAQUE_ALLOCATOR, GstFdAllocator)

G_END_DECLS

namespace dxva::gst {

// How the CPU gets at a memory's bytes.
struct MemoryAccess {
  bool linear = true;
  bool writable = false;
  // Fills `to`, as large as the memory, with what a linear layout of the same planes would
  // hold. Called for memory that is not linear, or that cannot be mapped; may be empty.
  std::function<bool(std::span<uint8_t> to)> read_back;
  // Dropped with the memory.
  std::shared_ptr<const void> companion;
};

[[nodiscard]] GstPtr<GstAllocator> make_dxva_allocator();

// A memory of `size_bytes` on `fd`, which lives as long as the memory does: it is `owner`'s.
// The other form closes it. gst_is_dmabuf_memory() holds for both.
[[nodiscard]] GstPtr<GstMemory> wrap_dmabuf(GstAllocator* allocator, int fd,
                                            std::shared_ptr<const void> owner,
                                            uint64_t size_bytes, MemoryAccess access);
[[nodiscard]] GstPtr<GstMemory> wrap_dmabuf(GstAllocator* allocator, UniqueFd fd,
                                            uint64_t size_bytes, MemoryAccess access);

// The same for opaque memory (gst/common/opaque_memory.hpp), which can only be read back:
// `access` is neither linear nor writable.
[[nodiscard]] GstPtr<GstAllocator> make_dxva_opaque_allocator();
[[nodiscard]] GstPtr<GstMemory> wrap_opaque(GstAllocator* allocator, int fd,
                                            std::shared_ptr<const void> owner,
                                            uint64_t size_bytes, const BufferIdentity& identity,
                                            MemoryAccess access);

}  // namespace dxva::gst
