// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "lib/gl/gl_api.hpp"

namespace dxva::gl {

// One plane as GL stores it.
struct TextureSpec {
  uint32_t width = 0;  // texels
  uint32_t height = 0;
  GLint internal_format = 0;
  GLenum format = 0;
  GLenum type = 0;
  uint32_t texel_bytes = 0;

  [[nodiscard]] uint64_t row_bytes() const { return uint64_t{width} * texel_bytes; }
  friend bool operator==(const TextureSpec&, const TextureSpec&) = default;
};

// Where a plane's pixels are: in memory, or, for an upload ring, in a buffer object, and then
// `data` is an offset into it. The caller has proved that all rows are there.
struct PlanePixels {
  const uint8_t* data = nullptr;
  uint64_t pitch_bytes = 0;
  GLuint unpack_buffer = 0;
};

// Storage for `spec`, its contents undefined. False when GL reports an error (out of memory).
// GL-thread only.
[[nodiscard]] bool allocate_texture(const GlApi& gl, GLuint texture, const TextureSpec& spec);

// Fills a texture of allocate_texture()'s. The pixels in memory were read when this returns. A
// plain glTexSubImage2D: on software renderers a buffer object only adds a copy (2.4 to 5.8
// times the time). GL-thread only.
[[nodiscard]] bool upload_plane(const GlApi& gl, GLuint texture, const TextureSpec& spec,
                                const PlanePixels& pixels);

}  // namespace dxva::gl
