// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <memory>

#include "lib/base/result.hpp"
#include "lib/gl/egl_api.hpp"
#include "lib/gl/texture_set.hpp"
#include "lib/video/nv12_layout.hpp"

namespace dxva::gl {

// A picture in somebody else's descriptors, lent for the call. Sizes and identities in `image`
// need not be filled in: the importer measures them itself and believes nobody.
struct ImportRequest {
  video::ImageDescription image;
  std::array<int, video::kMaxPlanes> fds{-1, -1, -1, -1};  // one per object
};

// Textures that share their memory with a dma-buf: one EGLImage per plane (R8 + GR88, or R16 +
// GR1616), which every driver with dma-buf import knows, and whose textures consumers get as
// they are. What cannot go by planes is WholeImageImporter's.
//
// Drivers do not check what they are told. llvmpipe takes an offset behind the end of the
// buffer, a pitch of 2 GiB or a pipe for an image, says nothing, and dies in a thread of its
// own at the next draw. So everything is proved before the first driver call. GL-thread only.
class EglImporter {
 public:
  EglImporter(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl,
              const DmabufImportApi& egl, ImportFormats formats)
      : thread_(std::move(thread)),
        gl_(std::move(gl)),
        egl_(egl),
        formats_(std::move(formats)) {}

  [[nodiscard]] Result<std::shared_ptr<TextureSet>> import(const ImportRequest& request) const;

  [[nodiscard]] const ImportFormats& formats() const { return formats_; }

 private:
  [[nodiscard]] Status check_importable(const video::ImageDescription& image,
                                        const video::Layout& layout) const;
  [[nodiscard]] Status import_plane(const ImportRequest& request, uint32_t plane,
                                    uint64_t modifier, GLuint texture) const;

  std::shared_ptr<GlThread> thread_;
  std::shared_ptr<const GlApi> gl_;
  DmabufImportApi egl_;
  ImportFormats formats_;
};

// R8 or R16 for luma, GR88 or GR1616 for chroma: what one plane is as an image of its own.
[[nodiscard]] uint32_t plane_fourcc(uint32_t image_fourcc, uint32_t plane);

// Looks at every descriptor with dmabuf::inspect() and writes what it found into `image`.
[[nodiscard]] Status measure_objects(const std::array<int, video::kMaxPlanes>& fds,
                                     video::ImageDescription& image);

// Everything that holds for any import, before the first driver call: measures the objects of
// `request`, proves their layout, and refuses (SoftwareRenderer) descriptors that a software
// renderer could not map, which it does for reading and writing where a GPU's driver asks for
// neither.
[[nodiscard]] Result<video::Layout> prove(const ContextFacts& facts, ImportRequest& request);

}  // namespace dxva::gl
