// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// lib/vulkan makes memory that OpenGL imports by GL_EXT_memory_object_fd: allocated by Vulkan,
// mapped for the CPU, exported as VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT. It is the only
// folder that knows Vulkan, and loads it when asked: a machine without libvulkan.so.1 has this
// feature less and nothing else.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lib/base/device_uuids.hpp"
#include "lib/base/result.hpp"
#include "lib/base/unique_fd.hpp"

namespace dxva::vulkan {

enum class Placement {
  Host,    // the CPU reads and writes it fast: cached where the device has such memory
  Device,  // the device reads it fast; the CPU can still write it
};

// One block of linear memory, mapped for reading and writing as long as this lives. Memory that
// OpenGL imported stays valid beyond that. The bytes are guarded by whoever uses them.
class ExportableMemory {
 public:
  virtual ~ExportableMemory() = default;
  [[nodiscard]] virtual uint8_t* data() const = 0;
  // What was allocated, and what an import must name; at least what was asked for.
  [[nodiscard]] virtual uint64_t size_bytes() const = 0;
  // A new descriptor for each call (vkGetMemoryFdKHR); thread-safe. What it is differs: a
  // control node on NVIDIA, a memfd with a header of its own on lavapipe. Nobody may mmap it.
  [[nodiscard]] virtual Result<UniqueFd> share_fd() const = 0;
};

// A Vulkan device, and memory from it. Thread-safe.
class MemoryExporter {
 public:
  // The device that has these UUIDs, or without a wish the first that can export memory that
  // the CPU can map. Unsupported: no Vulkan, no such device, or built without Vulkan's headers.
  [[nodiscard]] static Result<std::shared_ptr<MemoryExporter>> open(
      const std::optional<DeviceUuids>& wanted);
  virtual ~MemoryExporter() = default;

  // Zeroed. Unsupported: the device has no memory of that placement.
  [[nodiscard]] virtual Result<std::unique_ptr<ExportableMemory>> allocate(
      uint64_t size_bytes, Placement placement) = 0;

  [[nodiscard]] virtual const DeviceUuids& uuids() const = 0;
  [[nodiscard]] virtual const std::string& device_name() const = 0;
};

}  // namespace dxva::vulkan
