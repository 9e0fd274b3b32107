// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/memory_object_pass.hpp"

#include <array>
#include <string>

#include "lib/base/fourcc.hpp"
#include "lib/video/nv12_layout.hpp"

namespace dxva::gl {
namespace {

// Integers, because GLES 3.2 has no normalised 16-bit buffer textures, and because they are
// exact.
constexpr const char* kBufferSamples = R"(
#ifdef GL_ES
precision highp usamplerBuffer;
#endif
uniform usamplerBuffer luma_samples;
uniform usamplerBuffer chroma_samples;
uniform float highest;
uint luma_sample(int i) { return texelFetch(luma_samples, i).r; }
uint chroma_sample(int i) { return texelFetch(chroma_samples, i).r; }
)";

// As wide as the pitch, so that a sample's number is row * width + column.
constexpr const char* kTextureSamples = R"(
uniform sampler2D luma_samples;
uniform sampler2D chroma_samples;
uniform float highest;
uint sample_of(sampler2D samples, int i) {
  int width = textureSize(samples, 0).x;
  return uint(texelFetch(samples, ivec2(i % width, i / width), 0).r * highest + 0.5);
}
uint luma_sample(int i) { return sample_of(luma_samples, i); }
uint chroma_sample(int i) { return sample_of(chroma_samples, i); }
)";

// `highest` is 255 or 65535: dividing by it is what sampling R8 or R16 would have done.
constexpr const char* kPlaces = R"(
uniform ivec2 start;
uniform ivec2 pitch;
int luma_at(ivec2 at) { return start.x + at.y * pitch.x + at.x; }
int chroma_at(ivec2 at) { return start.y + at.y * pitch.y + 2 * at.x; }
float luma(ivec2 at) { return float(luma_sample(luma_at(at))) / highest; }
vec2 chroma(ivec2 at) {
  int i = chroma_at(at);
  return vec2(float(chroma_sample(i)), float(chroma_sample(i + 1))) / highest;
}
vec4 bytes(uint a, uint b) {
  return vec4(float(a & 255u), float(a >> 8), float(b & 255u), float(b >> 8)) / 255.0;
}
)";

constexpr std::array<const char*, 5> kMain = {
    R"(
out vec4 colour;
void main() { colour = vec4(luma(ivec2(gl_FragCoord.xy)), 0.0, 0.0, 1.0); }
)",
    R"(
out vec4 colour;
void main() { colour = vec4(chroma(ivec2(gl_FragCoord.xy)), 0.0, 1.0); }
)",
    R"(
uniform vec4 rows[3];
out vec4 colour;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  vec4 yuv = vec4(luma(at), chroma(at / 2), 1.0);
  colour = vec4(dot(rows[0], yuv), dot(rows[1], yuv), dot(rows[2], yuv), 1.0);
}
)",
    R"(
uniform int last;
out vec4 colour;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  int row = luma_at(ivec2(0, at.y));
  colour = bytes(luma_sample(row + 2 * at.x), luma_sample(row + min(2 * at.x + 1, last)));
}
)",
    R"(
out vec4 colour;
void main() {
  int i = chroma_at(ivec2(gl_FragCoord.xy));
  colour = bytes(chroma_sample(i), chroma_sample(i + 1));
}
)",
};

}  // namespace

Result<const MemoryObjectPass::Program*> MemoryObjectPass::program(MemoryObjectForm form,
                                                                   Output output) {
  Program& program = programs_[static_cast<size_t>(form)][output];
  if (!program.shader) {
    const bool buffer = form == MemoryObjectForm::Buffer;
    auto made =
        ShaderPass::create(thread_, gl_,
                           {.fragment = std::string(buffer ? kBufferSamples : kTextureSamples) +
                                        kPlaces + kMain[output],
                            .samplers = {"luma_samples", "chroma_samples"},
                            .extensions = {},
                            .gles_version = buffer ? "320 es" : "300 es"});
    if (!made) return made.error();
    program.shader = std::move(*made);
    program.start = program.shader->uniform("start");
    program.pitch = program.shader->uniform("pitch");
    program.last = program.shader->uniform("last");
    program.highest = program.shader->uniform("highest");
    program.rows = program.shader->uniform("rows");
  }
  return static_cast<const Program*>(&program);
}

Status MemoryObjectPass::draw(const MemoryObjectPicture& picture, Output output,
                              const ShaderPass::Target& target, const video::YuvToRgb* matrix,
                              const std::function<void()>& read_back) {
  const auto ready = program(picture.form(), output);
  if (!ready) return ready.error();
  const Program& with = **ready;
  const GLenum kind =
      picture.form() == MemoryObjectForm::Buffer ? GL_TEXTURE_BUFFER : GL_TEXTURE_2D;
  const MemoryObjectPicture::Plane& luma = picture.plane(0);
  const MemoryObjectPicture::Plane& chroma = picture.plane(1);
  const std::array inputs = {ShaderPass::Input{.target = kind, .texture = luma.texture},
                             ShaderPass::Input{.target = kind, .texture = chroma.texture}};
  const ShaderFunctions& gl = *gl_->shaders;
  // What a shader does not use has the place -1, and setting that is no error.
  return with.shader->draw(
      target, inputs,
      [&] {
        gl.Uniform2i(with.start, luma.start, chroma.start);
        gl.Uniform2i(with.pitch, luma.pitch, chroma.pitch);
        gl.Uniform1i(with.last, static_cast<GLint>(picture.width()) - 1);
        gl.Uniform1f(with.highest, picture.fourcc() == format::kP010 ? 65535.0f : 255.0f);
        if (matrix) gl.Uniform4fv(with.rows, 3, (*matrix)[0].data());
      },
      read_back);
}

Status MemoryObjectPass::draw_plane(const MemoryObjectPicture& picture, uint32_t plane,
                                    GLuint target) {
  return draw(picture, plane == 0 ? Luma : Chroma,
              {.texture = target,
               .width = plane == 0 ? picture.width() : (picture.width() + 1) / 2,
               .height = video::plane_rows(plane, picture.height())},
              nullptr, {});
}

Status MemoryObjectPass::draw_rgb(const MemoryObjectPicture& picture, GLuint target,
                                  const video::YuvToRgb& matrix) {
  return draw(picture, Rgb,
              {.texture = target, .width = picture.width(), .height = picture.height()},
              &matrix, {});
}

Status MemoryObjectPass::draw_bytes(const MemoryObjectPicture& picture, uint32_t plane,
                                    GLuint target, const std::function<void()>& read_back) {
  return draw(picture, plane == 0 ? LumaBytes : ChromaBytes,
              {.texture = target,
               .width = bytes_width(picture),
               .height = video::plane_rows(plane, picture.height())},
              nullptr, read_back);
}

}  // namespace dxva::gl
