// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "lib/base/result.hpp"
#include "lib/gl/gl_api.hpp"
#include "lib/video/colorimetry.hpp"

namespace dxva::gl {

// Draws NV12 or P010 as RGB into a texture: one triangle, one program, compiled once. Each
// pixel takes the chroma sample of its 2x2 block, as video/reference_conversion does. Deleted
// on the GL thread from anywhere; everything else is GL-thread only.
class Nv12Pass {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Nv12Pass>> create(
      std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl);
  ~Nv12Pass();
  Nv12Pass(const Nv12Pass&) = delete;
  Nv12Pass& operator=(const Nv12Pass&) = delete;

  struct Picture {
    GLuint luma = 0;
    GLuint chroma = 0;
    GLuint target = 0;   // RGBA8 or RGB10_A2 storage of the same size
    uint32_t width = 0;  // pixels
    uint32_t height = 0;
  };
  [[nodiscard]] Status draw(const Picture& picture, const video::YuvToRgb& matrix) const;

 private:
  Nv12Pass(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl)
      : thread_(std::move(thread)), gl_(std::move(gl)) {}
  [[nodiscard]] Status build();

  std::shared_ptr<GlThread> thread_;
  std::shared_ptr<const GlApi> gl_;
  GLuint program_ = 0;
  GLuint vertex_array_ = 0;
  GLuint framebuffer_ = 0;
  GLint rows_uniform_ = -1;
};

}  // namespace dxva::gl
