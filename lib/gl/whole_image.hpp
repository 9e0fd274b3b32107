// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "lib/base/result.hpp"
#include "lib/gl/egl_importer.hpp"
#include "lib/gl/imported.hpp"
#include "lib/gl/shader_pass.hpp"
#include "lib/video/colorimetry.hpp"

namespace dxva::gl {

// Imports both planes as one EGLImage, which GL samples as RGB: the driver converts, and is
// told the colours. For what cannot go plane by plane: tiled chroma behind luma in one buffer,
// whose offset counts in tiles (elFarto/nvidia-vaapi-driver#446, GStreamer issue 2942), and
// modifiers that EGL lists for NV12 and not for R8 and GR88. GL-thread only.
class WholeImageImporter {
 public:
  WholeImageImporter(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl,
                     const DmabufImportApi& egl, ImportFormats formats)
      : thread_(std::move(thread)),
        gl_(std::move(gl)),
        egl_(egl),
        formats_(std::move(formats)) {}

  // Whether this context can sample whole images of `fourcc` with this modifier, and how.
  [[nodiscard]] ImportFormats::Sampling sampling(uint32_t fourcc, uint64_t modifier) const;

  [[nodiscard]] Result<WholeImage> import(const ImportRequest& request,
                                          const video::Colorimetry& colours,
                                          const video::ChromaSiting& siting) const;

 private:
  std::shared_ptr<GlThread> thread_;
  std::shared_ptr<const GlApi> gl_;
  DmabufImportApi egl_;
  ImportFormats formats_;
};

// Draws such an image into an RGB texture, pixel by pixel: consumers want GL_TEXTURE_2D.
// GL-thread only, but for its deletion.
class WholeImagePass {
 public:
  [[nodiscard]] static Result<std::unique_ptr<WholeImagePass>> create(
      std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl, GLenum target);
  [[nodiscard]] Status draw(const WholeImage& image, const ShaderPass::Target& target) const;

 private:
  WholeImagePass(std::shared_ptr<const GlApi> gl, std::unique_ptr<ShaderPass> shader)
      : gl_(std::move(gl)),
        shader_(std::move(shader)),
        size_uniform_(shader_->uniform("size")) {}

  std::shared_ptr<const GlApi> gl_;
  std::unique_ptr<ShaderPass> shader_;
  GLint size_uniform_;
};

}  // namespace dxva::gl
