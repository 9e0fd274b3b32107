// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/producer_fences.hpp"

#include <gst/allocators/gstdmabuf.h>

#include "gst/common/finished_memory.hpp"
#include "lib/base/log.hpp"
#include "lib/base/trace.hpp"
#include "lib/dmabuf/identity.hpp"
#include "lib/dmabuf/sync_file.hpp"

namespace dxva::gst {
namespace {

// A fence that does not signal is a device that hangs, and the kernel's matter; the picture is
// shown as it is, as by everybody who does not wait.
void wait_and_tell(int fd) {
  const trace::Timed wait(trace::Stage::Wait);
  if (auto waited = dmabuf::wait_for_fence(fd); !waited)
    DXVA_WARNING(Gl, "the producer may not be done: %s", waited.error().describe().c_str());
}

}  // namespace

ProducerFences ProducerFences::of(GstBuffer* buffer) {
  ProducerFences out;
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    if (is_finished(memory) || !gst_is_dmabuf_memory(memory)) continue;
    const int fd = gst_dmabuf_memory_get_fd(memory);
    // A pipe that passes for a dma-buf is never ready. It is told apart when it matters only.
    if (dmabuf::write_pending(fd) && dmabuf::inspect(fd)) out.pending_.push_back(fd);
  }
  return out;
}

void ProducerFences::wait() {
  for (const int fd : pending_) wait_and_tell(fd);
}

void ProducerFences::prepare(const std::optional<gl::NativeFenceApi>& gpu) {
  for (const int fd : pending_) {
    auto fence = gpu ? dmabuf::export_write_fence(fd)
                     : Result<UniqueFd>(Error{.code = ErrorCode::Unsupported});
    if (fence)
      sync_files_.push_back(std::move(*fence));
    else
      wait_and_tell(fd);
  }
}

void ProducerFences::wait_in_gl(const std::optional<gl::NativeFenceApi>& gpu) {
  for (const UniqueFd& fence : sync_files_)
    if (!gl::wait_in_gpu(*gpu, fence.get())) wait_and_tell(fence.get());
}

}  // namespace dxva::gst
