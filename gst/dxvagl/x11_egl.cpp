// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/x11_egl.hpp"

#include <gst/gl/egl/gstgldisplay_egl.h>

#include <cstdlib>

#include "lib/base/log.hpp"

namespace dxva::gst {
namespace {

// GstGL's class of EGL contexts is not in its headers, but its contexts can be asked what they
// are. On a display of kind EGL it makes no other.
GType egl_context_type(GstGLDisplay* x11) {
  const auto egl = GstPtr<GstGLDisplayEGL>::adopt(gst_gl_display_egl_from_gl_display(x11));
  if (!egl) return G_TYPE_INVALID;
  const auto probe = GstPtr<GstGLContext>::adopt(gst_gl_context_new(GST_GL_DISPLAY(egl.get())));
  if (!probe || gst_gl_context_get_gl_platform(probe.get()) != GST_GL_PLATFORM_EGL)
    return G_TYPE_INVALID;
  return G_OBJECT_TYPE(probe.get());
}

// "create-context": null lets GstGL go on as it would have. The signal wants a finished
// context.
GstGLContext* create_egl_context(GstGLDisplay* display, GstGLContext* other, gpointer) {
  if (other && gst_gl_context_get_gl_platform(other) != GST_GL_PLATFORM_EGL)
    return nullptr;  // it could not share with the application's
  const GType type = egl_context_type(display);
  if (type == G_TYPE_INVALID) return nullptr;
  auto* made = static_cast<GstGLContext*>(g_object_new(type, nullptr));
  auto context = GstPtr<GstGLContext>::adopt(GST_GL_CONTEXT(gst_object_ref_sink(made)));
  // What gst_gl_context_new() does; its window will be one of this display.
  context->display = GST_GL_DISPLAY(gst_object_ref(display));
  GError* error = nullptr;
  if (gst_gl_context_create(context.get(), other, &error)) return context.release();
  DXVA_INFO(Gl, "no EGL context on this X server: %s", error ? error->message : "unknown");
  g_clear_error(&error);
  return nullptr;
}

}  // namespace

GstPtr<GstGLDisplay> x11_display_with_egl() {
  if (std::getenv("GST_GL_PLATFORM")) return nullptr;
  auto display = GstPtr<GstGLDisplay>::adopt(gst_gl_display_new());
  if (!display || gst_gl_display_get_handle_type(display.get()) != GST_GL_DISPLAY_TYPE_X11)
    return nullptr;
  g_signal_connect(display.get(), "create-context", G_CALLBACK(create_egl_context), nullptr);
  return display;
}

}  // namespace dxva::gst
