// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A picture as file descriptors: the only form in which VA and GL meet. One side exports, the
// other imports, and neither knows how the other came to it.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "lib/base/buffer_identity.hpp"
#include "lib/base/device_uuids.hpp"
#include "lib/base/result.hpp"
#include "lib/base/unique_fd.hpp"
#include "lib/dmabuf/mapping.hpp"
#include "lib/video/nv12_layout.hpp"

namespace dxva::dmabuf {

// Move-only; closes its descriptors. Reentrant.
struct ExternalFrame {
  struct Object {
    UniqueFd fd;
    uint64_t size_bytes = 0;  // by lseek
    BufferIdentity identity;
    uint64_t modifier = 0;
    // For whoever reads it again and again.
    std::unique_ptr<KeptMapping> mapping = std::make_unique<KeptMapping>();
  };
  struct Plane {
    uint32_t object = 0;
    uint64_t offset = 0;
    uint64_t pitch_bytes = 0;
    uint32_t format = 0;
  };

  // Set: no dma-bufs but opaque memory of this device and driver. Sizes are then the exporter's
  // word, and identities made of its numbers.
  std::optional<DeviceUuids> opaque;
  uint32_t fourcc = 0;
  uint32_t width = 0;  // pixels, of the surface (coded size)
  uint32_t height = 0;
  uint32_t object_count = 0;
  uint32_t plane_count = 0;
  std::array<Object, video::kMaxPlanes> objects;
  std::array<Plane, video::kMaxPlanes> planes;

  // The numbers without the descriptors, for classify().
  [[nodiscard]] video::ImageDescription describe() const;
  // Second descriptors of the same buffers (close-on-exec), or the error and nothing left open.
  [[nodiscard]] Result<ExternalFrame> duplicate() const;
};

}  // namespace dxva::dmabuf
