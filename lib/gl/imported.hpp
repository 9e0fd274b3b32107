// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <variant>

#include <GL/gl.h>

#include "lib/base/path.hpp"
#include "lib/gl/memory_object_importer.hpp"
#include "lib/gl/texture_set.hpp"

namespace dxva::gl {

// One texture per plane that shares the picture's memory: consumers get these very textures.
struct PlaneTextures {
  std::shared_ptr<TextureSet> textures;
};

inline constexpr GLenum kTextureExternal = 0x8D65;  // GL_TEXTURE_EXTERNAL_OES, of ES's headers

// The whole picture as one texture that GL samples as RGB.
struct WholeImage {
  std::shared_ptr<TextureSet> texture;
  GLenum target = 0;  // GL_TEXTURE_2D or kTextureExternal
};

// Memory of unknown layout to the driver, which our own shader finds its way in.
using MemoryObjectSource = std::shared_ptr<MemoryObjectPicture>;

// What GL samples of an import. The alternatives differ in what can be made of them: planes
// leave as they are, anything else goes through a shader pass with each frame.
using Source = std::variant<PlaneTextures, WholeImage, MemoryObjectSource>;

// Made once per buffer and layout, and kept by the cache and by every frame that is out.
struct Imported {
  Step step = Step::Egl;
  Source source;
};

}  // namespace dxva::gl
