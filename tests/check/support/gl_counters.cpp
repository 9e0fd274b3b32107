// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/support/gl_counters.hpp"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <dirent.h>
#include <dlfcn.h>
#include <gst/gl/gl.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace {

std::atomic<uint64_t> images, image_fds, textures, storages, framebuffers, programs, buffers;
std::atomic<EGLint> image_error{0};
std::atomic<uint32_t> shifted_fourcc{0};
std::atomic<EGLint> shift{0};
std::atomic<uint32_t> hidden_fourcc{0};
std::atomic<uint64_t> nv12_modifier{0};
std::atomic<bool> takes_whole{false};
std::atomic<const char*> hidden_function{nullptr};
std::atomic<bool> buffers_have_no_memory{false};

constexpr EGLint kNV12 = 0x3231564e, kR8 = 0x20203852;

PFNEGLCREATEIMAGEKHRPROC real_create_image;
decltype(&::eglGetError) real_get_error;
PFNEGLQUERYDMABUFMODIFIERSEXTPROC real_query_modifiers;
decltype(&::glGenTextures) real_gen_textures;
decltype(&::glTexImage2D) real_tex_image;
PFNGLGENFRAMEBUFFERSPROC real_gen_framebuffers;
PFNGLCREATEPROGRAMPROC real_create_program;
PFNGLGENBUFFERSPROC real_gen_buffers;
PFNGLMAPBUFFERRANGEPROC real_map_buffer_range;

std::vector<EGLint> luma_of(const std::vector<EGLint>& whole, EGLint fourcc);

EGLImageKHR create_image(EGLDisplay display, EGLContext context, EGLenum target,
                         EGLClientBuffer buffer, const EGLint* attributes) {
  if (image_error != 0) return EGL_NO_IMAGE_KHR;
  ++images;
  std::vector<EGLint> list;
  EGLint fourcc = 0;
  for (const EGLint* a = attributes; *a != EGL_NONE; a += 2) {
    if (a[0] == EGL_LINUX_DRM_FOURCC_EXT) fourcc = a[1];
    list.insert(list.end(), {a[0], a[1]});
  }
  list.push_back(EGL_NONE);
  for (size_t i = 0; static_cast<uint32_t>(fourcc) == shifted_fourcc && i + 1 < list.size();
       i += 2)
    if (list[i] == EGL_DMA_BUF_PLANE0_OFFSET_EXT) list[i + 1] += shift;
  if (takes_whole && fourcc == kNV12) list = luma_of(list, kR8);
  const size_t before = dxva::test::open_descriptors();
  const EGLImageKHR image = real_create_image(display, context, target, buffer, list.data());
  image_fds += dxva::test::open_descriptors() - before;
  return image;
}
// Of a whole image what remains with luma alone.
std::vector<EGLint> luma_of(const std::vector<EGLint>& whole, EGLint fourcc) {
  std::vector<EGLint> out;
  for (size_t i = 0; i + 1 < whole.size(); i += 2) switch (whole[i]) {
      case EGL_LINUX_DRM_FOURCC_EXT:
        out.insert(out.end(), {whole[i], fourcc});
        break;
      case EGL_WIDTH:
      case EGL_HEIGHT:
      case EGL_DMA_BUF_PLANE0_FD_EXT:
      case EGL_DMA_BUF_PLANE0_OFFSET_EXT:
      case EGL_DMA_BUF_PLANE0_PITCH_EXT:
        out.insert(out.end(), {whole[i], whole[i + 1]});
    }
  out.push_back(EGL_NONE);
  return out;
}

EGLBoolean query_modifiers(EGLDisplay display, EGLint fourcc, EGLint max,
                           EGLuint64KHR* modifiers, EGLBoolean* external, EGLint* count) {
  if (static_cast<uint32_t>(fourcc) == hidden_fourcc) {
    *count = 0;
    return EGL_TRUE;
  }
  if (fourcc == kNV12 && nv12_modifier != 0) {
    *count = 2;
    for (EGLint i = 0; i < 2 && i < max; ++i) {
      modifiers[i] = i == 0 ? 0 : nv12_modifier.load();
      external[i] = EGL_FALSE;
    }
    return EGL_TRUE;
  }
  return real_query_modifiers(display, fourcc, max, modifiers, external, count);
}
EGLint get_error() {
  const EGLint real = real_get_error();
  return image_error != 0 ? image_error.load() : real;
}
void gen_textures(GLsizei count, GLuint* names) {
  textures += static_cast<uint64_t>(count);
  real_gen_textures(count, names);
}
void tex_image(GLenum target, GLint level, GLint internal, GLsizei width, GLsizei height,
               GLint border, GLenum format, GLenum type, const void* pixels) {
  ++storages;
  real_tex_image(target, level, internal, width, height, border, format, type, pixels);
}
void gen_framebuffers(GLsizei count, GLuint* names) {
  framebuffers += static_cast<uint64_t>(count);
  real_gen_framebuffers(count, names);
}
void gen_buffers(GLsizei count, GLuint* names) {
  buffers += static_cast<uint64_t>(count);
  real_gen_buffers(count, names);
}
void* map_buffer_range(GLenum target, GLintptr offset, GLsizeiptr length, GLbitfield access) {
  if (buffers_have_no_memory) return nullptr;
  return real_map_buffer_range(target, offset, length, access);
}
GLuint create_program() {
  ++programs;
  return real_create_program();
}

std::mutex fence_lock;
std::condition_variable fences_free;
bool fences_held = false;
PFNEGLCLIENTWAITSYNCKHRPROC real_client_wait;

EGLint client_wait(EGLDisplay display, EGLSyncKHR sync, EGLint flags, EGLTimeKHR timeout) {
  {
    std::unique_lock guard(fence_lock);
    if (fences_held && timeout == 0) return EGL_TIMEOUT_EXPIRED_KHR;
    fences_free.wait(guard, [] { return !fences_held; });
  }
  return real_client_wait(display, sync, flags, timeout);
}

template <typename Function>
void* counted(void* found, Function& real, Function ours) {
  real = reinterpret_cast<Function>(found);
  return found ? reinterpret_cast<void*>(ours) : nullptr;
}

void* between(const char* name, void* found) {
  const std::string_view asked = name;
  if (hidden_function && asked.starts_with(hidden_function.load())) return nullptr;
  if (asked == "glMapBufferRange")
    return counted(found, real_map_buffer_range, &map_buffer_range);
  if (asked == "eglCreateImageKHR") return counted(found, real_create_image, &create_image);
  if (asked == "eglClientWaitSyncKHR") return counted(found, real_client_wait, &client_wait);
  if (asked == "eglGetError") return counted(found, real_get_error, &get_error);
  if (asked == "eglQueryDmaBufModifiersEXT")
    return counted(found, real_query_modifiers, &query_modifiers);
  if (asked == "glGenBuffers") return counted(found, real_gen_buffers, &gen_buffers);
  if (asked == "glGenTextures") return counted(found, real_gen_textures, &gen_textures);
  if (asked == "glTexImage2D") return counted(found, real_tex_image, &tex_image);
  if (asked == "glGenFramebuffers")
    return counted(found, real_gen_framebuffers, &gen_framebuffers);
  if (asked == "glCreateProgram") return counted(found, real_create_program, &create_program);
  return found;
}

}  // namespace

// The program's own definitions win over the libraries'.
extern "C" {
__eglMustCastToProperFunctionPointerType eglGetProcAddress(const char* name) {
  static const auto real =
      reinterpret_cast<decltype(&eglGetProcAddress)>(dlsym(RTLD_NEXT, "eglGetProcAddress"));
  return reinterpret_cast<__eglMustCastToProperFunctionPointerType>(
      between(name, reinterpret_cast<void*>(real(name))));
}
gpointer gst_gl_context_get_proc_address(GstGLContext* context, const gchar* name) {
  static const auto real = reinterpret_cast<decltype(&gst_gl_context_get_proc_address)>(
      dlsym(RTLD_NEXT, "gst_gl_context_get_proc_address"));
  return between(name, real(context, name));
}
}

namespace dxva::test {

size_t open_descriptors() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  size_t count = 0;
  while (::readdir(folder.get())) ++count;
  return count;
}

GlCounters gl_counters() {
  return {.images = images,
          .image_fds = image_fds,
          .textures = textures,
          .storages = storages,
          .framebuffers = framebuffers,
          .programs = programs,
          .buffers = buffers};
}

void fail_image_creation(int egl_error) {
  image_error = egl_error;
}

void hide_modifiers(uint32_t fourcc) {
  hidden_fourcc = fourcc;
}

void list_for_nv12(uint64_t modifier) {
  nv12_modifier = modifier;
}

void take_whole_images(bool takes) {
  takes_whole = takes;
}

void hide_function(const char* name) {
  hidden_function = name;
}

void hide_memory_of_buffers(bool hides) {
  buffers_have_no_memory = hides;
}

void hold_fences(bool hold) {
  {
    const std::lock_guard guard(fence_lock);
    fences_held = hold;
  }
  fences_free.notify_all();
}

void shift_images(uint32_t fourcc, int bytes) {
  shifted_fourcc = fourcc;
  shift = bytes;
}

}  // namespace dxva::test
