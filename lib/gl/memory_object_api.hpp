// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/device_uuids.hpp"
#include "lib/base/result.hpp"
#include "lib/gl/gl_api.hpp"

namespace dxva::gl {

// How imported memory is read. No driver takes both: NVIDIA's texture is block-linear whatever
// is asked for, llvmpipe's buffer texture needs a newer Mesa.
enum class MemoryObjectForm : uint8_t {
  Buffer,   // a buffer object under a buffer texture: pitch and offsets are the shader's
            // business
  Texture,  // one tall texture of single samples, as wide as the pitch: tight linear memory
            // only
};
inline constexpr size_t kMemoryObjectForms = 2;
[[nodiscard]] const char* form_name(MemoryObjectForm form);  // "buffer", "texture"

// GL_EXT_memory_object_fd: everything that takes, or the Reason why this context has none of
// it. GL-thread only.
struct MemoryObjectApi {
  DeviceUuids uuids;         // memory of these may be imported, and of nobody else
  bool has_buffers = false;  // buffer textures: GL 3.1 or GLES 3.2
  GLint max_buffer_texels = 0;

  PFNGLCREATEMEMORYOBJECTSEXTPROC CreateMemoryObjects = nullptr;
  PFNGLDELETEMEMORYOBJECTSEXTPROC DeleteMemoryObjects = nullptr;
  PFNGLIMPORTMEMORYFDEXTPROC ImportMemoryFd = nullptr;
  PFNGLTEXSTORAGEMEM2DEXTPROC TexStorageMem2D = nullptr;
  // has_buffers
  PFNGLBUFFERSTORAGEMEMEXTPROC BufferStorageMem = nullptr;
  PFNGLTEXBUFFERPROC TexBuffer = nullptr;
  PFNGLGENBUFFERSPROC GenBuffers = nullptr;
  PFNGLDELETEBUFFERSPROC DeleteBuffers = nullptr;
  PFNGLBUFFERDATAPROC BufferData = nullptr;
  PFNGLCOPYBUFFERSUBDATAPROC CopyBufferSubData = nullptr;
  PFNGLMAPBUFFERRANGEPROC MapBufferRange = nullptr;
  PFNGLUNMAPBUFFERPROC UnmapBuffer = nullptr;
  // The self-test reads what was drawn.
  decltype(&::glReadPixels) ReadPixels = nullptr;
};

[[nodiscard]] Result<MemoryObjectApi> load_memory_object(const GlApi& gl,
                                                         const ProcAddress& proc);

}  // namespace dxva::gl
