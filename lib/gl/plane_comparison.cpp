// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/plane_comparison.hpp"

#include <array>
#include <vector>

#include "lib/gl/texture_set.hpp"

namespace dxva::gl {
namespace {

constexpr uint32_t kBlock = 16;  // texels; also in the shader

// One pixel of the target counts for a block, so that little is read back of a large picture.
constexpr const char* kFragmentShader = R"(
uniform sampler2D sampled;
uniform sampler2D wanted;
out vec4 colour;
void main() {
  ivec2 size = textureSize(wanted, 0);
  ivec2 start = ivec2(gl_FragCoord.xy) * 16;
  int wrong = 0;
  for (int y = start.y; y < min(start.y + 16, size.y); ++y)
    for (int x = start.x; x < min(start.x + 16, size.x); ++x)
      if (texelFetch(sampled, ivec2(x, y), 0).rg != texelFetch(wanted, ivec2(x, y), 0).rg)
        ++wrong;
  colour = vec4(float(min(wrong, 255)) / 255.0, 0.0, 0.0, 1.0);
}
)";

uint32_t blocks(uint32_t texels) {
  return (texels + kBlock - 1) / kBlock;
}

Error no_memory() {
  return {.code = ErrorCode::NoMemory, .call = "glTexImage2D"};
}

}  // namespace

Result<std::unique_ptr<PlaneComparison>> PlaneComparison::create(
    std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl) {
  auto shader = ShaderPass::create(
      thread, gl, {.fragment = kFragmentShader, .samplers = {"sampled", "wanted"}});
  if (!shader) return shader.error();
  return std::unique_ptr<PlaneComparison>(
      new PlaneComparison(std::move(thread), std::move(gl), std::move(*shader)));
}

Result<PlaneComparison::Difference> PlaneComparison::compare(GLuint texture,
                                                             const TextureSpec& spec,
                                                             const PlanePixels& pixels) const {
  const auto made = TextureSet::create(thread_, gl_, 2);
  const GLuint wanted = made->names()[0], counts = made->names()[1];
  const TextureSpec count_spec{.width = blocks(spec.width),
                               .height = blocks(spec.height),
                               .internal_format = GL_RGBA8,
                               .format = GL_RGBA,
                               .type = GL_UNSIGNED_BYTE,
                               .texel_bytes = 4};
  if (!allocate_texture(*gl_, wanted, spec) || !allocate_texture(*gl_, counts, count_spec))
    return no_memory();
  if (!upload_plane(*gl_, wanted, spec, pixels))
    return Error{.code = ErrorCode::Failed, .call = "glTexSubImage2D"};

  std::vector<uint8_t> read(count_spec.row_bytes() * count_spec.height);
  const std::array inputs = {ShaderPass::Input{.texture = texture},
                             ShaderPass::Input{.texture = wanted}};
  const Status drawn =
      shader_->draw({.texture = counts, .width = count_spec.width, .height = count_spec.height},
                    inputs, {}, [&] {
                      // Others read into buffers and leave them bound; our address would be an
                      // offset there.
                      gl_->BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
                      gl_->PixelStorei(GL_PACK_ALIGNMENT, 4);
                      gl_->PixelStorei(GL_PACK_ROW_LENGTH, 0);
                      gl_->shaders->ReadPixels(0, 0, static_cast<GLsizei>(count_spec.width),
                                               static_cast<GLsizei>(count_spec.height), GL_RGBA,
                                               GL_UNSIGNED_BYTE, read.data());
                    });
  // Mesa holds what the last draw sampled until the next one; the import may have to go before
  // anybody else draws.
  const std::array nothing_of_it = {inputs[1], inputs[1]};
  (void)shader_->draw({.texture = counts, .width = 1, .height = 1}, nothing_of_it, {});
  gl_->Finish();
  if (!drawn) return drawn.error();

  Difference out;
  for (size_t block = 0; block < read.size() / 4; ++block) {
    const uint8_t wrong = read[block * 4];
    if (wrong != 0 && out.texels == 0) {
      out.x = static_cast<uint32_t>(block % count_spec.width) * kBlock;
      out.y = static_cast<uint32_t>(block / count_spec.width) * kBlock;
    }
    out.texels += wrong;
  }
  return out;
}

}  // namespace dxva::gl
