// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/support/fake_gl.hpp"

#include <algorithm>
#include <mutex>

namespace dxva::test {
namespace {

FakeGl& fake() {
  return FakeGl::get();
}
// Of what fences change: they are made and ended in several threads.
std::mutex& fence_lock() {
  static std::mutex lock;
  return lock;
}
void say(const std::string& call) {
  fake().calls.push_back(call);
}

GLenum get_error() {
  if (fake().errors.empty()) return GL_NO_ERROR;
  const GLenum error = fake().errors.front();
  fake().errors.erase(fake().errors.begin());
  return error;
}
void gen_textures(GLsizei count, GLuint* names) {
  for (GLsizei i = 0; i < count; ++i) names[i] = ++fake().textures_made;
  fake().textures_alive += static_cast<uint32_t>(count);
}
void delete_textures(GLsizei count, const GLuint*) {
  fake().textures_alive -= static_cast<uint32_t>(count);
}
void bind_texture(GLenum, GLuint) {}
void tex_image(GLenum, GLint, GLint, GLsizei width, GLsizei height, GLint, GLenum, GLenum,
               const void*) {
  say("image " + std::to_string(width) + "x" + std::to_string(height));
}
void tex_sub_image(GLenum, GLint, GLint, GLint y, GLsizei width, GLsizei height, GLenum, GLenum,
                   const void*) {
  say("upload " + std::to_string(width) + "x" + std::to_string(height) + " at " +
      std::to_string(y) + " row " + std::to_string(fake().pixel_store[GL_UNPACK_ROW_LENGTH]));
}
void tex_parameter(GLenum, GLenum, GLint) {}
void set_pixel_store(GLenum name, GLint value) {
  fake().pixel_store[name] = value;
}
void flush() {
  const std::lock_guard guard(fence_lock());
  say("flush");
}
void finish() {
  say("finish");
}
void bind_buffer(GLenum, GLuint buffer) {
  say("buffer " + std::to_string(buffer));
  fake().bound_buffer = buffer;
}
void gen_buffers(GLsizei count, GLuint* names) {
  for (GLsizei i = 0; i < count; ++i) fake().buffers[names[i] = ++fake().buffers_made];
}
void delete_buffers(GLsizei count, const GLuint* names) {
  for (GLsizei i = 0; i < count; ++i) fake().buffers.erase(names[i]);
}
void give_storage(GLsizeiptr size) {
  if (fake().error_of_buffer_storage != 0)
    fake().errors.push_back(fake().error_of_buffer_storage);
  else
    fake().buffers[fake().bound_buffer].resize(static_cast<size_t>(size));
}
void buffer_data(GLenum, GLsizeiptr size, const void*, GLenum) {
  give_storage(size);
}
void buffer_storage(GLenum, GLsizeiptr size, const void*, GLbitfield flags) {
  fake().storage_flags = flags;
  give_storage(size);
}
void* map_buffer_range(GLenum, GLintptr offset, GLsizeiptr, GLbitfield access) {
  fake().map_access = access;
  say("map");
  return fake().buffers[fake().bound_buffer].data() + offset;
}
GLboolean unmap_buffer(GLenum) {
  say("unmap");
  return GL_TRUE;
}

EGLint egl_error() {
  return fake().image_error;
}
EGLImageKHR create_image(EGLDisplay, EGLContext, EGLenum, EGLClientBuffer,
                         const EGLint* attributes) {
  std::vector<EGLint> list;
  for (const EGLint* a = attributes; *a != EGL_NONE; ++a) list.push_back(*a);
  fake().images.push_back(list);
  if (fake().image_error != 0 &&
      static_cast<int>(fake().images.size()) > fake().images_before_error)
    return EGL_NO_IMAGE_KHR;
  ++fake().images_alive;
  return reinterpret_cast<EGLImageKHR>(fake().images.size());
}
EGLBoolean destroy_image(EGLDisplay, EGLImageKHR) {
  --fake().images_alive;
  return EGL_TRUE;
}
EGLBoolean query_formats(EGLDisplay, EGLint max, EGLint* formats, EGLint* count) {
  *count = static_cast<EGLint>(fake().listed.size());
  EGLint i = 0;
  for (const auto& [fourcc, modifiers] : fake().listed)
    if (i < max) formats[i++] = static_cast<EGLint>(fourcc);
  return EGL_TRUE;
}
EGLBoolean query_modifiers(EGLDisplay, EGLint fourcc, EGLint max, EGLuint64KHR* modifiers,
                           EGLBoolean* external, EGLint* count) {
  const auto& list = fake().listed[static_cast<uint32_t>(fourcc)];
  *count = static_cast<EGLint>(list.size());
  for (size_t i = 0; i < list.size() && static_cast<EGLint>(i) < max; ++i) {
    modifiers[i] = list[i];
    if (fake().writes_external_only) external[i] = list[i] == FakeGl::kExternalOnly;
  }
  return EGL_TRUE;
}
void target_texture(GLenum target, void*) {
  say("target texture");
  fake().image_target = target;
  if (fake().error_of_target != 0) fake().errors.push_back(fake().error_of_target);
}
void target_storage(GLenum target, void*, const GLint*) {
  say("target storage");
  fake().image_target = target;
  if (fake().error_of_storage_target != 0)
    fake().errors.push_back(fake().error_of_storage_target);
}

bool make_fence() {
  const std::lock_guard guard(fence_lock());
  say("fence");
  if (fake().fences_work) ++fake().fences_alive;
  return fake().fences_work;
}
void destroy_fence() {
  const std::lock_guard guard(fence_lock());
  --fake().fences_alive;
}
bool wait_for_fence(uint64_t timeout) {
  if (timeout == 0)
    return fake().on_fence_poll ? fake().on_fence_poll() : !fake().on_fence_wait;
  if (fake().on_fence_wait) fake().on_fence_wait();
  return true;
}

EGLSyncKHR create_sync(EGLDisplay, EGLenum, const EGLint*) {
  return make_fence() ? reinterpret_cast<EGLSyncKHR>(1) : EGL_NO_SYNC_KHR;
}
EGLBoolean destroy_sync(EGLDisplay, EGLSyncKHR) {
  destroy_fence();
  return EGL_TRUE;
}
EGLint client_wait_sync(EGLDisplay, EGLSyncKHR, EGLint, EGLTimeKHR timeout) {
  return wait_for_fence(timeout) ? EGL_CONDITION_SATISFIED_KHR : EGL_TIMEOUT_EXPIRED_KHR;
}

void tell_of_gl_fence() {
  if (fake().on_gl_fence) fake().on_gl_fence();
}
GLsync gl_fence_sync(GLenum, GLbitfield) {
  tell_of_gl_fence();
  return fake().gl_fences_work && make_fence() ? reinterpret_cast<GLsync>(1) : nullptr;
}
GLenum gl_client_wait_sync(GLsync, GLbitfield, GLuint64 timeout) {
  tell_of_gl_fence();
  return wait_for_fence(timeout) ? GL_ALREADY_SIGNALED : GL_TIMEOUT_EXPIRED;
}
void gl_delete_sync(GLsync) {
  tell_of_gl_fence();
  destroy_fence();
}
EGLBoolean release_thread() {
  if (fake().on_release_thread) fake().on_release_thread();
  return EGL_TRUE;
}

}  // namespace

FakeGl& FakeGl::get() {
  static FakeGl the_one;
  return the_one;
}

gl::GlApi FakeGl::api() {
  gl::GlApi api;
  api.facts = {.major = 4,
               .minor = 5,
               .renderer = "fake",
               .max_texture_size = 8192,
               .row_length = true,
               .norm16 = true};
  api.GetError = get_error;
  api.GenTextures = gen_textures;
  api.DeleteTextures = delete_textures;
  api.BindTexture = bind_texture;
  api.TexImage2D = tex_image;
  api.TexSubImage2D = tex_sub_image;
  api.TexParameteri = tex_parameter;
  api.PixelStorei = set_pixel_store;
  api.Flush = flush;
  api.Finish = finish;
  api.BindBuffer = bind_buffer;
  if (fake().has_gl_fences)
    api.sync = gl::SyncFunctions{.FenceSync = gl_fence_sync,
                                 .ClientWaitSync = gl_client_wait_sync,
                                 .DeleteSync = gl_delete_sync};
  return api;
}

gl::GlApi FakeGl::api_with_buffers(Storage storage) {
  gl::GlApi out = api();
  out.unpack_buffers = gl::UnpackBufferFunctions{
      .GenBuffers = gen_buffers,
      .DeleteBuffers = delete_buffers,
      .BufferData = buffer_data,
      .MapBufferRange = map_buffer_range,
      .UnmapBuffer = unmap_buffer,
      .BufferStorage = storage == Storage::Yes ? buffer_storage : nullptr};
  return out;
}

gl::DmabufImportApi FakeGl::import_api() {
  return {.display = reinterpret_cast<EGLDisplay>(1),
          .GetError = egl_error,
          .CreateImage = create_image,
          .DestroyImage = destroy_image,
          .QueryFormats = query_formats,
          .QueryModifiers = query_modifiers,
          .ImageTargetTexture2D = target_texture,
          .ImageTargetTexStorage = target_storage};
}

gl::EglFenceApi FakeGl::fence_api() {
  return {.display = reinterpret_cast<EGLDisplay>(1),
          .CreateSync = create_sync,
          .DestroySync = destroy_sync,
          .ClientWaitSync = client_wait_sync,
          .ReleaseThread = release_thread};
}

EGLint attribute(const std::vector<EGLint>& list, EGLint name) {
  for (size_t i = 0; i + 1 < list.size(); i += 2)
    if (list[i] == name) return list[i + 1];
  return -1;
}

}  // namespace dxva::test
