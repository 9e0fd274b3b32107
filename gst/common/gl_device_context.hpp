// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>

#include "gst/common/gst_ptr.hpp"
#include "lib/base/device_uuids.hpp"

namespace dxva::gst {

// Which GPU OpenGL draws with, told by an element that has a GL context to one that decodes and
// knows no GL. A GstContext, because those are asked for along the pads, remembered by bins for
// elements that come later, and given by applications. Described in docs/plugins/index.md.
inline constexpr const char* kGlDeviceContext = "gst.dxva.gl.device";

struct GlDeviceFacts {
  std::string node;      // a DRM node of the GPU; empty: none, or EGL does not name it
  std::string renderer;  // GL_RENDERER
  // GL_DEVICE_UUID_EXT, where OpenGL takes memory of that device.
  std::optional<DeviceUuids::Uuid> uuid = std::nullopt;
};

[[nodiscard]] GstPtr<GstContext> make_gl_device_context(const GlDeviceFacts& facts);
// Nothing when it is another kind of context.
[[nodiscard]] std::optional<GlDeviceFacts> gl_device_of(const GstContext* context);

}  // namespace dxva::gst
