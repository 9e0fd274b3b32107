// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/texture_set.hpp"

#include <cassert>

namespace dxva::gl {

std::unique_ptr<TextureSet> TextureSet::create(std::shared_ptr<GlThread> thread,
                                               std::shared_ptr<const GlApi> gl,
                                               uint32_t count) {
  assert(count <= kMaxTextures);
  std::unique_ptr<TextureSet> set(new TextureSet(std::move(thread), std::move(gl)));
  set->gl_->GenTextures(static_cast<GLsizei>(count), set->names_.data());
  set->count_ = count;
  return set;
}

TextureSet::~TextureSet() {
  attachment.reset();
  if (count_ == 0) return;
  thread_->run([this] { gl_->DeleteTextures(static_cast<GLsizei>(count_), names_.data()); });
}

void set_sampling(const GlApi& gl, GLint filter, GLenum target) {
  gl.TexParameteri(target, GL_TEXTURE_MIN_FILTER, filter);
  gl.TexParameteri(target, GL_TEXTURE_MAG_FILTER, filter);
  gl.TexParameteri(target, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  gl.TexParameteri(target, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

}  // namespace dxva::gl
