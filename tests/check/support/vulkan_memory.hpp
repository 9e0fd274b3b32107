// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A producer of opaque memory: what a decoder on Vulkan would hand over.

#include <memory>

#include "lib/gl/memory_object_self_test.hpp"
#include "lib/vulkan/memory_exporter.hpp"

namespace dxva::test {

[[nodiscard]] inline gl::TestMemorySource memory_from(
    std::shared_ptr<vulkan::MemoryExporter> exporter,
    vulkan::Placement placement = vulkan::Placement::Host) {
  return [exporter = std::move(exporter), placement](uint64_t size) -> Result<gl::TestMemory> {
    auto block = exporter->allocate(size, placement);
    if (!block) return block.error();
    auto fd = (*block)->share_fd();
    if (!fd) return fd.error();
    gl::TestMemory out{
        .data = (*block)->data(), .size_bytes = (*block)->size_bytes(), .fd = std::move(*fd)};
    out.owner = std::shared_ptr<vulkan::ExportableMemory>(std::move(*block));
    return out;
  };
}

}  // namespace dxva::test
