// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/egl_api.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/base/unique_fd.hpp"

namespace dxva::gl {
namespace {

// Far above any driver's list; a driver that answers more is not believed.
constexpr EGLint kMaxListed = 1024;

bool listed(const char* extensions, std::string_view name) {
  const std::string framed = " " + std::string(extensions ? extensions : "") + " ";
  return framed.find(" " + std::string(name) + " ") != std::string::npos;
}

bool contains(const std::vector<uint64_t>& all, uint64_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

const char* extensions_of(EGLDisplay display, const ProcAddress& egl) {
  decltype(&::eglQueryString) query = nullptr;
  if (display == EGL_NO_DISPLAY || !egl.load(query, "eglQueryString")) return nullptr;
  return query(display, EGL_EXTENSIONS);
}

}  // namespace

Result<DmabufImportApi> load_dmabuf_import(EGLDisplay display, const ProcAddress& egl,
                                           const GlApi& gl, const ProcAddress& gl_proc) {
  if (display == EGL_NO_DISPLAY) return refusal(Reason::NoEgl, "the context is not EGL's");
  const char* extensions = extensions_of(display, egl);
  if (!extensions) return refusal(Reason::NoEgl, "eglQueryString answers nothing");

  DmabufImportApi api{.display = display};
  const auto missing = [](const char* what) {
    return refusal(Reason::NoImportExtension, what);
  };
  if (!listed(extensions, "EGL_KHR_image_base") && !listed(extensions, "EGL_KHR_image"))
    return missing("EGL_KHR_image_base");
  if (!listed(extensions, "EGL_EXT_image_dma_buf_import"))
    return missing("EGL_EXT_image_dma_buf_import");
  if (!egl.load(api.GetError, "eglGetError") ||
      !egl.load(api.CreateImage, "eglCreateImageKHR") ||
      !egl.load(api.DestroyImage, "eglDestroyImageKHR"))
    return missing("eglCreateImageKHR");

  if (listed(extensions, "EGL_EXT_image_dma_buf_import_modifiers")) {
    if (!egl.load(api.QueryFormats, "eglQueryDmaBufFormatsEXT") ||
        !egl.load(api.QueryModifiers, "eglQueryDmaBufModifiersEXT"))
      api.QueryFormats = nullptr, api.QueryModifiers = nullptr;
  }

  if (gl.has("GL_OES_EGL_image"))
    (void)gl_proc.load(api.ImageTargetTexture2D, "glEGLImageTargetTexture2DOES");
  if (gl.has("GL_EXT_EGL_image_storage") && !gl.facts.gles)
    (void)gl_proc.load(api.ImageTargetTexStorage, "glEGLImageTargetTexStorageEXT");
  if (!api.ImageTargetTexture2D && !api.ImageTargetTexStorage)
    return missing("GL_OES_EGL_image and GL_EXT_EGL_image_storage");
  api.samples_external =
      api.ImageTargetTexture2D &&
      gl.has(gl.facts.gles ? "GL_OES_EGL_image_external_essl3" : "GL_OES_EGL_image_external");
  return api;
}

std::optional<EglFenceApi> load_egl_fence(EGLDisplay display, const ProcAddress& egl) {
  const char* extensions = extensions_of(display, egl);
  EglFenceApi api{.display = display};
  if (!extensions || !listed(extensions, "EGL_KHR_fence_sync") ||
      !egl.load(api.CreateSync, "eglCreateSyncKHR") ||
      !egl.load(api.DestroySync, "eglDestroySyncKHR") ||
      !egl.load(api.ClientWaitSync, "eglClientWaitSyncKHR"))
    return std::nullopt;
  (void)egl.load(api.ReleaseThread, "eglReleaseThread");
  return api;
}

std::optional<NativeFenceApi> load_native_fence(EGLDisplay display, const ProcAddress& egl) {
  const char* extensions = extensions_of(display, egl);
  NativeFenceApi api{.display = display};
  if (!extensions || !listed(extensions, "EGL_ANDROID_native_fence_sync") ||
      !listed(extensions, "EGL_KHR_wait_sync") ||
      !egl.load(api.CreateSync, "eglCreateSyncKHR") ||
      !egl.load(api.DestroySync, "eglDestroySyncKHR") ||
      !egl.load(api.WaitSync, "eglWaitSyncKHR"))
    return std::nullopt;
  return api;
}

bool wait_in_gpu(const NativeFenceApi& api, int sync_file) {
  // EGL takes the descriptor; ours is still needed when the wait is refused.
  UniqueFd given = UniqueFd::duplicate(sync_file);
  if (!given.valid()) return false;
  const EGLint attributes[] = {EGL_SYNC_NATIVE_FENCE_FD_ANDROID, given.get(), EGL_NONE};
  const EGLSyncKHR sync =
      api.CreateSync(api.display, EGL_SYNC_NATIVE_FENCE_ANDROID, attributes);
  if (sync == EGL_NO_SYNC_KHR) return false;
  (void)given.release();
  const bool waits = api.WaitSync(api.display, sync, 0) == EGL_TRUE;
  api.DestroySync(api.display, sync);
  return waits;
}

ImportFormats ImportFormats::query(const DmabufImportApi& api) {
  ImportFormats out;
  if (!api.has_modifiers()) return out;
  EGLint count = 0;
  if (!api.QueryFormats(api.display, 0, nullptr, &count) || count <= 0 || count > kMaxListed)
    return out;
  std::vector<EGLint> fourccs(static_cast<size_t>(count), 0);
  if (!api.QueryFormats(api.display, count, fourccs.data(), &count)) return out;
  fourccs.resize(static_cast<size_t>(std::clamp<EGLint>(count, 0, fourccs.size())));

  for (const EGLint fourcc_value : fourccs) {
    EGLint modifier_count = 0;
    if (!api.QueryModifiers(api.display, fourcc_value, 0, nullptr, nullptr, &modifier_count) ||
        modifier_count <= 0 || modifier_count > kMaxListed)
      continue;
    // llvmpipe does not write external_only for R8, GR88 and NV12: what was not written must
    // read as false, so both arrays start at zero.
    std::vector<EGLuint64KHR> modifiers(static_cast<size_t>(modifier_count), 0);
    std::vector<EGLBoolean> external_only(static_cast<size_t>(modifier_count), EGL_FALSE);
    if (!api.QueryModifiers(api.display, fourcc_value, modifier_count, modifiers.data(),
                            external_only.data(), &modifier_count))
      continue;
    Format format{.fourcc = static_cast<uint32_t>(fourcc_value)};
    const size_t written =
        static_cast<size_t>(std::clamp<EGLint>(modifier_count, 0, modifiers.size()));
    for (size_t i = 0; i < written; ++i)
      (external_only[i] ? format.external_only : format.modifiers).push_back(modifiers[i]);
    out.formats_.push_back(std::move(format));
  }
  out.known_ = true;
  return out;
}

ImportFormats ImportFormats::of(std::vector<Format> formats) {
  ImportFormats out;
  out.known_ = true;
  out.formats_ = std::move(formats);
  return out;
}

bool ImportFormats::lists(uint32_t fourcc_value, uint64_t modifier) const {
  if (!known_) return modifier == kModifierLinear || modifier == kModifierInvalid;
  for (const Format& format : formats_) {
    if (format.fourcc != fourcc_value) continue;
    // "None given" leaves the layout to the driver; any listed format has that form.
    if (modifier == kModifierInvalid) return !format.modifiers.empty();
    return contains(format.modifiers, modifier);
  }
  return false;
}

ImportFormats::Sampling ImportFormats::sampling(uint32_t fourcc_value,
                                                uint64_t modifier) const {
  if (lists(fourcc_value, modifier)) return Sampling::Texture2D;
  for (const Format& format : formats_)
    if (format.fourcc == fourcc_value && contains(format.external_only, modifier))
      return Sampling::External;
  return Sampling::None;
}

std::vector<uint64_t> ImportFormats::all_modifiers(uint32_t fourcc_value) const {
  std::vector<uint64_t> out;
  for (const Format& format : formats_) {
    if (format.fourcc != fourcc_value) continue;
    out.insert(out.end(), format.modifiers.begin(), format.modifiers.end());
    out.insert(out.end(), format.external_only.begin(), format.external_only.end());
  }
  return out;
}

std::vector<uint64_t> ImportFormats::common_modifiers(uint32_t luma, uint32_t chroma) const {
  if (!known_) return {kModifierLinear};
  std::vector<uint64_t> out;
  for (const Format& format : formats_) {
    if (format.fourcc != luma) continue;
    for (const uint64_t modifier : format.modifiers)
      if (lists(chroma, modifier)) out.push_back(modifier);
  }
  return out;
}

}  // namespace dxva::gl
