// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/gstdxvaallocator.hpp"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "gst/common/attached.hpp"
#include "gst/common/memory_identity.hpp"
#include "gst/common/opaque_memory.hpp"
#include "lib/dmabuf/mapping.hpp"

struct _GstDxvaAllocator {
  GstDmaBufAllocator parent;
};

G_DEFINE_FINAL_TYPE(GstDxvaAllocator, gst_dxva_allocator, GST_TYPE_DMABUF_ALLOCATOR)

struct _GstDxvaOpaqueAllocator {
  GstFdAllocator parent;
};

G_DEFINE_FINAL_TYPE(GstDxvaOpaqueAllocator, gst_dxva_opaque_allocator, GST_TYPE_FD_ALLOCATOR)

namespace dxva::gst {

namespace {

// Hangs on the memory; a memory that is part of another (gst_memory_share) uses its parent's.
// GstVideoFrame maps a memory once per plane, so maps are counted and the work is done once.
// Thread-safe.
class MappedBytes {
 public:
  MappedBytes(int fd, std::shared_ptr<const void> owner, uint64_t size_bytes,
              MemoryAccess access)
      : fd_(fd),
        owner_(std::move(owner)),
        size_bytes_(size_bytes),
        access_(std::move(access)) {}

  void* map(GstMapFlags flags) {
    const std::lock_guard guard(lock_);
    const bool write = (flags & GST_MAP_WRITE) != 0;
    if (write && (!access_.writable || !access_.linear)) return nullptr;
    if (users_ == 0 && !begin(write)) return nullptr;
    ++users_;
    return staging_.empty() ? mapping_.data() : staging_.data();
  }

  void unmap() {
    const std::lock_guard guard(lock_);
    if (users_ == 0 || --users_ > 0) return;
    cpu_ = {};
    staging_ = {};
    // The mapping stays for the memory's life: the surface comes round again.
  }

 private:
  bool begin(bool write) {
    if (access_.linear && map_linear(write)) return true;
    if (!access_.read_back) return false;
    staging_.assign(size_bytes_, 0);
    if (access_.read_back(staging_)) return true;
    staging_ = {};
    return false;
  }

  bool map_linear(bool write) {
    const auto wanted = access_.writable ? dmabuf::Access::ReadWrite : dmabuf::Access::Read;
    if (!mapping_.data()) {
      auto mapped = dmabuf::Mapping::map(fd_, size_bytes_, wanted);
      if (!mapped) return false;
      mapping_ = std::move(*mapped);
    }
    auto begun =
        dmabuf::CpuAccess::begin(fd_, write ? dmabuf::Access::ReadWrite : dmabuf::Access::Read);
    if (!begun) return false;
    cpu_ = std::move(*begun);
    return true;
  }

  const int fd_;
  const std::shared_ptr<const void> owner_;  // of the descriptor
  const uint64_t size_bytes_;
  const MemoryAccess access_;

  std::mutex lock_;
  uint32_t users_ = 0;
  dmabuf::Mapping mapping_;
  dmabuf::CpuAccess cpu_;
  std::vector<uint8_t> staging_;
};

const Attached<MappedBytes> kMappedBytes("dxva-mapped-bytes");

gpointer map_full(GstMemory* memory, GstMapInfo* info, gsize) {
  MappedBytes* bytes = kMappedBytes.of(memory);
  return bytes ? bytes->map(info->flags) : nullptr;
}

void unmap_full(GstMemory* memory, GstMapInfo*) {
  if (MappedBytes* bytes = kMappedBytes.of(memory)) bytes->unmap();
}

}  // namespace

GstPtr<GstAllocator> make_dxva_allocator() {
  auto* object = GST_ALLOCATOR(g_object_new(GST_TYPE_DXVA_ALLOCATOR, nullptr));
  // A word to dxvaglupload: a map of this memory shows rows of pixels even where the modifier
  // says tiles.
  g_object_set_data(G_OBJECT(object), "dxva-maps-linear", GINT_TO_POINTER(1));
  return GstPtr<GstAllocator>::adopt(GST_ALLOCATOR(gst_object_ref_sink(object)));
}

GstPtr<GstMemory> wrap_dmabuf(GstAllocator* allocator, int fd,
                              std::shared_ptr<const void> owner, uint64_t size_bytes,
                              MemoryAccess access) {
  const bool writable = access.writable;
  GstMemory* memory =
      gst_fd_allocator_alloc(allocator, fd, size_bytes, GST_FD_MEMORY_FLAG_DONT_CLOSE);
  if (!memory) return nullptr;
  // A write map of READONLY memory succeeds: the buffer replaces it by a copy in system memory.
  // Nobody scribbles on a reference picture.
  if (!writable) GST_MINI_OBJECT_FLAG_SET(memory, GST_MEMORY_FLAG_READONLY);
  kMappedBytes.keep(memory, std::make_unique<MappedBytes>(fd, std::move(owner), size_bytes,
                                                          std::move(access)));
  return GstPtr<GstMemory>::adopt(memory);
}

GstPtr<GstMemory> wrap_dmabuf(GstAllocator* allocator, UniqueFd fd, uint64_t size_bytes,
                              MemoryAccess access) {
  const int number = fd.get();
  return wrap_dmabuf(allocator, number, std::make_shared<const UniqueFd>(std::move(fd)),
                     size_bytes, std::move(access));
}

GstPtr<GstAllocator> make_dxva_opaque_allocator() {
  auto* object = GST_ALLOCATOR(g_object_new(GST_TYPE_DXVA_OPAQUE_ALLOCATOR, nullptr));
  return GstPtr<GstAllocator>::adopt(GST_ALLOCATOR(gst_object_ref_sink(object)));
}

GstPtr<GstMemory> wrap_opaque(GstAllocator* allocator, int fd,
                              std::shared_ptr<const void> owner, uint64_t size_bytes,
                              const BufferIdentity& identity, MemoryAccess access) {
  auto memory = wrap_dmabuf(allocator, fd, std::move(owner), size_bytes, std::move(access));
  if (memory) set_memory_identity(memory.get(), identity);
  return memory;
}

}  // namespace dxva::gst

static void gst_dxva_opaque_allocator_class_init(GstDxvaOpaqueAllocatorClass*) {}

static void gst_dxva_opaque_allocator_init(GstDxvaOpaqueAllocator* self) {
  GST_ALLOCATOR(self)->mem_type = dxva::gst::kOpaqueMemoryType;
  GST_ALLOCATOR(self)->mem_map_full = dxva::gst::map_full;
  GST_ALLOCATOR(self)->mem_unmap_full = dxva::gst::unmap_full;
  g_object_set_data(G_OBJECT(self), "dxva-maps-linear", self);
}

static void gst_dxva_allocator_class_init(GstDxvaAllocatorClass*) {}

static void gst_dxva_allocator_init(GstDxvaAllocator* self) {
  // Both: the parent installs mem_map_full and mem_unmap_full too, and they win over the plain
  // ones. mem_type stays the parent's "dmabuf", by which everybody knows such memory.
  GST_ALLOCATOR(self)->mem_map_full = dxva::gst::map_full;
  GST_ALLOCATOR(self)->mem_unmap_full = dxva::gst::unmap_full;
  // Says to dxvaglupload that a map shows rows of pixels even where the memory is tiled. It
  // reads no other tiled memory, because a stranger's map would show the tiles.
  g_object_set_data(G_OBJECT(self), "dxva-maps-linear", self);
}
