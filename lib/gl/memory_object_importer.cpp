// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/memory_object_importer.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/base/unique_fd.hpp"
#include "lib/dmabuf/identity.hpp"
#include "lib/dmabuf/opaque.hpp"
#include "lib/gl/texture_set.hpp"

namespace dxva::gl {
namespace {

uint32_t sample_bytes(uint32_t fourcc) {
  return fourcc == format::kP010 ? 2 : 1;
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_rdev == b.st_rdev;
}

// From the object's start to the end of the last plane in it: no more is asked for than is
// read.
uint64_t bytes_used(const video::ImageDescription& image, uint32_t object) {
  uint64_t end = 0;
  for (uint32_t p = 0; p < image.plane_count; ++p) {
    const video::PlaneDescription& plane = image.planes[p];
    if (image.objects[plane.object].identity != image.objects[object].identity) continue;
    end = std::max(end, plane.offset +
                            plane.pitch_bytes * (video::plane_rows(p, image.height) - 1) +
                            video::plane_row_bytes(image.fourcc, p, image.width));
  }
  return end;
}

uint64_t tall_rows(uint32_t height) {
  return uint64_t{height} + video::plane_rows(1, height);
}

Status inspect_dmabuf(int fd, uint64_t size_bytes) {
  const auto facts = dmabuf::inspect(fd);
  if (!facts) return facts.error();
  if (facts->size_bytes < size_bytes)
    return refusal(Reason::ObjectTooSmall, std::to_string(facts->size_bytes) + " bytes");
  return Done{};
}

Error gl_refusal(const char* call, GLenum error) {
  return Error{.code = ErrorCode::Unsupported,
               .call = call,
               .native = static_cast<long>(error),
               .text = {},
               .reason = Reason::GlError};
}

}  // namespace

bool MemoryObjectImporter::takes_dmabufs() const {
  // radeonsi is the only one whose vendor is "AMD", iris and crocus call themselves so.
  return gl_->facts.vendor == "AMD" || gl_->facts.renderer.starts_with("Mesa Intel");
}

MemoryObjectPicture::~MemoryObjectPicture() {
  thread_->run([this] {
    // llvmpipe unmaps the memory here and now, whatever its threads still draw from it (Mesa
    // 22.3, at a stop or new caps: a crash in a thread of its own).
    if (gl_->facts.software) gl_->Finish();
    for (Object& object : objects_) {
      if (object.texture) gl_->DeleteTextures(1, &object.texture);
      if (object.buffer) api_.DeleteBuffers(1, &object.buffer);
      if (object.memory) api_.DeleteMemoryObjects(1, &object.memory);
    }
  });
}

uint64_t bytes_needed(const video::ImageDescription& image, uint32_t object,
                      MemoryObjectForm form) {
  const uint64_t rows =
      (tall_rows(image.height) + kTextureRows - 1) / kTextureRows * kTextureRows;
  return kRoomBehindBytes + (form == MemoryObjectForm::Buffer
                                 ? bytes_used(image, object)
                                 : image.planes[0].pitch_bytes * rows);
}

Status MemoryObjectImporter::check(const OpaqueRequest& request, MemoryObjectForm form) const {
  const video::ImageDescription& image = request.image;
  const bool dmabuf = request.kind == OpaqueRequest::Kind::Dmabuf;
  if (dmabuf && !takes_dmabufs())
    return refusal(Reason::MemoryObjectUnsupported, "no dma-bufs as memory objects");
  if (!dmabuf && request.uuids != api_.uuids)
    return refusal(Reason::UuidMismatch, "memory of device " + uuid_text(request.uuids.device) +
                                             ", driver " + uuid_text(request.uuids.driver));
  const Result<video::Layout> layout = video::classify(image, video::LayoutRule::Any);
  if (!layout) return layout.error();
  // Whatever the modifier would be, nobody can say it to this extension.
  if (layout->modifier != kModifierLinear)
    return refusal(Reason::ModifierNotLinear, modifier_text(layout->modifier));
  const uint64_t unit = sample_bytes(image.fourcc);
  for (uint32_t p = 0; p < image.plane_count; ++p) {
    if (image.planes[p].offset % unit != 0)
      return refusal(Reason::OffsetOutOfRange, "half a sample");
    if (image.planes[p].pitch_bytes % unit != 0)
      return refusal(Reason::PitchOutOfRange, "half a sample");
  }
  if (form == MemoryObjectForm::Texture) {
    const auto tight = video::classify(image, video::LayoutRule::TightLinear);
    if (!tight) return tight.error();
    const auto limit = static_cast<uint64_t>(std::max(0, gl_->facts.max_texture_size));
    if (image.planes[0].pitch_bytes / unit > limit || tall_rows(image.height) > limit)
      return refusal(Reason::TextureTooLarge, "as one tall texture");
  }
  if (form == MemoryObjectForm::Buffer && !api_.has_buffers)
    return refusal(Reason::MemoryObjectUnsupported, "no buffer textures");
  for (uint32_t i = 0; i < image.object_count; ++i) {
    if (form == MemoryObjectForm::Buffer &&
        bytes_used(image, i) / unit > static_cast<uint64_t>(api_.max_buffer_texels))
      return refusal(Reason::TextureTooLarge,
                     "GL_MAX_TEXTURE_BUFFER_SIZE is " + std::to_string(api_.max_buffer_texels));
    if (bytes_needed(image, i, form) > image.objects[i].size_bytes)
      return refusal(Reason::ObjectTooSmall, "no room behind the picture");
    const auto seen = dmabuf
                          ? inspect_dmabuf(request.fds[i], image.objects[i].size_bytes)
                          : dmabuf::inspect_opaque(request.fds[i], image.objects[i].size_bytes);
    if (!seen) return seen;
  }
  return Done{};
}

Status MemoryObjectImporter::import_memory(int fd, uint64_t size_bytes, GLuint& memory) const {
  UniqueFd own = UniqueFd::duplicate(fd);
  struct stat before {};
  if (!own.valid() || ::fstat(own.get(), &before) != 0)
    return errno_error("fcntl(F_DUPFD_CLOEXEC)");
  api_.CreateMemoryObjects(1, &memory);
  gl_->clear_errors();
  // The driver's now: Mesa closes it whether or not it could use it.
  const int given = own.release();
  api_.ImportMemoryFd(memory, size_bytes, GL_HANDLE_TYPE_OPAQUE_FD_EXT, given);
  const GLenum error = gl_->GetError();
  if (error == GL_NO_ERROR) return Done{};
  // A call that failed before the driver looked at the descriptor left it to us; one that
  // failed later may have closed it, and the number be somebody else's.
  struct stat after {};
  if (::fstat(given, &after) == 0 && same_file(before, after)) own.reset(given);
  return gl_refusal("glImportMemoryFdEXT", error);
}

// Of the buffer that is drawn from, because it is there that other memory was seen. What cannot
// be read is not refused.
Status MemoryObjectImporter::check_signature(GLuint buffer, uint64_t size_bytes,
                                             uint64_t signature) const {
  constexpr GLsizeiptr kSize = sizeof signature;
  GLuint copy = 0;
  gl_->clear_errors();
  api_.GenBuffers(1, &copy);
  gl_->BindBuffer(GL_COPY_READ_BUFFER, buffer);
  gl_->BindBuffer(GL_COPY_WRITE_BUFFER, copy);
  api_.BufferData(GL_COPY_WRITE_BUFFER, kSize, nullptr, GL_STREAM_READ);
  api_.CopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER,
                         static_cast<GLintptr>(size_bytes - dmabuf::kSignatureFromEnd), 0,
                         kSize);
  std::optional<uint64_t> read;
  if (const void* bytes =
          api_.MapBufferRange(GL_COPY_WRITE_BUFFER, 0, kSize, GL_MAP_READ_BIT)) {
    std::memcpy(&read.emplace(), bytes, sizeof signature);
    api_.UnmapBuffer(GL_COPY_WRITE_BUFFER);
  }
  gl_->BindBuffer(GL_COPY_READ_BUFFER, 0);
  gl_->BindBuffer(GL_COPY_WRITE_BUFFER, 0);
  api_.DeleteBuffers(1, &copy);
  const GLenum error = gl_->GetError();
  if (error != GL_NO_ERROR || !read) {
    DXVA_DEBUG(Gl, "the signature of memory %llx cannot be read: error 0x%x",
               static_cast<unsigned long long>(signature), error);
    return Done{};
  }
  if (*read == signature) return Done{};
  return refusal(Reason::SelfTestMismatch, "OpenGL has imported other memory");
}

Status MemoryObjectImporter::make_buffer(uint64_t size_bytes, GLenum format,
                                         MemoryObjectPicture::Object& object) const {
  gl_->clear_errors();
  api_.GenBuffers(1, &object.buffer);
  gl_->BindBuffer(GL_TEXTURE_BUFFER, object.buffer);
  api_.BufferStorageMem(GL_TEXTURE_BUFFER, static_cast<GLsizeiptr>(size_bytes), object.memory,
                        0);
  GLenum error = gl_->GetError();
  if (error == GL_NO_ERROR) {
    gl_->GenTextures(1, &object.texture);
    gl_->BindTexture(GL_TEXTURE_BUFFER, object.texture);
    api_.TexBuffer(GL_TEXTURE_BUFFER, format, object.buffer);
    gl_->BindTexture(GL_TEXTURE_BUFFER, 0);
    error = gl_->GetError();
  }
  gl_->BindBuffer(GL_TEXTURE_BUFFER, 0);
  return error == GL_NO_ERROR ? Status(Done{}) : gl_refusal("glBufferStorageMemEXT", error);
}

Status MemoryObjectImporter::make_texture(uint64_t width, uint64_t height, GLenum format,
                                          MemoryObjectPicture::Object& object) const {
  GLenum error = GL_NO_ERROR;
  // NVIDIA refuses linear tiling with an error and shows nonsense without it; Mesa takes both.
  for (const GLint tiling : {GL_LINEAR_TILING_EXT, GL_OPTIMAL_TILING_EXT}) {
    gl_->clear_errors();
    if (object.texture) gl_->DeleteTextures(1, &object.texture);
    gl_->GenTextures(1, &object.texture);
    gl_->BindTexture(GL_TEXTURE_2D, object.texture);
    gl_->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_TILING_EXT, tiling);
    api_.TexStorageMem2D(GL_TEXTURE_2D, 1, format, static_cast<GLsizei>(width),
                         static_cast<GLsizei>(height), object.memory, 0);
    error = gl_->GetError();
    set_sampling(*gl_, GL_NEAREST);
    gl_->BindTexture(GL_TEXTURE_2D, 0);
    if (error == GL_NO_ERROR) return Done{};
  }
  return gl_refusal("glTexStorageMem2DEXT", error);
}

Result<std::shared_ptr<MemoryObjectPicture>> MemoryObjectImporter::import(
    const OpaqueRequest& request, MemoryObjectForm form) const {
  if (auto checked = check(request, form); !checked) return checked.error();
  const video::ImageDescription& image = request.image;
  const bool deep = sample_bytes(image.fourcc) == 2;
  std::shared_ptr<MemoryObjectPicture> out(new MemoryObjectPicture(thread_, gl_, api_));
  out->form_ = form;
  out->fourcc_ = image.fourcc;
  out->width_ = image.width;
  out->height_ = image.height;
  // Objects that are dups of one another are imported once, and unused ones not at all.
  std::array<uint32_t, 2> source{};
  uint32_t count = 0;
  for (uint32_t p = 0; p < 2; ++p) {
    const uint32_t wanted = image.planes[p].object;
    const bool known =
        p == 1 && image.objects[wanted].identity == image.objects[source[0]].identity;
    MemoryObjectPicture::Object& object = out->objects_[known ? 0 : count];
    if (!known) {
      source[count++] = wanted;
      const uint64_t size = image.objects[wanted].size_bytes;
      if (auto made = import_memory(request.fds[wanted], size, object.memory); !made)
        return made.error();
      const BufferIdentity& identity = image.objects[wanted].identity;
      const bool is_signed = dmabuf::is_signed(identity);
      const auto made =
          form == MemoryObjectForm::Buffer
              ? make_buffer(is_signed ? size - kRoomBehindBytes : bytes_used(image, wanted),
                            deep ? GL_R16UI : GL_R8UI, object)
              : make_texture(image.planes[0].pitch_bytes / sample_bytes(image.fourcc),
                             tall_rows(image.height), deep ? GL_R16 : GL_R8, object);
      if (!made) return made.error();
      if (is_signed && form == MemoryObjectForm::Buffer)
        if (auto same = check_signature(object.buffer, size, identity.inode); !same)
          return same.error();
    }
    out->planes_[p] = {
        .texture = object.texture,
        .start = static_cast<GLint>(image.planes[p].offset / sample_bytes(image.fourcc)),
        .pitch = static_cast<GLint>(image.planes[p].pitch_bytes / sample_bytes(image.fourcc))};
  }
  DXVA_DEBUG(Gl, "imported %s %ux%u, pitch %llu, as a memory object's %s",
             fourcc_text(image.fourcc).c_str(), image.width, image.height,
             static_cast<unsigned long long>(image.planes[0].pitch_bytes), form_name(form));
  return out;
}

}  // namespace dxva::gl
