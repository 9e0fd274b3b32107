// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "gst/dxvagl/dmabuf_offer.hpp"
#include "gst/dxvagl/gst_gl_thread.hpp"
#include "gst/dxvagl/memory_objects.hpp"
#include "gst/dxvagl/memory_watch.hpp"
#include "lib/base/result.hpp"
#include "lib/gl/egl_importer.hpp"
#include "lib/gl/import_cache.hpp"
#include "lib/gl/nv12_pass.hpp"
#include "lib/gl/plane_comparison.hpp"
#include "lib/gl/release_queue.hpp"
#include "lib/gl/self_tests.hpp"
#include "lib/gl/texture_pool.hpp"
#include "lib/gl/upload_ring.hpp"
#include "lib/gl/whole_image.hpp"

namespace dxva::gst {

// What one element has in one GL context. Shared by the element and by every buffer that it has
// sent out, because those may live on after the element has stopped: textures deleted in
// gl_stop made the frames that an application kept read back wrong.
class GlSession {
 public:
  // Looks at the context once; GL-thread only. Null when it lacks the basic functions.
  [[nodiscard]] static std::shared_ptr<GlSession> create(GstGLContext* context);
  GlSession(std::shared_ptr<GstGlThread> thread, std::shared_ptr<const gl::GlApi> api,
            const gl::ProcAddress& egl, const gl::ProcAddress& gl_proc);
  GlSession(const GlSession&) = delete;
  GlSession& operator=(const GlSession&) = delete;

  [[nodiscard]] GstGLContext* context() const { return thread_->context(); }
  [[nodiscard]] const gl::GlApi& api() const { return *api_; }
  [[nodiscard]] gl::GlThread& thread() const { return *thread_; }

  // A DRM node of the GPU that draws; empty: none, or it is not known.
  [[nodiscard]] const std::string& drm_node() const { return drm_node_; }
  // Under GLX no dma-buf becomes a texture, whatever the driver.
  [[nodiscard]] bool is_glx() const { return is_glx_; }

  // Nothing where the GPU cannot wait for others' fences.
  [[nodiscard]] const std::optional<gl::NativeFenceApi>& native_fence() const {
    return native_fence_;
  }

  // Null when this context imports nothing, and then why.
  [[nodiscard]] const gl::EglImporter* importer() const {
    return importer_ ? &*importer_ : nullptr;
  }
  // Null with the importer.
  [[nodiscard]] const gl::WholeImageImporter* whole_images() const {
    return whole_images_ ? &*whole_images_ : nullptr;
  }
  [[nodiscard]] Reason import_refusal() const { return import_refusal_; }
  // Null when this context takes no opaque memory, and then why.
  [[nodiscard]] MemoryObjects* memory_objects() const { return memory_objects_.get(); }
  [[nodiscard]] Reason memory_object_refusal() const { return memory_object_refusal_; }
  // What caps may promise to import.
  [[nodiscard]] const DmabufOffers& offers() const { return offers_; }

  // Compiled at first use; GL-thread only.
  [[nodiscard]] Result<const gl::Nv12Pass*> pass();
  [[nodiscard]] Result<const gl::WholeImagePass*> whole_image_pass(GLenum target);
  [[nodiscard]] Result<const gl::PlaneComparison*> comparison();

  [[nodiscard]] const std::shared_ptr<gl::ImportCache>& cache() { return cache_; }
  // Of imports; streaming thread only.
  [[nodiscard]] gl::SelfTests& self_tests() { return self_tests_; }
  [[nodiscard]] gl::TexturePool& pool() { return pool_; }
  // Owns itself: its slots outlive the session with whoever has one. Null: GL has none.
  // GL-thread only.
  [[nodiscard]] std::shared_ptr<gl::UploadRing> make_upload_ring(uint64_t slot_bytes,
                                                                 uint32_t count) const {
    return gl::UploadRing::create(thread_, api_, slot_bytes, count);
  }
  [[nodiscard]] gl::ReleaseQueue& releases() { return releases_; }
  [[nodiscard]] MemoryWatch& watch() { return watch_; }

 private:
  void set_up_import(const gl::ProcAddress& egl, const gl::ProcAddress& gl_proc);
  void set_up_memory_objects(const gl::ProcAddress& gl_proc);

  // The order is that of need: what is above is used by the destructors of what is below.
  const std::shared_ptr<GstGlThread> thread_;
  const std::shared_ptr<const gl::GlApi> api_;
  const bool is_glx_;
  EGLDisplay display_ = EGL_NO_DISPLAY;
  const std::string drm_node_;
  gl::ReleaseQueue releases_;
  const std::optional<gl::NativeFenceApi> native_fence_;
  std::optional<gl::EglImporter> importer_;
  std::optional<gl::WholeImageImporter> whole_images_;
  Reason import_refusal_ = Reason::None;
  std::unique_ptr<MemoryObjects> memory_objects_;
  Reason memory_object_refusal_ = Reason::None;
  DmabufOffers offers_;
  // Apart, because memories that die tell it so, and must not hold the whole session for that.
  std::shared_ptr<gl::ImportCache> cache_ = std::make_shared<gl::ImportCache>();
  gl::TexturePool pool_;
  std::unique_ptr<gl::Nv12Pass> pass_;
  std::map<GLenum, std::unique_ptr<gl::WholeImagePass>> whole_image_passes_;
  std::unique_ptr<gl::PlaneComparison> comparison_;
  gl::SelfTests self_tests_;
  MemoryWatch watch_;
};

}  // namespace dxva::gst
