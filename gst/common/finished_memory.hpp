// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A word from dxvadec to dxvaglupload about a picture's memory: the device has reported that
// the picture is there. A fence that is still pending on the buffer is that of another one,
// which only reads it, so nobody need ask for any.

#include <gst/gst.h>

namespace dxva::gst {

// With each picture, before it leaves, by whoever made the memory.
void set_finished(GstMemory* memory, bool finished);
// Nothing said: no. A share is asked for its parent's.
[[nodiscard, gnu::hot]] bool is_finished(GstMemory* memory);

}  // namespace dxva::gst
