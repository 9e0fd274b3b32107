// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "lib/base/result.hpp"
#include "lib/gl/gl_api.hpp"
#include "lib/gl/memory_object_importer.hpp"
#include "lib/gl/shader_pass.hpp"
#include "lib/video/colorimetry.hpp"

namespace dxva::gl {

// Draws imported memory into textures that everybody can sample. Samples are fetched by their
// number, so pitch and offsets are plain arithmetic and nothing is filtered. Each shader is
// compiled at its first use. GL-thread only, but for its deletion.
class MemoryObjectPass {
 public:
  MemoryObjectPass(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl)
      : thread_(std::move(thread)), gl_(std::move(gl)) {}

  // Plane 0 into a R8 or R16 texture, plane 1 into RG8 or RG16, of the plane's own size.
  [[nodiscard]] Status draw_plane(const MemoryObjectPicture& picture, uint32_t plane,
                                  GLuint target);
  // RGB as Nv12Pass draws it: each pixel takes the chroma sample of its 2x2 block.
  [[nodiscard]] Status draw_rgb(const MemoryObjectPicture& picture, GLuint target,
                                const video::YuvToRgb& matrix);
  // A plane's bytes as memory holds them, two samples a texel (low byte, high byte, low, high)
  // of an RGBA8 texture, which every context can read back. A row has bytes_width() texels, the
  // last sample of an odd row is doubled. `read_back` runs while the target is attached.
  [[nodiscard]] Status draw_bytes(const MemoryObjectPicture& picture, uint32_t plane,
                                  GLuint target, const std::function<void()>& read_back);
  [[nodiscard]] static uint32_t bytes_width(const MemoryObjectPicture& picture) {
    return (picture.width() + 1) / 2;
  }

 private:
  enum Output : uint32_t { Luma, Chroma, Rgb, LumaBytes, ChromaBytes, kOutputs };
  struct Program {
    std::unique_ptr<ShaderPass> shader;
    GLint start = -1;
    GLint pitch = -1;
    GLint last = -1;
    GLint highest = -1;
    GLint rows = -1;
  };
  [[nodiscard]] Result<const Program*> program(MemoryObjectForm form, Output output);
  [[nodiscard]] Status draw(const MemoryObjectPicture& picture, Output output,
                            const ShaderPass::Target& target, const video::YuvToRgb* matrix,
                            const std::function<void()>& read_back);

  std::shared_ptr<GlThread> thread_;
  std::shared_ptr<const GlApi> gl_;
  std::array<std::array<Program, kOutputs>, kMemoryObjectForms> programs_{};
};

}  // namespace dxva::gl
