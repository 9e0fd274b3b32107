// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <memory>

#include "lib/base/device_uuids.hpp"
#include "lib/base/result.hpp"
#include "lib/gl/gl_api.hpp"
#include "lib/gl/memory_object_api.hpp"
#include "lib/video/nv12_layout.hpp"

namespace dxva::gl {

// A picture in opaque memory, lent for the call. Nothing can measure such memory from outside,
// so the sizes are the exporter's word; identities are for caches.
struct OpaqueRequest {
  enum class Kind : uint8_t {
    Opaque,  // of the device and driver that `uuids` names
    Dmabuf,  // of a driver that takes those for opaque memory; measured like any dma-buf
  };
  Kind kind = Kind::Opaque;
  video::ImageDescription image;
  std::array<int, video::kMaxPlanes> fds{-1, -1, -1, -1};  // one per object
  DeviceUuids uuids;
};

// Drivers give what they make of memory more room than was asked for, and refuse memory that
// ends before (llvmpipe of Mesa 25: GL_OUT_OF_MEMORY) or show black (22.3, without an error).
// What has been seen: 64 bytes behind a buffer, whole blocks of 4 rows of a texture. The
// self-test's memory has exactly this room, so a driver that needs more fails it.
inline constexpr uint64_t kRoomBehindBytes = 64;
inline constexpr uint64_t kTextureRows = 4;
// What object `object` must hold for an import; `image` has passed classify().
[[nodiscard]] uint64_t bytes_needed(const video::ImageDescription& image, uint32_t object,
                                    MemoryObjectForm form);

// Memory as GL sees it, for MemoryObjectPass to draw from: the planes lie in it as they lie in
// memory. Deleted on the GL thread wherever the last owner happens to be, textures and buffers
// before the memory that they live in (Mesa 22.3 dies at the next draw when it is the other way
// round). Thread-safe to destroy.
class MemoryObjectPicture {
 public:
  ~MemoryObjectPicture();
  MemoryObjectPicture(const MemoryObjectPicture&) = delete;
  MemoryObjectPicture& operator=(const MemoryObjectPicture&) = delete;

  struct Plane {
    GLuint texture = 0;
    GLint start = 0;  // samples from the texture's first
    GLint pitch = 0;  // samples from row to row
  };
  [[nodiscard]] MemoryObjectForm form() const { return form_; }
  [[nodiscard]] const Plane& plane(uint32_t index) const { return planes_[index]; }
  [[nodiscard]] uint32_t fourcc() const { return fourcc_; }
  [[nodiscard]] uint32_t width() const { return width_; }  // pixels
  [[nodiscard]] uint32_t height() const { return height_; }

 private:
  friend class MemoryObjectImporter;
  MemoryObjectPicture(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl,
                      const MemoryObjectApi& api)
      : thread_(std::move(thread)), gl_(std::move(gl)), api_(api) {}

  struct Object {
    GLuint memory = 0;
    GLuint buffer = 0;
    GLuint texture = 0;
  };
  std::shared_ptr<GlThread> thread_;
  std::shared_ptr<const GlApi> gl_;
  MemoryObjectApi api_;
  MemoryObjectForm form_ = MemoryObjectForm::Buffer;
  uint32_t fourcc_ = 0;
  uint32_t width_ = 0;
  uint32_t height_ = 0;
  std::array<Object, 2> objects_{};
  std::array<Plane, 2> planes_{};
};

// Makes pictures of opaque descriptors (GL_EXT_memory_object_fd). That GL reports no error says
// nothing: ask MemoryObjectSelfTest first whether this driver shows what is there. GL-thread
// only.
class MemoryObjectImporter {
 public:
  MemoryObjectImporter(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl,
                       const MemoryObjectApi& api)
      : thread_(std::move(thread)), gl_(std::move(gl)), api_(api) {}

  // Before any driver call the descriptors are looked at, the numbers held against the sizes,
  // and the UUIDs compared. The driver gets duplicates. Of memory that is signed
  // (lib/dmabuf/opaque.hpp) the signature is read through OpenGL; SelfTestMismatch: it is other
  // memory.
  [[nodiscard]] Result<std::shared_ptr<MemoryObjectPicture>> import(
      const OpaqueRequest& request, MemoryObjectForm form) const;

  // Whether this driver is known to take a dma-buf for opaque memory, which the extension does
  // not promise: Mesa's for AMD and Intel do. Of the others some refuse, and some crash at the
  // next call (nouveau; radeonsi itself, when the import had failed).
  [[nodiscard]] bool takes_dmabufs() const;

  [[nodiscard]] const MemoryObjectApi& api() const { return api_; }

 private:
  [[nodiscard]] Status check(const OpaqueRequest& request, MemoryObjectForm form) const;
  [[nodiscard]] Status import_memory(int fd, uint64_t size_bytes, GLuint& memory) const;
  [[nodiscard]] Status check_signature(GLuint buffer, uint64_t size_bytes,
                                       uint64_t signature) const;
  [[nodiscard]] Status make_buffer(uint64_t size_bytes, GLenum format,
                                   MemoryObjectPicture::Object& object) const;
  [[nodiscard]] Status make_texture(uint64_t width, uint64_t height, GLenum format,
                                    MemoryObjectPicture::Object& object) const;

  std::shared_ptr<GlThread> thread_;
  std::shared_ptr<const GlApi> gl_;
  MemoryObjectApi api_;
};

}  // namespace dxva::gl
