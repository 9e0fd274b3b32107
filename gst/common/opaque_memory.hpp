// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How opaque memory (Vulkan's OPAQUE_FD) travels between our two elements and nobody else: a
// caps feature, two fields that say who can read it, and a GstMemory around the descriptor
// whose number says which memory it is. docs/plugins/index.md has the caps; the memory is
// private to us.

#include <gst/gst.h>

#include <cstdint>
#include <optional>

#include "lib/base/buffer_identity.hpp"
#include "lib/base/device_uuids.hpp"

namespace dxva::gst {

inline constexpr const char* kOpaqueFdFeature = "memory:OpaqueFd";

// video/x-raw(memory:OpaqueFd), device-uuid=(string)…, driver-uuid=(string)…
void set_uuids(GstStructure* caps, const DeviceUuids& uuids);
void remove_uuids(GstStructure* caps);
[[nodiscard]] std::optional<DeviceUuids> uuids_of(const GstStructure* caps);

// gst_memory_is_type() of such memory. It is a GstFdMemory, so that the uploader finds the
// descriptor, and its map reads the picture back; the descriptor itself cannot be mapped.
inline constexpr const char* kOpaqueMemoryType = "DxvaOpaqueFd";

// What its allocator has said (memory_identity.hpp). Nothing when it is no opaque memory of
// ours. A share is asked for its parent's.
[[nodiscard]] std::optional<BufferIdentity> opaque_identity(GstMemory* memory);

}  // namespace dxva::gst
