// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// lib/gl turns frames of file descriptors, or pixels in memory, into OpenGL textures. It knows
// no GLib and links no GL: the embedding program says how functions are found (ProcAddress) and
// how a job gets onto the thread whose context is current (GlThread). From there: EglImporter
// makes textures of descriptors, ImportCache keeps them, TextureUploader copies pixels into
// textures of a TexturePool, an UploadRing lends memory that GL reads by itself, Nv12Pass draws
// RGBA, ReleaseQueue says when the GPU has read the last of it.

#include <GL/gl.h>
#include <GL/glext.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dxva::gl {

// Where functions come from. `get` may return a pointer for names the driver does not have
// (Mesa's eglGetProcAddress does), so a pointer proves nothing: ask the extension list first.
struct ProcAddress {
  void* (*get)(void* user, const char* name) = nullptr;
  void* user = nullptr;

  template <typename Function>
  [[nodiscard]] bool load(Function& out, const char* name) const {
    out = reinterpret_cast<Function>(get(user, name));
    return out != nullptr;
  }
};

// What the current context is. Asked once: every glGet is a round trip on some drivers.
struct ContextFacts {
  bool gles = false;
  int major = 0;
  int minor = 0;
  std::string vendor;
  std::string renderer;
  GLint max_texture_size = 0;
  bool software = false;    // a rasteriser on the CPU (llvmpipe, softpipe, swrast)
  bool row_length = false;  // GL_UNPACK_ROW_LENGTH
  bool norm16 = false;      // R16 and RG16 textures; GLES needs GL_EXT_texture_norm16

  [[nodiscard]] bool at_least(int wanted_major, int wanted_minor) const {
    return major > wanted_major || (major == wanted_major && minor >= wanted_minor);
  }
};

// Drawing into a texture with a shader: GL 3.2 or GLES 3.0, all of it or nothing.
struct ShaderFunctions {
  decltype(&::glDrawArrays) DrawArrays = nullptr;
  decltype(&::glViewport) Viewport = nullptr;
  decltype(&::glReadPixels) ReadPixels = nullptr;
  decltype(&::glEnable) Enable = nullptr;
  decltype(&::glDisable) Disable = nullptr;
  decltype(&::glIsEnabled) IsEnabled = nullptr;
  PFNGLACTIVETEXTUREPROC ActiveTexture = nullptr;
  PFNGLCREATESHADERPROC CreateShader = nullptr;
  PFNGLSHADERSOURCEPROC ShaderSource = nullptr;
  PFNGLCOMPILESHADERPROC CompileShader = nullptr;
  PFNGLGETSHADERIVPROC GetShaderiv = nullptr;
  PFNGLGETSHADERINFOLOGPROC GetShaderInfoLog = nullptr;
  PFNGLDELETESHADERPROC DeleteShader = nullptr;
  PFNGLCREATEPROGRAMPROC CreateProgram = nullptr;
  PFNGLATTACHSHADERPROC AttachShader = nullptr;
  PFNGLLINKPROGRAMPROC LinkProgram = nullptr;
  PFNGLGETPROGRAMIVPROC GetProgramiv = nullptr;
  PFNGLUSEPROGRAMPROC UseProgram = nullptr;
  PFNGLDELETEPROGRAMPROC DeleteProgram = nullptr;
  PFNGLGETUNIFORMLOCATIONPROC GetUniformLocation = nullptr;
  PFNGLUNIFORM1IPROC Uniform1i = nullptr;
  PFNGLUNIFORM2IPROC Uniform2i = nullptr;
  PFNGLUNIFORM1FPROC Uniform1f = nullptr;
  PFNGLUNIFORM4FVPROC Uniform4fv = nullptr;
  PFNGLGENFRAMEBUFFERSPROC GenFramebuffers = nullptr;
  PFNGLDELETEFRAMEBUFFERSPROC DeleteFramebuffers = nullptr;
  PFNGLBINDFRAMEBUFFERPROC BindFramebuffer = nullptr;
  PFNGLFRAMEBUFFERTEXTURE2DPROC FramebufferTexture2D = nullptr;
  PFNGLCHECKFRAMEBUFFERSTATUSPROC CheckFramebufferStatus = nullptr;
  PFNGLGENVERTEXARRAYSPROC GenVertexArrays = nullptr;
  PFNGLDELETEVERTEXARRAYSPROC DeleteVertexArrays = nullptr;
  PFNGLBINDVERTEXARRAYPROC BindVertexArray = nullptr;
};

// GL's own fences: GL 3.2, GLES 3.0 or GL_ARB_sync.
struct SyncFunctions {
  PFNGLFENCESYNCPROC FenceSync = nullptr;
  PFNGLCLIENTWAITSYNCPROC ClientWaitSync = nullptr;
  PFNGLDELETESYNCPROC DeleteSync = nullptr;
};

// Buffer objects that pixels are unpacked from: GL 3.0, GLES 3.0. Storage that stays mapped
// while the GPU reads it needs GL 4.4, GL_ARB_buffer_storage or GL_EXT_buffer_storage.
struct UnpackBufferFunctions {
  PFNGLGENBUFFERSPROC GenBuffers = nullptr;
  PFNGLDELETEBUFFERSPROC DeleteBuffers = nullptr;
  PFNGLBUFFERDATAPROC BufferData = nullptr;
  PFNGLMAPBUFFERRANGEPROC MapBufferRange = nullptr;
  PFNGLUNMAPBUFFERPROC UnmapBuffer = nullptr;
  PFNGLBUFFERSTORAGEPROC BufferStorage = nullptr;  // null: no persistent mapping
};

// The functions this library calls, by their names without "gl". GL-thread only.
struct GlApi {
  ContextFacts facts;

  decltype(&::glGetError) GetError = nullptr;
  decltype(&::glGenTextures) GenTextures = nullptr;
  decltype(&::glDeleteTextures) DeleteTextures = nullptr;
  decltype(&::glBindTexture) BindTexture = nullptr;
  decltype(&::glTexImage2D) TexImage2D = nullptr;
  decltype(&::glTexSubImage2D) TexSubImage2D = nullptr;
  decltype(&::glTexParameteri) TexParameteri = nullptr;
  decltype(&::glPixelStorei) PixelStorei = nullptr;
  decltype(&::glFlush) Flush = nullptr;
  decltype(&::glFinish) Finish = nullptr;
  PFNGLBINDBUFFERPROC BindBuffer = nullptr;  // may be null before GL 2.1

  std::optional<ShaderFunctions> shaders;
  std::optional<SyncFunctions> sync;
  std::optional<UnpackBufferFunctions> unpack_buffers;

  // The context's error queue is shared with everything else on this thread: glimagesink
  // without a framebuffer leaves 0x506 on each frame. Reading a stranger's error as ours
  // refused 90 of 96 imports, so the queue is emptied before the calls whose result is asked.
  // Bounded, because a lost context may report errors for ever.
  void clear_errors() const {
    for (int i = 0; i < 64 && GetError() != GL_NO_ERROR; ++i) {
    }
  }

  [[nodiscard]] bool has(std::string_view extension) const;

  std::string extensions;  // separated and framed by blanks
};

// Needs the context current on this thread. Nothing when one of the basic functions is missing.
[[nodiscard]] std::optional<GlApi> load_gl(const ProcAddress& proc);

// The thread whose context is current. Thread-safe; called by destructors, so it outlives
// everything in this folder.
class GlThread {
 public:
  virtual ~GlThread() = default;
  // Runs `job` with the context current and returns when it is done. On the GL thread itself it
  // runs at once.
  virtual void run(const std::function<void()>& job) = 0;
  // Whether the caller is that thread.
  [[nodiscard]] virtual bool is_current() const = 0;
};

}  // namespace dxva::gl
