// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/memory_objects.hpp"

#include <optional>
#include <utility>

#include "lib/base/log.hpp"
#include "lib/base/test_switch.hpp"

namespace dxva::gst {
namespace {

// Memory of the context's own device, from Vulkan. The device is opened for the first block,
// which takes NVIDIA a tenth of a second, and left in `kept` for the next.
gl::TestMemorySource memory_of(const DeviceUuids& uuids,
                               std::shared_ptr<std::shared_ptr<vulkan::MemoryExporter>> kept) {
  return [uuids, kept = std::move(kept)](uint64_t size_bytes) -> Result<gl::TestMemory> {
    if (!*kept) {
      auto opened = vulkan::MemoryExporter::open(uuids);
      if (!opened) return opened.error();
      *kept = std::move(*opened);
    }
    auto block = (*kept)->allocate(size_bytes, vulkan::Placement::Host);
    if (!block) return block.error();
    auto fd = (*block)->share_fd();
    if (!fd) return fd.error();
    gl::TestMemory out{
        .data = (*block)->data(), .size_bytes = (*block)->size_bytes(), .fd = std::move(*fd)};
    out.owner = std::shared_ptr<vulkan::ExportableMemory>(std::move(*block));
    return out;
  };
}

}  // namespace

MemoryObjects::MemoryObjects(std::shared_ptr<gl::GlThread> thread,
                             std::shared_ptr<const gl::GlApi> gl,
                             const gl::MemoryObjectApi& api)
    : importer_(thread, gl, api),
      pass_(thread, gl),
      self_test_(thread, gl, importer_, memory_of(api.uuids, exporter_)) {}

Result<std::unique_ptr<MemoryObjects>> MemoryObjects::create(
    std::shared_ptr<gl::GlThread> thread, std::shared_ptr<const gl::GlApi> gl,
    const gl::ProcAddress& proc) {
  const auto api = gl::load_memory_object(*gl, proc);
  if (!api) return api.error();
  // The same gate as for dma-bufs: an upload is as fast there.
  if (gl->facts.software && !test_switch().software_import)
    return refusal(Reason::SoftwareRenderer, gl->facts.renderer);
  return std::unique_ptr<MemoryObjects>(
      new MemoryObjects(std::move(thread), std::move(gl), *api));
}

Result<gl::Source> MemoryObjects::import(const gl::OpaqueRequest& request) {
  auto imported = import_as_tested(request);
  exporter_->reset();
  return imported;
}

Result<gl::Source> MemoryObjects::import_as_tested(const gl::OpaqueRequest& request) {
  std::optional<Error> first;
  for (const auto form : {gl::MemoryObjectForm::Buffer, gl::MemoryObjectForm::Texture}) {
    Status trusted = self_test_.verdict(request.image.fourcc, form,
                                        request.image.planes[0].pitch_bytes, pass_);
    if (trusted) {
      auto picture = importer_.import(request, form);
      if (picture) return gl::Source(std::move(*picture));
      trusted = picture.error();
    }
    DXVA_DEBUG(Gl, "not as a %s: %s", gl::form_name(form), trusted.error().describe().c_str());
    if (!first) first = trusted.error();
  }
  return std::move(*first);
}

Result<gl::Source> MemoryObjects::import(const gl::ImportRequest& request) const {
  const gl::OpaqueRequest dmabufs{.kind = gl::OpaqueRequest::Kind::Dmabuf,
                                  .image = request.image,
                                  .fds = request.fds,
                                  .uuids = {}};
  auto picture = importer_.import(dmabufs, gl::MemoryObjectForm::Buffer);
  if (!picture) picture = importer_.import(dmabufs, gl::MemoryObjectForm::Texture);
  if (!picture) return picture.error();
  return gl::Source(std::move(*picture));
}

}  // namespace dxva::gst
