// SPDX-License-Identifier: LGPL-2.1-or-later

// Definitions of the program win over those of libraries, so every caller that goes through the
// dynamic linker comes by here. Callers that ask for an address (GstGL, lib/va) come by through
// dlsym and eglGetProcAddress.

// With it "open" is another name for open64, and this file defines both.
#undef _FILE_OFFSET_BITS

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <va/va.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "tests/check/support/call_counts.hpp"

namespace {

std::atomic<uint64_t> images, textures, buffers, exports, descriptors, driver_starts,
    surfaces_made, surfaces_freed, pixel_reads, memory_maps;

using dxva::test::PixelMapping;
using dxva::test::PixelMemory;
std::atomic<void (*)(const PixelMapping&)> watcher{nullptr};

void tell_watcher(const PixelMapping& mapping) {
  if (auto* told = watcher.load()) told(mapping);
}

// Sizes of images by the buffer that they are in, until they are destroyed.
std::mutex images_lock;
std::map<VABufferID, VAImage> images_by_buffer;
std::map<VABufferID, void*> mapped_images;

void note_image(const VAImage& image) {
  const std::lock_guard guard(images_lock);
  images_by_buffer[image.buf] = image;
}
size_t image_bytes(VABufferID buffer) {
  const std::lock_guard guard(images_lock);
  const auto found = images_by_buffer.find(buffer);
  return found == images_by_buffer.end() ? 0 : found->second.data_size;
}

// dlsym is one of the functions stood in for, so the real one is found by its version: of
// glibc 2.34 and later, or by the first version of the architecture.
using Dlsym = void* (*)(void*, const char*);
Dlsym real_dlsym() {
  static const auto real = [] {
    void* found = nullptr;
    for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"})
      if (!found) found = ::dlvsym(RTLD_NEXT, "dlsym", version);
    return reinterpret_cast<Dlsym>(found);
  }();
  return real;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(real_dlsym()(RTLD_NEXT, name));
}

// For libraries that come along with plugins: those are not in the scope of RTLD_NEXT.
template <typename Function>
Function in_library(const char* library, const char* name) {
  return reinterpret_cast<Function>(real_dlsym()(::dlopen(library, RTLD_LAZY), name));
}

int counted(int fd) {
  if (fd >= 0) ++descriptors;
  return fd;
}

// Functions that callers find by name. The real one is whichever was found last: a process has
// one of each.
std::atomic<void*> real_create_image, real_create_image_khr, real_gen_textures,
    real_create_textures, real_gen_buffers, real_create_buffers, real_map_buffer_range,
    real_export;

template <typename Function>
Function as(const std::atomic<void*>& real) {
  return reinterpret_cast<Function>(real.load());
}

EGLImage create_image(EGLDisplay display, EGLContext context, EGLenum target,
                      EGLClientBuffer buffer, const EGLAttrib* attributes) {
  ++images;
  return as<PFNEGLCREATEIMAGEPROC>(real_create_image)(display, context, target, buffer,
                                                      attributes);
}
EGLImageKHR create_image_khr(EGLDisplay display, EGLContext context, EGLenum target,
                             EGLClientBuffer buffer, const EGLint* attributes) {
  ++images;
  return as<PFNEGLCREATEIMAGEKHRPROC>(real_create_image_khr)(display, context, target, buffer,
                                                             attributes);
}
void gen_textures(GLsizei count, GLuint* names) {
  textures += static_cast<uint64_t>(count);
  as<decltype(&::glGenTextures)>(real_gen_textures)(count, names);
}
void create_textures(GLenum target, GLsizei count, GLuint* names) {
  textures += static_cast<uint64_t>(count);
  as<PFNGLCREATETEXTURESPROC>(real_create_textures)(target, count, names);
}
void gen_buffers(GLsizei count, GLuint* names) {
  buffers += static_cast<uint64_t>(count);
  as<PFNGLGENBUFFERSPROC>(real_gen_buffers)(count, names);
}
void create_buffers(GLsizei count, GLuint* names) {
  buffers += static_cast<uint64_t>(count);
  as<PFNGLCREATEBUFFERSPROC>(real_create_buffers)(count, names);
}
void* map_buffer_range(GLenum target, GLintptr offset, GLsizeiptr length, GLbitfield access) {
  void* data =
      as<PFNGLMAPBUFFERRANGEPROC>(real_map_buffer_range)(target, offset, length, access);
  if (data && (access & GL_MAP_PERSISTENT_BIT))
    tell_watcher({.kind = PixelMemory::Slot,
                  .data = data,
                  .size_bytes = static_cast<size_t>(length),
                  .caller = __builtin_return_address(0)});
  return data;
}
VAStatus export_surface(VADisplay display, VASurfaceID surface, uint32_t type, uint32_t flags,
                        void* descriptor) {
  ++exports;
  return as<decltype(&::vaExportSurfaceHandle)>(real_export)(display, surface, type, flags,
                                                             descriptor);
}

struct StandIn {
  std::string_view name;
  std::atomic<void*>* real;
  void* ours;
};
const StandIn kStandIns[] = {
    {"eglCreateImage", &real_create_image, reinterpret_cast<void*>(&create_image)},
    {"eglCreateImageKHR", &real_create_image_khr, reinterpret_cast<void*>(&create_image_khr)},
    {"glGenTextures", &real_gen_textures, reinterpret_cast<void*>(&gen_textures)},
    {"glCreateTextures", &real_create_textures, reinterpret_cast<void*>(&create_textures)},
    {"glGenBuffers", &real_gen_buffers, reinterpret_cast<void*>(&gen_buffers)},
    {"glCreateBuffers", &real_create_buffers, reinterpret_cast<void*>(&create_buffers)},
    {"glMapBufferRange", &real_map_buffer_range, reinterpret_cast<void*>(&map_buffer_range)},
    {"vaExportSurfaceHandle", &real_export, reinterpret_cast<void*>(&export_surface)},
};

void* stand_in(const char* name, void* found) {
  if (!found) return nullptr;
  for (const StandIn& one : kStandIns)
    if (one.name == name) {
      if (found != one.ours) *one.real = found;
      return one.ours;
    }
  return found;
}

bool has_mode(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace

#define EXPORTED extern "C" [[gnu::visibility("default")]]

EXPORTED void* dlsym(void* library, const char* name) noexcept {
  if (std::string_view(name) == "eglGetProcAddress")
    return reinterpret_cast<void*>(&eglGetProcAddress);
  return stand_in(name, real_dlsym()(library, name));
}

EXPORTED __eglMustCastToProperFunctionPointerType eglGetProcAddress(const char* name) {
  static const auto real =
      in_library<decltype(&eglGetProcAddress)>("libEGL.so.1", "eglGetProcAddress");
  return reinterpret_cast<__eglMustCastToProperFunctionPointerType>(
      stand_in(name, reinterpret_cast<void*>(real(name))));
}

// --- libva

#define VA_REAL(name) in_library<decltype(&name)>("libva.so.2", #name)

EXPORTED VAStatus vaInitialize(VADisplay display, int* major, int* minor) {
  ++driver_starts;
  return VA_REAL(vaInitialize)(display, major, minor);
}

EXPORTED VAStatus vaCreateSurfaces(VADisplay display, unsigned format, unsigned width,
                                   unsigned height, VASurfaceID* ids, unsigned count,
                                   VASurfaceAttrib* attributes, unsigned attribute_count) {
  const VAStatus status = VA_REAL(vaCreateSurfaces)(display, format, width, height, ids, count,
                                                    attributes, attribute_count);
  if (status == VA_STATUS_SUCCESS) surfaces_made += count;
  return status;
}

EXPORTED VAStatus vaDestroySurfaces(VADisplay display, VASurfaceID* ids, int count) {
  surfaces_freed += static_cast<uint64_t>(count);
  return VA_REAL(vaDestroySurfaces)(display, ids, count);
}

EXPORTED VAStatus vaDeriveImage(VADisplay display, VASurfaceID surface, VAImage* image) {
  ++pixel_reads;
  const VAStatus status = VA_REAL(vaDeriveImage)(display, surface, image);
  if (status == VA_STATUS_SUCCESS) note_image(*image);
  return status;
}

EXPORTED VAStatus vaCreateImage(VADisplay display, VAImageFormat* format, int width, int height,
                                VAImage* image) {
  const VAStatus status = VA_REAL(vaCreateImage)(display, format, width, height, image);
  if (status == VA_STATUS_SUCCESS) note_image(*image);
  return status;
}

EXPORTED VAStatus vaDestroyImage(VADisplay display, VAImageID image) {
  {
    const std::lock_guard guard(images_lock);
    std::erase_if(images_by_buffer,
                  [image](const auto& known) { return known.second.image_id == image; });
  }
  return VA_REAL(vaDestroyImage)(display, image);
}

EXPORTED VAStatus vaGetImage(VADisplay display, VASurfaceID surface, int x, int y,
                             unsigned width, unsigned height, VAImageID image) {
  ++pixel_reads;
  return VA_REAL(vaGetImage)(display, surface, x, y, width, height, image);
}

EXPORTED VAStatus vaMapBuffer(VADisplay display, VABufferID buffer, void** data) {
  ++pixel_reads;
  const VAStatus status = VA_REAL(vaMapBuffer)(display, buffer, data);
  if (const size_t size = image_bytes(buffer); size > 0 && status == VA_STATUS_SUCCESS) {
    const std::lock_guard guard(images_lock);
    mapped_images[buffer] = *data;
    tell_watcher({.data = *data, .size_bytes = size, .caller = __builtin_return_address(0)});
  }
  return status;
}

EXPORTED VAStatus vaUnmapBuffer(VADisplay display, VABufferID buffer) {
  {
    const std::lock_guard guard(images_lock);
    if (const auto found = mapped_images.find(buffer); found != mapped_images.end()) {
      tell_watcher({.data = found->second, .begins = false});
      mapped_images.erase(found);
    }
  }
  return VA_REAL(vaUnmapBuffer)(display, buffer);
}

// --- libc

#define MMAP_FUNCTION(name, Offset)                                                            \
  EXPORTED void* name(void* at, size_t size, int protection, int flags, int fd,                \
                      Offset offset) noexcept {                                                \
    static const auto real = next<void* (*)(void*, size_t, int, int, int, Offset)>(#name);     \
    if (fd >= 0) ++memory_maps;                                                                \
    void* data = real(at, size, protection, flags, fd, offset);                                \
    if (fd >= 0 && (flags & MAP_SHARED) && data != MAP_FAILED)                                 \
      tell_watcher({.data = data, .size_bytes = size, .caller = __builtin_return_address(0)}); \
    return data;                                                                               \
  }
MMAP_FUNCTION(mmap, off_t)
MMAP_FUNCTION(mmap64, off64_t)

EXPORTED int munmap(void* at, size_t size) noexcept {
  static const auto real = next<int (*)(void*, size_t)>("munmap");
  tell_watcher({.data = at, .begins = false});
  return real(at, size);
}

#define OPEN_FUNCTION(name)                                               \
  EXPORTED int name(const char* path, int flags, ...) {                   \
    mode_t mode = 0;                                                      \
    if (has_mode(flags)) {                                                \
      va_list rest;                                                       \
      va_start(rest, flags);                                              \
      mode = va_arg(rest, mode_t);                                        \
      va_end(rest);                                                       \
    }                                                                     \
    static const auto real = next<int (*)(const char*, int, ...)>(#name); \
    return counted(real(path, flags, mode));                              \
  }
#define OPENAT_FUNCTION(name)                                                  \
  EXPORTED int name(int folder, const char* path, int flags, ...) {            \
    mode_t mode = 0;                                                           \
    if (has_mode(flags)) {                                                     \
      va_list rest;                                                            \
      va_start(rest, flags);                                                   \
      mode = va_arg(rest, mode_t);                                             \
      va_end(rest);                                                            \
    }                                                                          \
    static const auto real = next<int (*)(int, const char*, int, ...)>(#name); \
    return counted(real(folder, path, flags, mode));                           \
  }
#define FCNTL_FUNCTION(name)                                                            \
  EXPORTED int name(int fd, int command, ...) {                                         \
    va_list rest;                                                                       \
    va_start(rest, command);                                                            \
    void* argument = va_arg(rest, void*);                                               \
    va_end(rest);                                                                       \
    static const auto real = next<int (*)(int, int, ...)>(#name);                       \
    const int result = real(fd, command, argument);                                     \
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? counted(result) : result; \
  }
OPEN_FUNCTION(open)
OPEN_FUNCTION(open64)
OPENAT_FUNCTION(openat)
OPENAT_FUNCTION(openat64)
FCNTL_FUNCTION(fcntl)
FCNTL_FUNCTION(fcntl64)

EXPORTED int dup(int fd) noexcept {
  static const auto real = next<int (*)(int)>("dup");
  return counted(real(fd));
}
EXPORTED int dup2(int fd, int wanted) noexcept {
  static const auto real = next<int (*)(int, int)>("dup2");
  return counted(real(fd, wanted));
}
EXPORTED int dup3(int fd, int wanted, int flags) noexcept {
  static const auto real = next<int (*)(int, int, int)>("dup3");
  return counted(real(fd, wanted, flags));
}
EXPORTED int memfd_create(const char* name, unsigned flags) noexcept {
  static const auto real = next<int (*)(const char*, unsigned)>("memfd_create");
  return counted(real(name, flags));
}

namespace dxva::test {

void watch_mappings(void (*told)(const PixelMapping& mapping)) {
  watcher = told;
}

CallCounts call_counts() {
  return {.images = images,
          .textures = textures,
          .buffers = buffers,
          .exports = exports,
          .descriptors = descriptors,
          .driver_starts = driver_starts,
          .surfaces_made = surfaces_made,
          .surfaces_freed = surfaces_freed,
          .pixel_reads = pixel_reads,
          .memory_maps = memory_maps};
}

std::vector<std::string> open_descriptors() {
  std::vector<std::pair<int, std::string>> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  while (const dirent* entry = ::readdir(folder.get())) {
    const int fd = std::atoi(entry->d_name);
    char target[256] = {};
    if (entry->d_name[0] == '.' || fd == ::dirfd(folder.get()) ||
        ::readlinkat(::dirfd(folder.get()), entry->d_name, target, sizeof target - 1) < 0)
      continue;
    found.emplace_back(fd, target);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (const auto& [fd, target] : found) out.push_back(std::to_string(fd) + " -> " + target);
  return out;
}

}  // namespace dxva::test
