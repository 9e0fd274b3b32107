// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// An OpenGL context without GStreamer and without a display, for tests of lib/gl on a real
// driver.

#include <EGL/egl.h>

#include <memory>
#include <string>

#include "lib/base/result.hpp"
#include "lib/gl/gl_api.hpp"

namespace dxva::test {

enum class Api { Gl, Gles };

// A context that is current on the thread that made it, until this goes.
class EglRig {
 public:
  // On the first EGL device with a GPU behind it; on a software renderer where there is none.
  [[nodiscard]] static Result<std::unique_ptr<EglRig>> create(Api api);
  ~EglRig();
  EglRig(const EglRig&) = delete;
  EglRig& operator=(const EglRig&) = delete;

  [[nodiscard]] const std::shared_ptr<const gl::GlApi>& gl() const { return gl_; }
  [[nodiscard]] const std::shared_ptr<gl::GlThread>& thread() const { return thread_; }
  [[nodiscard]] EGLDisplay display() const { return display_; }
  [[nodiscard]] static gl::ProcAddress functions();

 private:
  EglRig() = default;
  [[nodiscard]] Status open(EGLDisplay display, Api api);

  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
  std::shared_ptr<gl::GlThread> thread_;
  std::shared_ptr<const gl::GlApi> gl_;
};

}  // namespace dxva::test
