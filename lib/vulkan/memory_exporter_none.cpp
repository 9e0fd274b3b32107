// SPDX-License-Identifier: LGPL-2.1-or-later

// What is built where Vulkan's headers are missing.

#include "lib/vulkan/memory_exporter.hpp"

namespace dxva::vulkan {

Result<std::shared_ptr<MemoryExporter>> MemoryExporter::open(
    const std::optional<DeviceUuids>&) {
  return Error{.code = ErrorCode::Unsupported,
               .call = "MemoryExporter::open",
               .text = "built without Vulkan's headers"};
}

}  // namespace dxva::vulkan
