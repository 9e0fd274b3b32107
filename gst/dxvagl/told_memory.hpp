// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gl/gl.h>

#include <functional>

namespace dxva::gst {

// GstGL's own allocator in everything that consumers see (type, name, what a copy is made by),
// but who made the memory is told of each map. GstGL maps on the GL thread, so whatever has to
// be done there can be done then, without a trip of its own. Lives as long as the process. Any
// thread.
[[nodiscard]] GstGLMemoryAllocator* told_memory_allocator();

// `on_map` runs on the GL thread with the context current and the memory locked by GstGL,
// before each map, for as long as the memory lives; copies of it have none. Once, by whoever
// made the memory with that allocator.
void set_on_map(GstMemory* memory, std::function<void()> on_map);

}  // namespace dxva::gst
