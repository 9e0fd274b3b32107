// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <EGL/egl.h>

#include <string>

#include "lib/gl/gl_api.hpp"

namespace dxva::gl {

// The DRM node of the GPU behind an EGL display: its render node, or where the driver names
// none its primary one ("/dev/dri/card1"). Empty: EGL does not say (EGL_EXT_device_query and
// EGL_EXT_device_drm), or there is none, as with a renderer in software. GL-thread only.
[[nodiscard]] std::string drm_node_of(EGLDisplay display, const ProcAddress& egl);

}  // namespace dxva::gl
