// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lib/base/result.hpp"
#include "lib/gl/shader_pass.hpp"
#include "lib/gl/texture_uploader.hpp"

namespace dxva::gl {

// Compares what GL samples of a texture with the pixels that the CPU has for it. The pixels are
// uploaded and both textures are compared in a shader: reading the imported texture back would
// need one that can be drawn into (NVIDIA's linear imports cannot), and GLES reads no 16 bits
// back. GL-thread only, but for its deletion.
class PlaneComparison {
 public:
  [[nodiscard]] static Result<std::unique_ptr<PlaneComparison>> create(
      std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl);

  struct Difference {
    uint64_t texels = 0;  // that differ, at least
    uint32_t x = 0;       // where the first block of 16x16 texels with one begins
    uint32_t y = 0;
  };
  // An error says that the two could not be compared. Waits for the GPU.
  [[nodiscard]] Result<Difference> compare(GLuint texture, const TextureSpec& spec,
                                           const PlanePixels& pixels) const;

 private:
  PlaneComparison(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl,
                  std::unique_ptr<ShaderPass> shader)
      : thread_(std::move(thread)), gl_(std::move(gl)), shader_(std::move(shader)) {}

  std::shared_ptr<GlThread> thread_;
  std::shared_ptr<const GlApi> gl_;
  std::unique_ptr<ShaderPass> shader_;
};

}  // namespace dxva::gl
