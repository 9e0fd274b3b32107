// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Which buffer is behind a memory's descriptor, said by whoever made the memory, so that nobody
// asks the kernel with each frame. It is a promise: for as long as the memory lives, its
// descriptor names that buffer.

#include <gst/gst.h>

#include <optional>

#include "lib/base/buffer_identity.hpp"

namespace dxva::gst {

// Once, by whoever made the memory.
void set_memory_identity(GstMemory* memory, const BufferIdentity& identity);
// Nothing where its maker did not say. A share is asked for its parent's.
[[nodiscard]] std::optional<BufferIdentity> memory_identity(GstMemory* memory);

}  // namespace dxva::gst
