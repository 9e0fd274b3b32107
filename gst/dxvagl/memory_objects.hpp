// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "gst/dxvagl/gst_gl_thread.hpp"
#include "lib/base/device_uuids.hpp"
#include "lib/base/result.hpp"
#include "lib/gl/egl_importer.hpp"
#include "lib/gl/imported.hpp"
#include "lib/gl/memory_object_importer.hpp"
#include "lib/gl/memory_object_pass.hpp"
#include "lib/gl/memory_object_self_test.hpp"
#include "lib/vulkan/memory_exporter.hpp"

namespace dxva::gst {

// Opaque memory in one GL context: which forms its driver was seen to show rightly, and imports
// in those. GL-thread only, but for what says otherwise and for its deletion.
class MemoryObjects {
 public:
  // Refusals: MemoryObjectUnsupported, SoftwareRenderer.
  [[nodiscard]] static Result<std::unique_ptr<MemoryObjects>> create(
      std::shared_ptr<gl::GlThread> thread, std::shared_ptr<const gl::GlApi> gl,
      const gl::ProcAddress& proc);

  // Whose memory is taken; any thread.
  [[nodiscard]] const DeviceUuids& uuids() const { return importer_.api().uuids; }

  // In the first form that takes the layout and has passed the self-test, which runs now when
  // it has not run for the likes of this.
  [[nodiscard]] Result<gl::Source> import(const gl::OpaqueRequest& request);

  // Dma-bufs, where the driver is known to take them; any thread. Whether they are shown
  // rightly is for the caller to compare: there is no test memory of that kind.
  [[nodiscard]] bool takes_dmabufs() const { return importer_.takes_dmabufs(); }
  [[nodiscard]] Result<gl::Source> import(const gl::ImportRequest& request) const;

  [[nodiscard]] gl::MemoryObjectPass& pass() { return pass_; }

 private:
  MemoryObjects(std::shared_ptr<gl::GlThread> thread, std::shared_ptr<const gl::GlApi> gl,
                const gl::MemoryObjectApi& api);

  [[nodiscard]] Result<gl::Source> import_as_tested(const gl::OpaqueRequest& request);

  gl::MemoryObjectImporter importer_;
  gl::MemoryObjectPass pass_;
  // Open only while the self-test runs.
  const std::shared_ptr<std::shared_ptr<vulkan::MemoryExporter>> exporter_ =
      std::make_shared<std::shared_ptr<vulkan::MemoryExporter>>();
  gl::MemoryObjectSelfTest self_test_;
};

}  // namespace dxva::gst
