// SPDX-License-Identifier: LGPL-2.1-or-later

// Fences of others that the GPU waits for, on an EGL that does what the test says.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "lib/base/unique_fd.hpp"
#include "lib/gl/egl_api.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;

namespace {

struct Egl {
  std::string extensions = "EGL_KHR_wait_sync EGL_ANDROID_native_fence_sync";
  bool creates = true;
  bool waits = true;
  int taken = -1;  // descriptor that EGL owns
  int alive = 0;
  int waited = 0;
} egl;

EGLDisplay const kDisplay = reinterpret_cast<EGLDisplay>(1);

const char* query_string(EGLDisplay, EGLint) {
  return egl.extensions.c_str();
}
EGLSyncKHR create_sync(EGLDisplay, EGLenum type, const EGLint* attributes) {
  fail_unless_equals_int(type, EGL_SYNC_NATIVE_FENCE_ANDROID);
  fail_unless(attributes[0] == EGL_SYNC_NATIVE_FENCE_FD_ANDROID && attributes[2] == EGL_NONE);
  if (!egl.creates) return EGL_NO_SYNC_KHR;
  egl.taken = attributes[1];
  ++egl.alive;
  return reinterpret_cast<EGLSyncKHR>(1);
}
EGLBoolean destroy_sync(EGLDisplay, EGLSyncKHR) {
  --egl.alive;
  ::close(egl.taken);
  return EGL_TRUE;
}
EGLint wait_sync(EGLDisplay, EGLSyncKHR, EGLint) {
  ++egl.waited;
  return egl.waits ? EGL_TRUE : EGL_FALSE;
}

void* find(void*, const char* name) {
  const std::string asked = name;
  if (asked == "eglQueryString") return reinterpret_cast<void*>(&query_string);
  if (asked == "eglCreateSyncKHR") return reinterpret_cast<void*>(&create_sync);
  if (asked == "eglDestroySyncKHR") return reinterpret_cast<void*>(&destroy_sync);
  if (asked == "eglWaitSyncKHR") return reinterpret_cast<void*>(&wait_sync);
  return nullptr;
}
constexpr gl::ProcAddress kFind{.get = find};

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

GST_START_TEST(capability_is_all_of_it_or_nothing) {
  fail_unless(gl::load_native_fence(kDisplay, kFind).has_value());
  fail_if(gl::load_native_fence(EGL_NO_DISPLAY, kFind).has_value());
  for (const char* half : {"EGL_KHR_wait_sync", "EGL_ANDROID_native_fence_sync", ""}) {
    egl.extensions = half;
    fail_if(gl::load_native_fence(kDisplay, kFind).has_value(), "%s", half);
  }
}
GST_END_TEST;

GST_START_TEST(gpu_waits_with_a_descriptor_of_its_own) {
  const auto api = gl::load_native_fence(kDisplay, kFind);
  const UniqueFd fence{::memfd_create("fence", MFD_CLOEXEC)};
  fail_unless(gl::wait_in_gpu(*api, fence.get()));
  fail_unless_equals_int(egl.waited, 1);
  fail_unless_equals_int(egl.alive, 0);
  fail_if(egl.taken == fence.get());
  fail_if(is_open(egl.taken));
  fail_unless(is_open(fence.get()));
}
GST_END_TEST;

GST_START_TEST(refusals_leave_the_fence_to_be_waited_for) {
  const auto api = gl::load_native_fence(kDisplay, kFind);
  const UniqueFd fence{::memfd_create("fence", MFD_CLOEXEC)};
  const int next = ::dup(fence.get());
  ::close(next);
  egl.creates = false;
  fail_if(gl::wait_in_gpu(*api, fence.get()));
  egl.creates = true;
  egl.waits = false;
  fail_if(gl::wait_in_gpu(*api, fence.get()));
  fail_if(gl::wait_in_gpu(*api, -1));
  fail_unless(is_open(fence.get()));
  fail_unless_equals_int(egl.alive, 0);
  // Nothing stayed open.
  const int again = ::dup(fence.get());
  fail_unless_equals_int(again, next);
  ::close(again);
}
GST_END_TEST;

Suite* gl_native_fence_suite() {
  Suite* suite = suite_create("gl_native_fence");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, capability_is_all_of_it_or_nothing);
  tcase_add_test(tcase, gpu_waits_with_a_descriptor_of_its_own);
  tcase_add_test(tcase, refusals_leave_the_fence_to_be_waited_for);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(gl_native_fence)
