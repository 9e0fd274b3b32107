// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "lib/base/result.hpp"
#include "lib/gl/shader_pass.hpp"
#include "lib/video/colorimetry.hpp"

namespace dxva::gl {

// Draws NV12 or P010 as RGB into a texture. Each pixel takes the chroma sample of its 2x2
// block, as video/reference_conversion does. GL-thread only, but for its deletion.
class Nv12Pass {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Nv12Pass>> create(
      std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl);

  struct Picture {
    GLuint luma = 0;
    GLuint chroma = 0;
    GLuint target = 0;   // RGBA8 or RGB10_A2 storage of the same size
    uint32_t width = 0;  // pixels
    uint32_t height = 0;
  };
  [[nodiscard]] Status draw(const Picture& picture, const video::YuvToRgb& matrix) const;

 private:
  Nv12Pass(std::shared_ptr<const GlApi> gl, std::unique_ptr<ShaderPass> shader)
      : gl_(std::move(gl)),
        shader_(std::move(shader)),
        rows_uniform_(shader_->uniform("rows")) {}

  std::shared_ptr<const GlApi> gl_;
  std::unique_ptr<ShaderPass> shader_;
  GLint rows_uniform_;
};

}  // namespace dxva::gl
