// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/memory_object_api.hpp"

namespace dxva::gl {
namespace {

bool load_buffers(const GlApi& gl, const ProcAddress& proc, MemoryObjectApi& out) {
  const bool listed = gl.facts.gles ? gl.facts.at_least(3, 2) : gl.facts.at_least(3, 1);
  return listed && gl.BindBuffer && proc.load(out.BufferStorageMem, "glBufferStorageMemEXT") &&
         proc.load(out.TexBuffer, "glTexBuffer") && proc.load(out.GenBuffers, "glGenBuffers") &&
         proc.load(out.DeleteBuffers, "glDeleteBuffers") &&
         proc.load(out.BufferData, "glBufferData") &&
         proc.load(out.CopyBufferSubData, "glCopyBufferSubData") &&
         proc.load(out.MapBufferRange, "glMapBufferRange") &&
         proc.load(out.UnmapBuffer, "glUnmapBuffer");
}

}  // namespace

const char* form_name(MemoryObjectForm form) {
  return form == MemoryObjectForm::Buffer ? "buffer" : "texture";
}

Result<MemoryObjectApi> load_memory_object(const GlApi& gl, const ProcAddress& proc) {
  if (!gl.has("GL_EXT_memory_object") || !gl.has("GL_EXT_memory_object_fd") || !gl.shaders)
    return refusal(Reason::MemoryObjectUnsupported, "no GL_EXT_memory_object_fd");
  MemoryObjectApi out;
  PFNGLGETUNSIGNEDBYTEVEXTPROC get_bytes = nullptr;
  PFNGLGETUNSIGNEDBYTEI_VEXTPROC get_indexed_bytes = nullptr;
  decltype(&::glGetIntegerv) get_integer = nullptr;
  if (!proc.load(get_bytes, "glGetUnsignedBytevEXT") ||
      !proc.load(get_indexed_bytes, "glGetUnsignedBytei_vEXT") ||
      !proc.load(get_integer, "glGetIntegerv") ||
      !proc.load(out.CreateMemoryObjects, "glCreateMemoryObjectsEXT") ||
      !proc.load(out.DeleteMemoryObjects, "glDeleteMemoryObjectsEXT") ||
      !proc.load(out.ImportMemoryFd, "glImportMemoryFdEXT") ||
      !proc.load(out.TexStorageMem2D, "glTexStorageMem2DEXT") ||
      !proc.load(out.ReadPixels, "glReadPixels"))
    return refusal(Reason::MemoryObjectUnsupported, "GL_EXT_memory_object_fd lacks functions");
  gl.clear_errors();
  // A context on several linked devices lists more than one; memory would have to be on all.
  GLint devices = 0;
  get_integer(GL_NUM_DEVICE_UUIDS_EXT, &devices);
  get_indexed_bytes(GL_DEVICE_UUID_EXT, 0, out.uuids.device.data());
  get_bytes(GL_DRIVER_UUID_EXT, out.uuids.driver.data());
  if (devices != 1 || gl.GetError() != GL_NO_ERROR || out.uuids == DeviceUuids{})
    return refusal(Reason::MemoryObjectUnsupported,
                   "the context does not say which device it is");
  out.has_buffers = load_buffers(gl, proc, out);
  if (out.has_buffers) get_integer(GL_MAX_TEXTURE_BUFFER_SIZE, &out.max_buffer_texels);
  return out;
}

}  // namespace dxva::gl
