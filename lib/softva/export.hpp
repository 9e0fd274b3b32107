// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>

namespace dxva::softva {

struct Driver;

// vaExportSurfaceHandle: DRM PRIME 2, or for memory of Vulkan's the type of
// lib/dmabuf/opaque_surface.hpp. Each call gives new descriptors, which the client
// closes; the memory is the surface's own, so the same buffer comes out every time.
VAStatus export_surface(Driver& driver, VASurfaceID id, uint32_t memory_type, uint32_t flags,
                        void* descriptor);

}  // namespace dxva::softva
