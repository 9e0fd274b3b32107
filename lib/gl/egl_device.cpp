// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/egl_device.hpp"

#include <EGL/eglext.h>

#include <string_view>

namespace dxva::gl {
namespace {

bool listed(const char* extensions, std::string_view name) {
  const std::string framed = " " + std::string(extensions ? extensions : "") + " ";
  return framed.find(" " + std::string(name) + " ") != std::string::npos;
}

}  // namespace

std::string drm_node_of(EGLDisplay display, const ProcAddress& egl) {
  decltype(&::eglQueryString) query = nullptr;
  if (display == EGL_NO_DISPLAY || !egl.load(query, "eglQueryString")) return {};
  // Extensions of the client, not of the display.
  const char* client = query(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  PFNEGLQUERYDISPLAYATTRIBEXTPROC query_display = nullptr;
  PFNEGLQUERYDEVICESTRINGEXTPROC query_device = nullptr;
  if ((!listed(client, "EGL_EXT_device_query") && !listed(client, "EGL_EXT_device_base")) ||
      !egl.load(query_display, "eglQueryDisplayAttribEXT") ||
      !egl.load(query_device, "eglQueryDeviceStringEXT"))
    return {};
  EGLAttrib device = 0;
  if (query_display(display, EGL_DEVICE_EXT, &device) != EGL_TRUE || device == 0) return {};
  auto* const handle = reinterpret_cast<EGLDeviceEXT>(device);
  // Asked for a name that it does not list, EGL raises an error; for one that it lists Mesa
  // answers null without an error when the device is its software renderer.
  const char* of_device = query_device(handle, EGL_EXTENSIONS);
  const char* node = nullptr;
  if (listed(of_device, "EGL_EXT_device_drm_render_node"))
    node = query_device(handle, EGL_DRM_RENDER_NODE_FILE_EXT);
  if (!node && listed(of_device, "EGL_EXT_device_drm"))
    node = query_device(handle, EGL_DRM_DEVICE_FILE_EXT);
  return node ? node : "";
}

}  // namespace dxva::gl
