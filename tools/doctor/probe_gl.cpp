// SPDX-License-Identifier: LGPL-2.1-or-later
#include <EGL/egl.h>
#include <gst/gl/gl.h>

#include <cinttypes>
#include <cstdio>
#include <functional>

#include "lib/base/fourcc.hpp"
#include "lib/base/path.hpp"
#include "lib/gl/egl_api.hpp"
#include "lib/gl/egl_device.hpp"
#include "lib/gl/egl_importer.hpp"
#include "tools/doctor/probes.hpp"

namespace dxva::doctor {
namespace {

std::string hex(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, number);
  return text;
}

gl::ProcAddress gl_functions(GstGLContext* context) {
  return {.get = [](void* user, const char* name) -> void* {
            return gst_gl_context_get_proc_address(static_cast<GstGLContext*>(user), name);
          },
          .user = context};
}

gl::ProcAddress egl_functions() {
  return {.get = [](void*, const char* name) -> void* {
    return reinterpret_cast<void*>(eglGetProcAddress(name));
  }};
}

void describe_import(EGLDisplay display, GstGLContext* context, const gl::GlApi& api,
                     Json& out) {
  const auto import =
      gl::load_dmabuf_import(display, egl_functions(), api, gl_functions(context));
  out.set("imports", static_cast<bool>(import));
  if (!import) {
    out.set("import-reason", reason_name(import.error().reason));
    return;
  }
  const gl::ImportFormats formats = gl::ImportFormats::query(*import);
  out.set("lists-modifiers", formats.known());
  Json importable = Json::object();
  for (const uint32_t fourcc : {format::kNV12, format::kP010}) {
    Json modifiers = Json::array();
    for (const uint64_t modifier :
         formats.common_modifiers(gl::plane_fourcc(fourcc, 0), gl::plane_fourcc(fourcc, 1)))
      modifiers.add(hex(modifier));
    importable.set(fourcc_text(fourcc).c_str(), modifiers);
  }
  out.set("importable", importable);
}

// With the context current.
void describe(GstGLContext* context, Json& out) {
  const auto api = gl::load_gl(gl_functions(context));
  if (!api) {
    out.set("error", "the context lacks basic OpenGL functions");
    return;
  }
  out.set("vendor", api->facts.vendor);
  out.set("renderer", api->facts.renderer);
  out.set("gles", api->facts.gles);
  out.set("version", std::to_string(api->facts.major) + "." + std::to_string(api->facts.minor));
  out.set("software", api->facts.software);
  out.set("memory-object-fd", api->has("GL_EXT_memory_object_fd"));
  out.set("buffer-storage",
          api->has("GL_ARB_buffer_storage") || api->has("GL_EXT_buffer_storage"));
  const bool egl = gst_gl_context_get_gl_platform(context) == GST_GL_PLATFORM_EGL;
  const EGLDisplay display = egl ? eglGetCurrentDisplay() : EGL_NO_DISPLAY;
  if (egl) {
    out.set("egl", eglQueryString(display, EGL_VERSION));
    out.set("node", gl::drm_node_of(display, egl_functions()));
  }
  out.set("native-fence", gl::load_native_fence(display, egl_functions()).has_value());
  describe_import(display, context, *api, out);
}

const char* platform_name(GstGLPlatform platform) {
  switch (platform) {
    case GST_GL_PLATFORM_EGL:
      return "egl";
    case GST_GL_PLATFORM_GLX:
      return "glx";
    default:
      return "other";
  }
}

}  // namespace

Json probe_gl() {
  Json out = Json::object();
  GstGLDisplay* display = gst_gl_display_new();
  GstGLContext* context = nullptr;
  GError* error = nullptr;
  GST_OBJECT_LOCK(display);
  const gboolean made = gst_gl_display_create_context(display, nullptr, &context, &error);
  GST_OBJECT_UNLOCK(display);
  if (!made) {
    out.set("error", error ? error->message : "no context");
    g_clear_error(&error);
    gst_object_unref(display);
    return out;
  }
  out.set("platform", platform_name(gst_gl_context_get_gl_platform(context)));
  const std::function<void()> job = [&] { describe(context, out); };
  gst_gl_context_thread_add(
      context,
      [](GstGLContext*, gpointer data) {
        (*static_cast<const std::function<void()>*>(data))();
      },
      const_cast<std::function<void()>*>(&job));
  gst_object_unref(context);
  gst_object_unref(display);
  return out;
}

}  // namespace dxva::doctor
