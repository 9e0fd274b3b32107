// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>

namespace dxva::gst {

// All our plugins in a process tell the same listener (lib/base/trace.hpp), though each has its
// own copy of lib/. Called by plugin_init, which GStreamer runs for one plugin at a time.
void install_trace_board();

// What ties the parts of elements that handle one frame together: its first memory.
[[nodiscard]] uint64_t trace_memory(GstBuffer* buffer);

}  // namespace dxva::gst
