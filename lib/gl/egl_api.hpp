// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/gl/gl_api.hpp"

namespace dxva::gl {

// EGLImages from dma-bufs, and textures from EGLImages: everything that takes, or the Reason
// why this context has none of it. GL-thread only.
struct DmabufImportApi {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLint(EGLAPIENTRYP GetError)() = nullptr;
  PFNEGLCREATEIMAGEKHRPROC CreateImage = nullptr;
  PFNEGLDESTROYIMAGEKHRPROC DestroyImage = nullptr;

  // EGL_EXT_image_dma_buf_import_modifiers; both or none.
  PFNEGLQUERYDMABUFFORMATSEXTPROC QueryFormats = nullptr;
  PFNEGLQUERYDMABUFMODIFIERSEXTPROC QueryModifiers = nullptr;

  using TargetTexture = void (*)(GLenum target, void* image);
  using TargetStorage = void (*)(GLenum target, void* image, const GLint* attributes);
  TargetTexture ImageTargetTexture2D = nullptr;  // GL_OES_EGL_image
  // GL_EXT_EGL_image_storage: immutable textures, the only form NVIDIA has on desktop GL. Mesa
  // is exact with either, so it is the first choice and not the rule.
  TargetStorage ImageTargetTexStorage = nullptr;
  // Shaders may sample GL_TEXTURE_EXTERNAL_OES, and ImageTargetTexture2D can fill one.
  bool samples_external = false;

  [[nodiscard]] bool has_modifiers() const { return QueryModifiers != nullptr; }
};

// `egl` finds EGL's functions (eglGetProcAddress), `gl_proc` GL's. `display` is that of the
// context current on this thread; EGL_NO_DISPLAY under GLX, where no EGL function may be
// called.
[[nodiscard]] Result<DmabufImportApi> load_dmabuf_import(EGLDisplay display,
                                                         const ProcAddress& egl,
                                                         const GlApi& gl,
                                                         const ProcAddress& gl_proc);

// EGL fences: unlike GL's they can be waited for in a thread without a context.
struct EglFenceApi {
  EGLDisplay display = EGL_NO_DISPLAY;
  PFNEGLCREATESYNCKHRPROC CreateSync = nullptr;
  PFNEGLDESTROYSYNCKHRPROC DestroySync = nullptr;
  PFNEGLCLIENTWAITSYNCKHRPROC ClientWaitSync = nullptr;
  PFNEGLRELEASETHREADPROC ReleaseThread = nullptr;  // null where it is not to be had
};
[[nodiscard]] std::optional<EglFenceApi> load_egl_fence(EGLDisplay display,
                                                        const ProcAddress& egl);

// Fences of others that the GPU waits for, EGL_ANDROID_native_fence_sync: all of it or nothing.
struct NativeFenceApi {
  EGLDisplay display = EGL_NO_DISPLAY;
  PFNEGLCREATESYNCKHRPROC CreateSync = nullptr;
  PFNEGLDESTROYSYNCKHRPROC DestroySync = nullptr;
  PFNEGLWAITSYNCKHRPROC WaitSync = nullptr;
};
[[nodiscard]] std::optional<NativeFenceApi> load_native_fence(EGLDisplay display,
                                                              const ProcAddress& egl);
// What the context does from here on waits in the GPU until the sync_file, which is lent, has
// signalled; the caller does not wait. False when EGL does not take it. GL-thread only.
[[nodiscard]] bool wait_in_gpu(const NativeFenceApi& api, int sync_file);

// What EGL says it imports: DRM fourccs with their modifiers. A driver without
// the modifiers extension says nothing; then only linear memory, passed without a modifier, is
// tried.
class ImportFormats {
 public:
  struct Format {
    uint32_t fourcc = 0;
    std::vector<uint64_t> modifiers;      // as GL_TEXTURE_2D
    std::vector<uint64_t> external_only;  // as GL_TEXTURE_EXTERNAL_OES alone
  };
  enum class Sampling { None, Texture2D, External };

  [[nodiscard]] static ImportFormats query(const DmabufImportApi& api);
  [[nodiscard]] static ImportFormats of(std::vector<Format> formats);

  // False when the driver could not be asked.
  [[nodiscard]] bool known() const { return known_; }
  // As GL_TEXTURE_2D.
  [[nodiscard]] bool lists(uint32_t fourcc, uint64_t modifier) const;
  [[nodiscard]] Sampling sampling(uint32_t fourcc, uint64_t modifier) const;
  // Every modifier listed for `fourcc`; nothing when unknown.
  [[nodiscard]] std::vector<uint64_t> all_modifiers(uint32_t fourcc) const;
  // Modifiers that both planes of `fourcc` (NV12, P010) can have; linear alone when unknown.
  [[nodiscard]] std::vector<uint64_t> common_modifiers(uint32_t luma, uint32_t chroma) const;

 private:
  bool known_ = false;
  std::vector<Format> formats_;
};

}  // namespace dxva::gl
