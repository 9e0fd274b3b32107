// SPDX-License-Identifier: LGPL-2.1-or-later

// The DRM node behind an EGL display, on an EGL that does what the test says.

#include "lib/gl/egl_device.hpp"

#include <EGL/eglext.h>

#include <string>

#include "tests/check/support/check.hpp"

using namespace dxva;

namespace {

EGLDisplay const kDisplay = reinterpret_cast<EGLDisplay>(1);
EGLDeviceEXT const kDevice = reinterpret_cast<EGLDeviceEXT>(2);

struct Egl {
  std::string client = "EGL_EXT_client_extensions EGL_EXT_device_query";
  std::string device = "EGL_EXT_device_drm EGL_EXT_device_drm_render_node";
  const char* render_node = "/dev/dri/renderD129";
  const char* primary_node = "/dev/dri/card1";
  bool has_device = true;
  bool has_functions = true;
  int unlisted_questions = 0;  // EGL raises an error for each
} egl;

const char* query_string(EGLDisplay display, EGLint name) {
  fail_unless(display == EGL_NO_DISPLAY && name == EGL_EXTENSIONS);
  return egl.client.c_str();
}
EGLBoolean query_display(EGLDisplay display, EGLint name, EGLAttrib* value) {
  fail_unless(display == kDisplay && name == EGL_DEVICE_EXT);
  *value = reinterpret_cast<EGLAttrib>(kDevice);
  return egl.has_device ? EGL_TRUE : EGL_FALSE;
}
const char* query_device(EGLDeviceEXT device, EGLint name) {
  fail_unless(device == kDevice);
  const auto answer = [](const char* extension, const char* value) -> const char* {
    if ((" " + egl.device + " ").find(std::string(" ") + extension + " ") != std::string::npos)
      return value;
    ++egl.unlisted_questions;
    return nullptr;
  };
  if (name == EGL_EXTENSIONS) return egl.device.c_str();
  if (name == EGL_DRM_RENDER_NODE_FILE_EXT)
    return answer("EGL_EXT_device_drm_render_node", egl.render_node);
  if (name == EGL_DRM_DEVICE_FILE_EXT) return answer("EGL_EXT_device_drm", egl.primary_node);
  return nullptr;
}

void* find(void*, const char* name) {
  const std::string asked = name;
  if (asked == "eglQueryString") return reinterpret_cast<void*>(&query_string);
  if (!egl.has_functions) return nullptr;
  if (asked == "eglQueryDisplayAttribEXT") return reinterpret_cast<void*>(&query_display);
  if (asked == "eglQueryDeviceStringEXT") return reinterpret_cast<void*>(&query_device);
  return nullptr;
}
constexpr gl::ProcAddress kFind{.get = find};

std::string node() {
  return gl::drm_node_of(kDisplay, kFind);
}

GST_START_TEST(render_node_is_named) {
  fail_unless(node() == "/dev/dri/renderD129");
  egl.client = "EGL_EXT_device_base";  // the older name of the same
  fail_unless(node() == "/dev/dri/renderD129");
}
GST_END_TEST;

GST_START_TEST(primary_node_is_named_where_no_render_node_is) {
  egl.device = "EGL_EXT_device_drm";
  fail_unless(node() == "/dev/dri/card1");
  egl.device = "EGL_EXT_device_drm EGL_EXT_device_drm_render_node";
  egl.render_node = nullptr;
  fail_unless(node() == "/dev/dri/card1");
  fail_unless_equals_int(egl.unlisted_questions, 0);
}
GST_END_TEST;

GST_START_TEST(a_renderer_in_software_has_no_node) {
  egl.device = "EGL_MESA_device_software EGL_EXT_device_drm_render_node";
  egl.render_node = nullptr;
  fail_unless(node().empty());
  egl.device = "EGL_MESA_device_software";
  fail_unless(node().empty());
  fail_unless_equals_int(egl.unlisted_questions, 0);
}
GST_END_TEST;

GST_START_TEST(an_egl_that_does_not_say_is_not_asked) {
  fail_unless(gl::drm_node_of(EGL_NO_DISPLAY, kFind).empty());
  egl.has_device = false;
  fail_unless(node().empty());
  egl = {};
  egl.client = "EGL_EXT_device_query_name";  // longer than the one that counts
  fail_unless(node().empty());
  egl = {};
  egl.has_functions = false;
  fail_unless(node().empty());
}
GST_END_TEST;

Suite* gl_egl_device_suite() {
  Suite* suite = suite_create("gl_egl_device");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, render_node_is_named);
  tcase_add_test(tcase, primary_node_is_named_where_no_render_node_is);
  tcase_add_test(tcase, a_renderer_in_software_has_no_node);
  tcase_add_test(tcase, an_egl_that_does_not_say_is_not_asked);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(gl_egl_device)
