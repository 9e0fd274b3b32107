// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How a VA-API driver hands out surfaces whose memory no dma-buf can name:
// vaExportSurfaceHandle with a memory type of our own. va.h has none for Vulkan's opaque
// descriptors. Between lib/softva and lib/va only; a client asks a driver that refused DRM
// PRIME 2 with VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE, so that drivers of others never hear of
// it. It includes nothing of libva's, so that both sides of that interface can.

#include <cstdint>

namespace dxva::dmabuf {

// A bit that va.h and va_drmcommon.h do not use; listed in VASurfaceAttribMemoryType.
inline constexpr uint32_t kOpaqueFdMemoryType = 0x00800000;

// What `descriptor` points to. The caller owns the descriptors and closes them.
struct OpaqueSurfaceDescriptor {
  static constexpr uint32_t kVersion = 1;
  static constexpr uint32_t kMaxParts = 4;

  uint32_t version;  // kVersion, written by the caller; others are refused
  uint32_t fourcc;   // VA's
  uint32_t width;    // pixels
  uint32_t height;
  uint8_t device_uuid[16];
  uint8_t driver_uuid[16];
  uint32_t object_count;
  uint32_t plane_count;
  struct Object {
    uint64_t size_bytes;  // of the allocation, as an import must name it
    uint64_t memory_id;   // the same number means the same memory, and no other ever has it
    int32_t fd;
    uint32_t reserved;
  } objects[kMaxParts];
  struct Plane {
    uint32_t object;
    uint32_t offset;       // bytes from the memory's first
    uint32_t pitch_bytes;  // rows of pixels: such memory is never tiled
  } planes[kMaxParts];
};

}  // namespace dxva::dmabuf
