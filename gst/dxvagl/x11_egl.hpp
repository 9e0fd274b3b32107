// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gl/gl.h>

#include "gst/common/gst_ptr.hpp"

namespace dxva::gst {

// On an X server GstGL makes GLX contexts unless GST_GL_PLATFORM says otherwise, and under GLX
// no dma-buf can be imported. This is a display whose contexts are EGL ones, on the same X
// server; where such a context cannot be made, GstGL makes its own kind. Null where there is
// nothing to change: no X server, or the user chose a platform or window system. Any thread.
[[nodiscard]] GstPtr<GstGLDisplay> x11_display_with_egl();

}  // namespace dxva::gst
