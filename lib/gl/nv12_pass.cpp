// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/nv12_pass.hpp"

#include <array>
#include <string>

namespace dxva::gl {
namespace {

// One triangle that covers the target; its corners come from the vertex number, so no buffer is
// needed.
constexpr const char* kVertexShader = R"(
void main() {
  vec2 corner = vec2(float((gl_VertexID & 1) << 2), float((gl_VertexID & 2) << 1));
  gl_Position = vec4(corner - 1.0, 0.0, 1.0);
}
)";

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

// What another element may have switched on and would show in our picture.
constexpr std::array<GLenum, 5> kSwitches = {GL_BLEND, GL_CULL_FACE, GL_DEPTH_TEST,
                                             GL_SCISSOR_TEST, GL_STENCIL_TEST};

Result<GLuint> compile(const ShaderFunctions& gl, GLenum kind, bool gles, const char* body) {
  // ES has no default precision for fragment floats, and mediump cannot hold 10-bit video.
  const char* head = gles ? "#version 300 es\nprecision highp float;\nprecision highp int;\n"
                            "precision highp sampler2D;\n"
                          : "#version 150\n";
  const std::array<const char*, 2> parts = {head, body};
  const GLuint shader = gl.CreateShader(kind);
  gl.ShaderSource(shader, static_cast<GLsizei>(parts.size()), parts.data(), nullptr);
  gl.CompileShader(shader);
  GLint ok = GL_FALSE;
  gl.GetShaderiv(shader, GL_COMPILE_STATUS, &ok);
  if (ok == GL_TRUE) return shader;
  std::array<char, 512> text{};
  gl.GetShaderInfoLog(shader, text.size(), nullptr, text.data());
  gl.DeleteShader(shader);
  return Error{.code = ErrorCode::Unsupported,
               .call = "glCompileShader",
               .text = text.data(),
               .reason = Reason::GlError};
}

}  // namespace

Result<std::unique_ptr<Nv12Pass>> Nv12Pass::create(std::shared_ptr<GlThread> thread,
                                                   std::shared_ptr<const GlApi> gl) {
  if (!gl->shaders)
    return Error{.code = ErrorCode::Unsupported, .text = "no GL 3.2 or GLES 3.0 shaders"};
  std::unique_ptr<Nv12Pass> pass(new Nv12Pass(std::move(thread), std::move(gl)));
  if (auto built = pass->build(); !built) return built.error();
  return pass;
}

Status Nv12Pass::build() {
  const ShaderFunctions& gl = *gl_->shaders;
  const bool gles = gl_->facts.gles;
  const Result<GLuint> vertex = compile(gl, GL_VERTEX_SHADER, gles, kVertexShader);
  if (!vertex) return vertex.error();
  const Result<GLuint> fragment = compile(gl, GL_FRAGMENT_SHADER, gles, kFragmentShader);
  if (!fragment) {
    gl.DeleteShader(*vertex);
    return fragment.error();
  }
  program_ = gl.CreateProgram();
  gl.AttachShader(program_, *vertex);
  gl.AttachShader(program_, *fragment);
  gl.LinkProgram(program_);
  gl.DeleteShader(*vertex);
  gl.DeleteShader(*fragment);
  GLint ok = GL_FALSE;
  gl.GetProgramiv(program_, GL_LINK_STATUS, &ok);
  if (ok != GL_TRUE)
    return Error{.code = ErrorCode::Unsupported,
                 .call = "glLinkProgram",
                 .text = {},
                 .reason = Reason::GlError};
  gl.UseProgram(program_);
  gl.Uniform1i(gl.GetUniformLocation(program_, "luma"), 0);
  gl.Uniform1i(gl.GetUniformLocation(program_, "chroma"), 1);
  gl.UseProgram(0);
  rows_uniform_ = gl.GetUniformLocation(program_, "rows");
  gl.GenVertexArrays(1, &vertex_array_);
  gl.GenFramebuffers(1, &framebuffer_);
  return Done{};
}

Nv12Pass::~Nv12Pass() {
  if (program_ == 0) return;
  thread_->run([this] {
    const ShaderFunctions& gl = *gl_->shaders;
    gl.DeleteProgram(program_);
    if (vertex_array_ != 0) gl.DeleteVertexArrays(1, &vertex_array_);
    if (framebuffer_ != 0) gl.DeleteFramebuffers(1, &framebuffer_);
  });
}

Status Nv12Pass::draw(const Picture& picture, const video::YuvToRgb& matrix) const {
  const ShaderFunctions& gl = *gl_->shaders;
  gl_->clear_errors();
  gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, picture.target,
                          0);
  const bool complete = gl.CheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
  if (complete) {
    std::array<bool, kSwitches.size()> was_on{};
    for (size_t i = 0; i < kSwitches.size(); ++i) {
      was_on[i] = gl.IsEnabled(kSwitches[i]) == GL_TRUE;
      if (was_on[i]) gl.Disable(kSwitches[i]);
    }
    gl.Viewport(0, 0, static_cast<GLsizei>(picture.width),
                static_cast<GLsizei>(picture.height));
    gl.UseProgram(program_);
    gl.Uniform4fv(rows_uniform_, 3, matrix[0].data());
    gl.ActiveTexture(GL_TEXTURE1);
    gl_->BindTexture(GL_TEXTURE_2D, picture.chroma);
    gl.ActiveTexture(GL_TEXTURE0);
    gl_->BindTexture(GL_TEXTURE_2D, picture.luma);
    gl.BindVertexArray(vertex_array_);
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    gl.BindVertexArray(0);
    gl_->BindTexture(GL_TEXTURE_2D, 0);
    gl.ActiveTexture(GL_TEXTURE1);
    gl_->BindTexture(GL_TEXTURE_2D, 0);
    gl.ActiveTexture(GL_TEXTURE0);
    gl.UseProgram(0);
    for (size_t i = 0; i < kSwitches.size(); ++i)
      if (was_on[i]) gl.Enable(kSwitches[i]);
  }
  // The target may be deleted or used elsewhere next: it must not stay attached.
  gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, 0, 0);
  gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
  const GLenum error = gl_->GetError();
  if (complete && error == GL_NO_ERROR) return Done{};
  return Error{.code = ErrorCode::Failed,
               .call = "Nv12Pass::draw",
               .native = static_cast<long>(error),
               .text = complete ? "" : "the target cannot be drawn into",
               .reason = Reason::GlError};
}

}  // namespace dxva::gl
