// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/egl_importer.hpp"

#include <climits>
#include <string>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/dmabuf/identity.hpp"

namespace dxva::gl {
namespace {

Reason reason_of(EGLint error) {
  switch (error) {
    case EGL_BAD_MATCH:
      return Reason::EglBadMatch;
    case EGL_BAD_ALLOC:
      return Reason::EglBadAlloc;
    case EGL_BAD_ACCESS:
      return Reason::EglBadAccess;
    case EGL_BAD_PARAMETER:
      return Reason::EglBadParameter;
    default:
      return Reason::EglError;
  }
}

uint32_t plane_width(uint32_t plane, uint32_t width) {
  return plane == 0 ? width : width / 2 + width % 2;
}

}  // namespace

uint32_t plane_fourcc(uint32_t image_fourcc, uint32_t plane) {
  if (image_fourcc == format::kP010) return plane == 0 ? format::kR16 : format::kGR1616;
  return plane == 0 ? format::kR8 : format::kGR88;
}

Status measure_objects(const std::array<int, video::kMaxPlanes>& fds,
                       video::ImageDescription& image) {
  if (image.object_count > video::kMaxPlanes)
    return refusal(Reason::PlaneCount, std::to_string(image.object_count) + " buffers");
  for (uint32_t i = 0; i < image.object_count; ++i) {
    const Result<dmabuf::FdFacts> facts = dmabuf::inspect(fds[i]);
    if (!facts) return facts.error();
    image.objects[i].size_bytes = facts->size_bytes;
    image.objects[i].identity = facts->identity;
  }
  return Done{};
}

Status EglImporter::check_importable(const video::ImageDescription& image,
                                     const video::Layout& layout) const {
  const auto limit = static_cast<uint32_t>(std::max(0, gl_->facts.max_texture_size));
  if (image.width > limit || image.height > limit)
    return refusal(Reason::TextureTooLarge, "GL_MAX_TEXTURE_SIZE is " + std::to_string(limit));
  const bool tiled = layout.layout_class == video::LayoutClass::Tiled;
  for (uint32_t p = 0; p < image.plane_count; ++p) {
    const video::PlaneDescription& plane = image.planes[p];
    if (!formats_.lists(plane_fourcc(image.fourcc, p), layout.modifier))
      return refusal(Reason::ModifierNotImportable, fourcc_text(plane_fourcc(image.fourcc, p)) +
                                                        " with modifier " +
                                                        modifier_text(layout.modifier));
    // The offset of a tiled plane counts in tiles, not in bytes: as an image of its own most
    // drivers refuse it or sample the wrong tiles. Such pictures go through as a whole or not.
    if (tiled && plane.offset != 0)
      return refusal(Reason::TiledPlaneOffset,
                     "tiled plane at " + std::to_string(plane.offset));
    // EGL's attribute lists are 32-bit and signed.
    if (plane.offset > INT32_MAX)
      return refusal(Reason::OffsetOutOfRange, std::to_string(plane.offset));
    if (plane.pitch_bytes > INT32_MAX)
      return refusal(Reason::PitchOutOfRange, std::to_string(plane.pitch_bytes));
  }
  return Done{};
}

Status EglImporter::import_plane(const ImportRequest& request, uint32_t plane,
                                 uint64_t modifier, GLuint texture) const {
  const video::ImageDescription& image = request.image;
  const video::PlaneDescription& layout = image.planes[plane];
  std::array<EGLint, 17> attributes;
  size_t count = 0;
  const auto add = [&](EGLint name, uint64_t value) {
    attributes[count++] = name;
    attributes[count++] = static_cast<EGLint>(value);
  };
  add(EGL_WIDTH, plane_width(plane, image.width));
  add(EGL_HEIGHT, video::plane_rows(plane, image.height));
  add(EGL_LINUX_DRM_FOURCC_EXT, plane_fourcc(image.fourcc, plane));
  add(EGL_DMA_BUF_PLANE0_FD_EXT, static_cast<uint32_t>(request.fds[layout.object]));
  add(EGL_DMA_BUF_PLANE0_OFFSET_EXT, layout.offset);
  add(EGL_DMA_BUF_PLANE0_PITCH_EXT, layout.pitch_bytes);
  // LINEAR is said, not left out: without the attribute a driver may look up the tiling that
  // the kernel remembers for the buffer, and see tiles where a linear plane begins.
  if (egl_.has_modifiers() && modifier != kModifierInvalid) {
    add(EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT, modifier & 0xffffffffu);
    add(EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT, modifier >> 32);
  }
  attributes[count++] = EGL_NONE;

  const EGLImageKHR egl_image = egl_.CreateImage(
      egl_.display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, nullptr, attributes.data());
  if (egl_image == EGL_NO_IMAGE_KHR) {
    const EGLint error = egl_.GetError();
    return Error{.code = ErrorCode::Unsupported,
                 .call = "eglCreateImageKHR",
                 .native = error,
                 .text = fourcc_text(plane_fourcc(image.fourcc, plane)),
                 .reason = reason_of(error)};
  }

  gl_->clear_errors();
  gl_->BindTexture(GL_TEXTURE_2D, texture);
  if (egl_.ImageTargetTexStorage)
    egl_.ImageTargetTexStorage(GL_TEXTURE_2D, egl_image, nullptr);
  else
    egl_.ImageTargetTexture2D(GL_TEXTURE_2D, egl_image);
  GLenum error = gl_->GetError();
  if (error != GL_NO_ERROR && egl_.ImageTargetTexStorage && egl_.ImageTargetTexture2D) {
    // The storage form refuses what it cannot make immutable; the older form may still take it.
    egl_.ImageTargetTexture2D(GL_TEXTURE_2D, egl_image);
    error = gl_->GetError();
  }
  set_sampling(*gl_, GL_LINEAR);
  gl_->BindTexture(GL_TEXTURE_2D, 0);
  // The texture keeps the memory; the image was only the way in.
  egl_.DestroyImage(egl_.display, egl_image);
  if (error != GL_NO_ERROR)
    return Error{.code = ErrorCode::Unsupported,
                 .call = "glEGLImageTargetTexture2DOES",
                 .native = static_cast<long>(error),
                 .text = {},
                 .reason = Reason::GlError};
  return Done{};
}

Result<std::shared_ptr<TextureSet>> EglImporter::import(const ImportRequest& request) const {
  ImportRequest checked = request;
  if (auto measured = measure_objects(checked.fds, checked.image); !measured)
    return measured.error();
  const Result<video::Layout> layout = video::classify(checked.image, video::LayoutRule::Any);
  if (!layout) return layout.error();
  if (auto importable = check_importable(checked.image, *layout); !importable)
    return importable.error();

  std::shared_ptr<TextureSet> textures =
      TextureSet::create(thread_, gl_, checked.image.plane_count);
  for (uint32_t p = 0; p < checked.image.plane_count; ++p) {
    if (auto imported = import_plane(checked, p, layout->modifier, textures->names()[p]);
        !imported)
      return imported.error();
  }
  DXVA_DEBUG(Gl, "imported %s %ux%u, pitch %llu, modifier %s",
             fourcc_text(checked.image.fourcc).c_str(), checked.image.width,
             checked.image.height,
             static_cast<unsigned long long>(checked.image.planes[0].pitch_bytes),
             modifier_text(layout->modifier).c_str());
  return textures;
}

}  // namespace dxva::gl
