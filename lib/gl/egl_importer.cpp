// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/egl_importer.hpp"

#include <fcntl.h>

#include <algorithm>
#include <climits>
#include <string>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/dmabuf/identity.hpp"
#include "lib/gl/egl_image.hpp"

namespace dxva::gl {
namespace {

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

// Asked before EGL is: where llvmpipe's mmap fails, Mesa 25.0 loses what it had made for the
// image, 2,304 bytes for each plane of each picture.
static Status check_mappable(const ContextFacts& facts,
                             const std::array<int, video::kMaxPlanes>& fds,
                             uint32_t object_count) {
  if (!facts.software) return Done{};
  for (uint32_t i = 0; i < object_count; ++i) {
    const int flags = ::fcntl(fds[i], F_GETFL);
    if (flags < 0) return refusal(Reason::BadDescriptor, "no open file");
    if ((flags & O_ACCMODE) != O_RDWR)
      return refusal(Reason::SoftwareRenderer, "it cannot map a read-only descriptor");
  }
  return Done{};
}

Result<video::Layout> prove(const ContextFacts& facts, ImportRequest& request) {
  if (auto measured = measure_objects(request.fds, request.image); !measured)
    return measured.error();
  if (auto mappable = check_mappable(facts, request.fds, request.image.object_count); !mappable)
    return mappable.error();
  return video::classify(request.image, video::LayoutRule::Any);
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
  ImageAttributes attributes;
  attributes.add(EGL_WIDTH, plane_width(plane, image.width));
  attributes.add(EGL_HEIGHT, video::plane_rows(plane, image.height));
  attributes.add(EGL_LINUX_DRM_FOURCC_EXT, plane_fourcc(image.fourcc, plane));
  attributes.add(EGL_DMA_BUF_PLANE0_FD_EXT, static_cast<uint32_t>(request.fds[layout.object]));
  attributes.add(EGL_DMA_BUF_PLANE0_OFFSET_EXT, layout.offset);
  attributes.add(EGL_DMA_BUF_PLANE0_PITCH_EXT, layout.pitch_bytes);
  // LINEAR is said, not left out: without the attribute a driver may look up the tiling that
  // the kernel remembers for the buffer, and see tiles where a linear plane begins.
  if (egl_.has_modifiers() && modifier != kModifierInvalid) {
    attributes.add(EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT, modifier & 0xffffffffu);
    attributes.add(EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT, modifier >> 32);
  }
  const Result<EglImage> egl_image = EglImage::create(egl_, attributes);
  if (!egl_image) return egl_image.error();
  return egl_image->bind(*gl_, GL_TEXTURE_2D, texture, GL_LINEAR);
}

Result<std::shared_ptr<TextureSet>> EglImporter::import(const ImportRequest& request) const {
  ImportRequest checked = request;
  const Result<video::Layout> layout = prove(gl_->facts, checked);
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
