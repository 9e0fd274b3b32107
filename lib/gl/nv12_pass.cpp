// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/nv12_pass.hpp"

#include <array>

namespace dxva::gl {
namespace {

// texelFetch and not texture(): no filter may mix the chroma of two blocks, whatever the
// parameters of an imported texture are.
constexpr const char* kFragmentShader = R"(
uniform sampler2D luma;
uniform sampler2D chroma;
uniform vec4 rows[3];
out vec4 colour;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  vec4 yuv = vec4(texelFetch(luma, at, 0).r, texelFetch(chroma, at / 2, 0).rg, 1.0);
  colour = vec4(dot(rows[0], yuv), dot(rows[1], yuv), dot(rows[2], yuv), 1.0);
}
)";

}  // namespace

Result<std::unique_ptr<Nv12Pass>> Nv12Pass::create(std::shared_ptr<GlThread> thread,
                                                   std::shared_ptr<const GlApi> gl) {
  auto shader = ShaderPass::create(
      std::move(thread), gl, {.fragment = kFragmentShader, .samplers = {"luma", "chroma"}});
  if (!shader) return shader.error();
  return std::unique_ptr<Nv12Pass>(new Nv12Pass(std::move(gl), std::move(*shader)));
}

Status Nv12Pass::draw(const Picture& picture, const video::YuvToRgb& matrix) const {
  const std::array inputs = {ShaderPass::Input{.texture = picture.luma},
                             ShaderPass::Input{.texture = picture.chroma}};
  return shader_->draw(
      {.texture = picture.target, .width = picture.width, .height = picture.height}, inputs,
      [&] { gl_->shaders->Uniform4fv(rows_uniform_, 3, matrix[0].data()); });
}

}  // namespace dxva::gl
