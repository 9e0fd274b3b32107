// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/gl/gl_api.hpp"

namespace dxva::gl {

// A fragment shader over the whole of a texture: one triangle, compiled once. What another
// element may have switched on and would show in the picture is off meanwhile. Deleted on the
// GL thread from anywhere; everything else is GL-thread only.
class ShaderPass {
 public:
  struct Source {
    std::string fragment;               // without #version; writes gl_FragCoord's pixel
    std::vector<const char*> samplers;  // uniforms, in the order of draw()'s inputs
    std::string extensions;             // "#extension … : require\n", for either language
    const char* gles_version = "300 es";
    const char* gl_version = "150";
  };
  // Unsupported without GL 3.2 or GLES 3.0, or when the driver does not take the shader.
  [[nodiscard]] static Result<std::unique_ptr<ShaderPass>> create(
      std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl, const Source& source);
  ~ShaderPass();
  ShaderPass(const ShaderPass&) = delete;
  ShaderPass& operator=(const ShaderPass&) = delete;

  [[nodiscard]] GLint uniform(const char* name) const;

  struct Input {
    GLenum target = GL_TEXTURE_2D;
    GLuint texture = 0;
  };
  struct Target {
    GLuint texture = 0;  // GL_TEXTURE_2D of a format that can be drawn into
    uint32_t width = 0;  // texels
    uint32_t height = 0;
  };
  // `set_uniforms` runs with the program in use. `read_back` runs while the target is still
  // attached, when glReadPixels reads it; may be empty.
  [[nodiscard]] Status draw(const Target& target, std::span<const Input> inputs,
                            const std::function<void()>& set_uniforms,
                            const std::function<void()>& read_back = {}) const;

 private:
  ShaderPass(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl)
      : thread_(std::move(thread)), gl_(std::move(gl)) {}
  [[nodiscard]] Status build(const Source& source);
  void draw_triangle(const Target& target, std::span<const Input> inputs,
                     const std::function<void()>& set_uniforms) const;

  std::shared_ptr<GlThread> thread_;
  std::shared_ptr<const GlApi> gl_;
  GLuint program_ = 0;
  GLuint vertex_array_ = 0;
  GLuint framebuffer_ = 0;
};

}  // namespace dxva::gl
