// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/gl_session.hpp"

#include <EGL/egl.h>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/base/test_switch.hpp"
#include "lib/gl/egl_device.hpp"

namespace dxva::gst {
namespace {

// Under GLX there may be no EGL display, and eglGetCurrentDisplay() then starts one or fails:
// only a context that GstGL made with EGL is asked.
EGLDisplay display_of(GstGLContext* context) {
  if (gst_gl_context_get_gl_platform(context) != GST_GL_PLATFORM_EGL) return EGL_NO_DISPLAY;
  return eglGetCurrentDisplay();
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

}  // namespace

std::shared_ptr<GlSession> GlSession::create(GstGLContext* context) {
  auto thread = std::make_shared<GstGlThread>(context);
  const gl::ProcAddress gl_proc = gl_functions(context);
  std::optional<gl::GlApi> api = gl::load_gl(gl_proc);
  if (!api) {
    DXVA_ERROR(Gl, "the context lacks basic OpenGL functions");
    return nullptr;
  }
  return std::make_shared<GlSession>(std::move(thread),
                                     std::make_shared<const gl::GlApi>(std::move(*api)),
                                     egl_functions(), gl_proc);
}

GlSession::GlSession(std::shared_ptr<GstGlThread> thread, std::shared_ptr<const gl::GlApi> api,
                     const gl::ProcAddress& egl, const gl::ProcAddress& gl_proc)
    : thread_(std::move(thread)),
      api_(std::move(api)),
      is_glx_(gst_gl_context_get_gl_platform(thread_->context()) == GST_GL_PLATFORM_GLX),
      display_(display_of(thread_->context())),
      drm_node_(gl::drm_node_of(display_, egl)),
      releases_(thread_, api_,
                display_ == EGL_NO_DISPLAY ? std::nullopt : gl::load_egl_fence(display_, egl)),
      native_fence_(gl::load_native_fence(display_, egl)),
      pool_(thread_, api_) {
  set_up_import(egl, gl_proc);
  set_up_memory_objects(gl_proc);
  if (offers_.empty()) offers_ = linear_offers();
}

void GlSession::set_up_import(const gl::ProcAddress& egl, const gl::ProcAddress& gl_proc) {
  Result<gl::DmabufImportApi> import = gl::load_dmabuf_import(display_, egl, *api_, gl_proc);
  if (!import) {
    import_refusal_ = import.error().reason;
    DXVA_INFO(Gl, "every frame is copied on %s: %s", api_->facts.renderer.c_str(),
              import.error().describe().c_str());
    return;
  }
  // An upload is as fast there, and even a valid dma-buf of another driver crashes llvmpipe at
  // the draw when a vgem node is visible.
  if (api_->facts.software && !test_switch().software_import) {
    import_refusal_ = Reason::SoftwareRenderer;
    DXVA_INFO(Gl, "every frame is copied: %s is a software renderer",
              api_->facts.renderer.c_str());
    return;
  }
  const auto formats = gl::ImportFormats::query(*import);
  importer_.emplace(thread_, api_, *import, formats);
  whole_images_.emplace(thread_, api_, *import, formats);
  offers_ = rank_offers(formats, import->samples_external);
  DXVA_INFO(Gl, "dma-bufs are imported as EGLImages on %s", api_->facts.renderer.c_str());
}

void GlSession::set_up_memory_objects(const gl::ProcAddress& gl_proc) {
  auto made = MemoryObjects::create(thread_, api_, gl_proc);
  if (made) {
    memory_objects_ = std::move(*made);
    return;
  }
  memory_object_refusal_ = made.error().reason;
  DXVA_INFO(Gl, "no opaque memory on %s: %s", api_->facts.renderer.c_str(),
            made.error().describe().c_str());
}

Result<const gl::Nv12Pass*> GlSession::pass() {
  if (!pass_) {
    auto built = gl::Nv12Pass::create(thread_, api_);
    if (!built) return built.error();
    pass_ = std::move(*built);
  }
  return static_cast<const gl::Nv12Pass*>(pass_.get());
}

Result<const gl::WholeImagePass*> GlSession::whole_image_pass(GLenum target) {
  std::unique_ptr<gl::WholeImagePass>& pass = whole_image_passes_[target];
  if (!pass) {
    auto built = gl::WholeImagePass::create(thread_, api_, target);
    if (!built) return built.error();
    pass = std::move(*built);
  }
  return static_cast<const gl::WholeImagePass*>(pass.get());
}

Result<const gl::PlaneComparison*> GlSession::comparison() {
  if (!comparison_) {
    auto built = gl::PlaneComparison::create(thread_, api_);
    if (!built) return built.error();
    comparison_ = std::move(*built);
  }
  return static_cast<const gl::PlaneComparison*>(comparison_.get());
}

}  // namespace dxva::gst
