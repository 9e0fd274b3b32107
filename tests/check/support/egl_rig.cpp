// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/support/egl_rig.hpp"

#include <EGL/eglext.h>

#include <algorithm>
#include <array>
#include <vector>

namespace dxva::test {
namespace {

class ThisThread final : public gl::GlThread {
 public:
  void run(const std::function<void()>& job) override { job(); }
  [[nodiscard]] bool is_current() const override { return true; }
};

template <typename Function>
Function egl_function(const char* name) {
  return reinterpret_cast<Function>(eglGetProcAddress(name));
}

Error egl_failed(const char* call) {
  return Error{.code = ErrorCode::Unsupported, .call = call, .native = eglGetError()};
}

// One display per EGL device, or the surfaceless one where devices are not listed.
std::vector<EGLDisplay> displays() {
  std::vector<EGLDisplay> out;
  const auto get_display =
      egl_function<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT");
  const auto query_devices = egl_function<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT");
  std::array<EGLDeviceEXT, 32> devices{};
  EGLint count = 0;
  if (!get_display) return out;
  if (query_devices && query_devices(devices.size(), devices.data(), &count))
    for (EGLint i = 0; i < count; ++i)
      out.push_back(
          get_display(EGL_PLATFORM_DEVICE_EXT, devices[static_cast<size_t>(i)], nullptr));
  out.push_back(get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr));
  std::erase(out, EGL_NO_DISPLAY);
  return out;
}

}  // namespace

gl::ProcAddress EglRig::functions() {
  return {.get = [](void*, const char* name) -> void* {
    return reinterpret_cast<void*>(eglGetProcAddress(name));
  }};
}

Status EglRig::open(EGLDisplay display, Api api) {
  if (!eglInitialize(display, nullptr, nullptr)) return egl_failed("eglInitialize");
  display_ = display;
  if (!eglBindAPI(api == Api::Gl ? EGL_OPENGL_API : EGL_OPENGL_ES_API))
    return egl_failed("eglBindAPI");
  // 4.5 and 3.2 have everything that is asked about here; drivers give the newest they have.
  const std::array<EGLint, 5> for_gl = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION,
                                        5, EGL_NONE};
  const std::array<EGLint, 5> for_gles = {EGL_CONTEXT_MAJOR_VERSION, 3,
                                          EGL_CONTEXT_MINOR_VERSION, 2, EGL_NONE};
  const auto& attributes = api == Api::Gl ? for_gl : for_gles;
  context_ = eglCreateContext(display_, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes.data());
  if (context_ == EGL_NO_CONTEXT) return egl_failed("eglCreateContext");
  if (!eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_))
    return egl_failed("eglMakeCurrent");
  auto functions = gl::load_gl(EglRig::functions());
  if (!functions) return Error{.code = ErrorCode::Unsupported, .call = "load_gl"};
  gl_ = std::make_shared<const gl::GlApi>(std::move(*functions));
  thread_ = std::make_shared<ThisThread>();
  return Done{};
}

Result<std::unique_ptr<EglRig>> EglRig::create(Api api) {
  std::unique_ptr<EglRig> software;
  Error last{.code = ErrorCode::Unsupported, .call = "eglQueryDevicesEXT"};
  for (EGLDisplay display : displays()) {
    std::unique_ptr<EglRig> rig(new EglRig);
    if (auto opened = rig->open(display, api); !opened)
      last = opened.error();
    else if (!rig->gl()->facts.software)
      return rig;
    else if (!software)
      software = std::move(rig);
  }
  if (!software) return last;
  eglBindAPI(api == Api::Gl ? EGL_OPENGL_API : EGL_OPENGL_ES_API);
  eglMakeCurrent(software->display_, EGL_NO_SURFACE, EGL_NO_SURFACE, software->context_);
  return software;
}

EglRig::~EglRig() {
  if (context_ == EGL_NO_CONTEXT) return;
  // Only the one that is current can be let go of; others never were, or are not any more.
  if (eglGetCurrentContext() == context_)
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  eglDestroyContext(display_, context_);
}

}  // namespace dxva::test
