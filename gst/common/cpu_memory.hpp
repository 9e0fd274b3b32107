// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A word from dxvaglupload back to dxvadec about the memory of a picture that it was lent: the
// CPU alone has read it, and so it will those that follow. dxvadec decodes the next picture
// where the caches have this one (Pool::read_by_cpu). Thread-safe.

#include <gst/gst.h>

namespace dxva::gst {

// Once, by whoever made the memory and wants to know. Its shares are parts of the same picture.
void ask_for_readers(GstMemory* memory);
// Before it leaves, by the same.
void forget_readers(GstMemory* memory);
[[nodiscard]] bool is_read_by_cpu(GstMemory* memory);

// By the only reader, while it has the buffer. Memory of those who did not ask stays as it is.
void say_read_by_cpu(GstBuffer* buffer);

}  // namespace dxva::gst
