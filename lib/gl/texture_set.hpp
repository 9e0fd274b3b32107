// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "lib/gl/gl_api.hpp"

namespace dxva::gl {

inline constexpr uint32_t kMaxTextures = 4;  // planes of a picture

// The textures of one picture, deleted on the GL thread wherever the last owner happens to be:
// GStreamer drops outgoing buffers on any thread, and after the element has stopped. Move-only
// through its pointer; thread-safe to destroy.
class TextureSet {
 public:
  // Makes `count` names; GL-thread only.
  [[nodiscard]] static std::unique_ptr<TextureSet> create(std::shared_ptr<GlThread> thread,
                                                          std::shared_ptr<const GlApi> gl,
                                                          uint32_t count);
  ~TextureSet();
  TextureSet(const TextureSet&) = delete;
  TextureSet& operator=(const TextureSet&) = delete;

  [[nodiscard]] std::span<const GLuint> names() const { return {names_.data(), count_}; }

  // What whoever shows them has made of them; it goes before they do. Of one thread at a time.
  std::shared_ptr<void> attachment;

 private:
  TextureSet(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl)
      : thread_(std::move(thread)), gl_(std::move(gl)) {}

  std::shared_ptr<GlThread> thread_;
  std::shared_ptr<const GlApi> gl_;
  std::array<GLuint, kMaxTextures> names_{};
  uint32_t count_ = 0;
};

// Clamped and unmipmapped, as every consumer of a video plane wants it.
void set_sampling(const GlApi& gl, GLint filter, GLenum target = GL_TEXTURE_2D);

}  // namespace dxva::gl
