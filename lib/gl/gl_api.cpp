// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/gl_api.hpp"

#include <cstdio>
#include <cstring>

namespace dxva::gl {
namespace {

std::string text_of(decltype(&::glGetString) get_string, GLenum name) {
  const GLubyte* text = get_string(name);
  return text ? reinterpret_cast<const char*>(text) : "";
}

// "4.5 (Core Profile) Mesa 25.0.7", "OpenGL ES 3.2 Mesa …", "OpenGL ES-CM 1.1 …"
void parse_version(const std::string& text, ContextFacts& facts) {
  facts.gles = text.starts_with("OpenGL ES");
  const size_t digit = text.find_first_of("0123456789");
  if (digit == std::string::npos) return;
  std::sscanf(text.c_str() + digit, "%d.%d", &facts.major, &facts.minor);
}

std::string list_extensions(const ProcAddress& proc, decltype(&::glGetString) get_string,
                            decltype(&::glGetIntegerv) get_integer, const ContextFacts& facts) {
  PFNGLGETSTRINGIPROC get_stringi = nullptr;
  // A core context refuses the one long string with GL_INVALID_ENUM.
  if (facts.major < 3 || !proc.load(get_stringi, "glGetStringi"))
    return " " + text_of(get_string, GL_EXTENSIONS) + " ";
  GLint count = 0;
  get_integer(GL_NUM_EXTENSIONS, &count);
  std::string all = " ";
  for (GLint i = 0; i < count; ++i) {
    const GLubyte* name = get_stringi(GL_EXTENSIONS, static_cast<GLuint>(i));
    if (name) all.append(reinterpret_cast<const char*>(name)).push_back(' ');
  }
  return all;
}

bool is_software(const std::string& renderer) {
  for (const char* name :
       {"llvmpipe", "softpipe", "swrast", "Software Rasterizer", "SwiftShader"})
    if (renderer.find(name) != std::string::npos) return true;
  return false;
}

std::optional<ShaderFunctions> load_shaders(const ProcAddress& proc,
                                            const ContextFacts& facts) {
  if (facts.gles ? !facts.at_least(3, 0) : !facts.at_least(3, 2)) return std::nullopt;
  ShaderFunctions out;
  const bool all =
      proc.load(out.DrawArrays, "glDrawArrays") && proc.load(out.Viewport, "glViewport") &&
      proc.load(out.ReadPixels, "glReadPixels") && proc.load(out.Enable, "glEnable") &&
      proc.load(out.Disable, "glDisable") && proc.load(out.IsEnabled, "glIsEnabled") &&
      proc.load(out.ActiveTexture, "glActiveTexture") &&
      proc.load(out.CreateShader, "glCreateShader") &&
      proc.load(out.ShaderSource, "glShaderSource") &&
      proc.load(out.CompileShader, "glCompileShader") &&
      proc.load(out.GetShaderiv, "glGetShaderiv") &&
      proc.load(out.GetShaderInfoLog, "glGetShaderInfoLog") &&
      proc.load(out.DeleteShader, "glDeleteShader") &&
      proc.load(out.CreateProgram, "glCreateProgram") &&
      proc.load(out.AttachShader, "glAttachShader") &&
      proc.load(out.LinkProgram, "glLinkProgram") &&
      proc.load(out.GetProgramiv, "glGetProgramiv") &&
      proc.load(out.UseProgram, "glUseProgram") &&
      proc.load(out.DeleteProgram, "glDeleteProgram") &&
      proc.load(out.GetUniformLocation, "glGetUniformLocation") &&
      proc.load(out.Uniform1i, "glUniform1i") && proc.load(out.Uniform2i, "glUniform2i") &&
      proc.load(out.Uniform1f, "glUniform1f") && proc.load(out.Uniform4fv, "glUniform4fv") &&
      proc.load(out.GenFramebuffers, "glGenFramebuffers") &&
      proc.load(out.DeleteFramebuffers, "glDeleteFramebuffers") &&
      proc.load(out.BindFramebuffer, "glBindFramebuffer") &&
      proc.load(out.FramebufferTexture2D, "glFramebufferTexture2D") &&
      proc.load(out.CheckFramebufferStatus, "glCheckFramebufferStatus") &&
      proc.load(out.GenVertexArrays, "glGenVertexArrays") &&
      proc.load(out.DeleteVertexArrays, "glDeleteVertexArrays") &&
      proc.load(out.BindVertexArray, "glBindVertexArray");
  return all ? std::optional(out) : std::nullopt;
}

std::optional<SyncFunctions> load_sync(const ProcAddress& proc, const GlApi& gl) {
  const bool listed = (gl.facts.gles ? gl.facts.at_least(3, 0) : gl.facts.at_least(3, 2)) ||
                      gl.has("GL_ARB_sync");
  SyncFunctions out;
  if (!listed || !proc.load(out.FenceSync, "glFenceSync") ||
      !proc.load(out.ClientWaitSync, "glClientWaitSync") ||
      !proc.load(out.DeleteSync, "glDeleteSync"))
    return std::nullopt;
  return out;
}

std::optional<UnpackBufferFunctions> load_unpack_buffers(const ProcAddress& proc,
                                                         const GlApi& gl) {
  const ContextFacts& facts = gl.facts;
  UnpackBufferFunctions out;
  if (!gl.BindBuffer || !facts.at_least(3, 0) || !proc.load(out.GenBuffers, "glGenBuffers") ||
      !proc.load(out.DeleteBuffers, "glDeleteBuffers") ||
      !proc.load(out.BufferData, "glBufferData") ||
      !proc.load(out.MapBufferRange, "glMapBufferRange") ||
      !proc.load(out.UnmapBuffer, "glUnmapBuffer"))
    return std::nullopt;
  if (facts.gles) {
    if (gl.has("GL_EXT_buffer_storage"))
      (void)proc.load(out.BufferStorage, "glBufferStorageEXT");
  } else if (facts.at_least(4, 4) || gl.has("GL_ARB_buffer_storage")) {
    (void)proc.load(out.BufferStorage, "glBufferStorage");
  }
  return out;
}

}  // namespace

bool GlApi::has(std::string_view extension) const {
  std::string framed = " ";
  framed.append(extension).push_back(' ');
  return extensions.find(framed) != std::string::npos;
}

std::optional<GlApi> load_gl(const ProcAddress& proc) {
  GlApi gl;
  decltype(&::glGetString) get_string = nullptr;
  decltype(&::glGetIntegerv) get_integer = nullptr;
  if (!proc.load(get_string, "glGetString") || !proc.load(get_integer, "glGetIntegerv") ||
      !proc.load(gl.GetError, "glGetError") || !proc.load(gl.GenTextures, "glGenTextures") ||
      !proc.load(gl.DeleteTextures, "glDeleteTextures") ||
      !proc.load(gl.BindTexture, "glBindTexture") ||
      !proc.load(gl.TexImage2D, "glTexImage2D") ||
      !proc.load(gl.TexSubImage2D, "glTexSubImage2D") ||
      !proc.load(gl.TexParameteri, "glTexParameteri") ||
      !proc.load(gl.PixelStorei, "glPixelStorei") || !proc.load(gl.Flush, "glFlush") ||
      !proc.load(gl.Finish, "glFinish"))
    return std::nullopt;

  ContextFacts& facts = gl.facts;
  parse_version(text_of(get_string, GL_VERSION), facts);
  facts.vendor = text_of(get_string, GL_VENDOR);
  facts.renderer = text_of(get_string, GL_RENDERER);
  facts.software = is_software(facts.renderer);
  get_integer(GL_MAX_TEXTURE_SIZE, &facts.max_texture_size);
  gl.extensions = list_extensions(proc, get_string, get_integer, facts);
  facts.row_length = !facts.gles || facts.at_least(3, 0) || gl.has("GL_EXT_unpack_subimage");
  facts.norm16 = !facts.gles || gl.has("GL_EXT_texture_norm16");

  if (!facts.gles || facts.at_least(3, 0)) (void)proc.load(gl.BindBuffer, "glBindBuffer");
  gl.shaders = load_shaders(proc, facts);
  gl.sync = load_sync(proc, gl);
  gl.unpack_buffers = load_unpack_buffers(proc, gl);
  return gl;
}

}  // namespace dxva::gl
