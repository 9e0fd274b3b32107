// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/shader_pass.hpp"

#include <array>

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

// What another element may have switched on and would show in our picture.
constexpr std::array<GLenum, 5> kSwitches = {GL_BLEND, GL_CULL_FACE, GL_DEPTH_TEST,
                                             GL_SCISSOR_TEST, GL_STENCIL_TEST};

Result<GLuint> compile(const ShaderFunctions& gl, GLenum kind, const std::string& head,
                       const char* body) {
  const std::array<const char*, 2> parts = {head.c_str(), body};
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

std::string head_of(const ShaderPass::Source& source, bool gles) {
  // ES has no default precision for fragment floats, and mediump cannot hold 10-bit video.
  return std::string("#version ") + (gles ? source.gles_version : source.gl_version) + "\n" +
         source.extensions +
         (gles ? "precision highp float;\nprecision highp int;\nprecision highp sampler2D;\n"
               : "");
}

}  // namespace

Result<std::unique_ptr<ShaderPass>> ShaderPass::create(std::shared_ptr<GlThread> thread,
                                                       std::shared_ptr<const GlApi> gl,
                                                       const Source& source) {
  if (!gl->shaders)
    return Error{.code = ErrorCode::Unsupported, .text = "no GL 3.2 or GLES 3.0 shaders"};
  std::unique_ptr<ShaderPass> pass(new ShaderPass(std::move(thread), std::move(gl)));
  if (auto built = pass->build(source); !built) return built.error();
  return pass;
}

Status ShaderPass::build(const Source& source) {
  const ShaderFunctions& gl = *gl_->shaders;
  const std::string head = head_of(source, gl_->facts.gles);
  const Result<GLuint> vertex = compile(gl, GL_VERTEX_SHADER, head, kVertexShader);
  if (!vertex) return vertex.error();
  const Result<GLuint> fragment =
      compile(gl, GL_FRAGMENT_SHADER, head, source.fragment.c_str());
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
  for (size_t unit = 0; unit < source.samplers.size(); ++unit)
    gl.Uniform1i(uniform(source.samplers[unit]), static_cast<GLint>(unit));
  gl.UseProgram(0);
  gl.GenVertexArrays(1, &vertex_array_);
  gl.GenFramebuffers(1, &framebuffer_);
  return Done{};
}

ShaderPass::~ShaderPass() {
  if (program_ == 0) return;
  thread_->run([this] {
    const ShaderFunctions& gl = *gl_->shaders;
    gl.DeleteProgram(program_);
    if (vertex_array_ != 0) gl.DeleteVertexArrays(1, &vertex_array_);
    if (framebuffer_ != 0) gl.DeleteFramebuffers(1, &framebuffer_);
  });
}

GLint ShaderPass::uniform(const char* name) const {
  return gl_->shaders->GetUniformLocation(program_, name);
}

void ShaderPass::draw_triangle(const Target& target, std::span<const Input> inputs,
                               const std::function<void()>& set_uniforms) const {
  const ShaderFunctions& gl = *gl_->shaders;
  std::array<bool, kSwitches.size()> was_on{};
  for (size_t i = 0; i < kSwitches.size(); ++i) {
    was_on[i] = gl.IsEnabled(kSwitches[i]) == GL_TRUE;
    if (was_on[i]) gl.Disable(kSwitches[i]);
  }
  gl.Viewport(0, 0, static_cast<GLsizei>(target.width), static_cast<GLsizei>(target.height));
  gl.UseProgram(program_);
  if (set_uniforms) set_uniforms();
  // Downwards, so that unit 0 is the active one at the end.
  for (size_t unit = inputs.size(); unit-- > 0;) {
    gl.ActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
    gl_->BindTexture(inputs[unit].target, inputs[unit].texture);
  }
  gl.BindVertexArray(vertex_array_);
  gl.DrawArrays(GL_TRIANGLES, 0, 3);
  gl.BindVertexArray(0);
  for (size_t unit = inputs.size(); unit-- > 0;) {
    gl.ActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
    gl_->BindTexture(inputs[unit].target, 0);
  }
  gl.UseProgram(0);
  for (size_t i = 0; i < kSwitches.size(); ++i)
    if (was_on[i]) gl.Enable(kSwitches[i]);
}

Status ShaderPass::draw(const Target& target, std::span<const Input> inputs,
                        const std::function<void()>& set_uniforms,
                        const std::function<void()>& read_back) const {
  const ShaderFunctions& gl = *gl_->shaders;
  gl_->clear_errors();
  gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target.texture,
                          0);
  const bool complete = gl.CheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
  if (complete) {
    draw_triangle(target, inputs, set_uniforms);
    if (read_back) read_back();
  }
  // The target may be deleted or used elsewhere next: it must not stay attached.
  gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, 0, 0);
  gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
  const GLenum error = gl_->GetError();
  if (complete && error == GL_NO_ERROR) return Done{};
  return Error{.code = ErrorCode::Failed,
               .call = "ShaderPass::draw",
               .native = static_cast<long>(error),
               .text = complete ? "" : "the target cannot be drawn into",
               .reason = Reason::GlError};
}

}  // namespace dxva::gl
