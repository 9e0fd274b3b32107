// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/texture_uploader.hpp"

#include <cassert>

#include "lib/gl/texture_set.hpp"

namespace dxva::gl {
namespace {

void upload_rows(const GlApi& gl, const TextureSpec& spec, uint32_t first, uint32_t rows,
                 const uint8_t* data) {
  gl.TexSubImage2D(GL_TEXTURE_2D, 0, 0, static_cast<GLint>(first),
                   static_cast<GLsizei>(spec.width), static_cast<GLsizei>(rows), spec.format,
                   spec.type, data);
}

}  // namespace

bool allocate_texture(const GlApi& gl, GLuint texture, const TextureSpec& spec) {
  gl.clear_errors();
  gl.BindTexture(GL_TEXTURE_2D, texture);
  gl.TexImage2D(GL_TEXTURE_2D, 0, spec.internal_format, static_cast<GLsizei>(spec.width),
                static_cast<GLsizei>(spec.height), 0, spec.format, spec.type, nullptr);
  const bool ok = gl.GetError() == GL_NO_ERROR;
  set_sampling(gl, GL_LINEAR);
  gl.BindTexture(GL_TEXTURE_2D, 0);
  return ok;
}

bool upload_plane(const GlApi& gl, GLuint texture, const TextureSpec& spec,
                  const PlanePixels& pixels) {
  assert(pixels.pitch_bytes >= spec.row_bytes() || spec.height == 1);
  gl.clear_errors();
  // Whoever drew before us may have left a buffer bound, and then our address would be taken
  // for an offset into it.
  if (gl.BindBuffer) gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, pixels.unpack_buffer);
  gl.BindTexture(GL_TEXTURE_2D, texture);
  gl.PixelStorei(GL_UNPACK_ALIGNMENT, 1);

  // A row length counts texels: a pitch that is no multiple of them, or a GLES 2 without the
  // extension, takes a call for each row.
  const bool tight = pixels.pitch_bytes == spec.row_bytes();
  const bool whole_texels = pixels.pitch_bytes % spec.texel_bytes == 0;
  if (tight) {
    upload_rows(gl, spec, 0, spec.height, pixels.data);
  } else if (gl.facts.row_length && whole_texels) {
    gl.PixelStorei(GL_UNPACK_ROW_LENGTH,
                   static_cast<GLint>(pixels.pitch_bytes / spec.texel_bytes));
    upload_rows(gl, spec, 0, spec.height, pixels.data);
    gl.PixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  } else {
    for (uint32_t row = 0; row < spec.height; ++row)
      upload_rows(gl, spec, row, 1, pixels.data + row * pixels.pitch_bytes);
  }

  gl.PixelStorei(GL_UNPACK_ALIGNMENT, 4);
  gl.BindTexture(GL_TEXTURE_2D, 0);
  if (gl.BindBuffer && pixels.unpack_buffer != 0) gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  return gl.GetError() == GL_NO_ERROR;
}

}  // namespace dxva::gl
