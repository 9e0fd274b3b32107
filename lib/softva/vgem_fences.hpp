// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "lib/base/result.hpp"
#include "lib/base/unique_fd.hpp"

namespace dxva::softva {

// Fences of the kernel on dma-bufs, as a GPU's driver puts one there for each job
// (DXVASOFT_FENCES=vgem). A CPU can signal no fence of its own; vgem, the kernel's device for
// tests, makes some that a program signals by hand (linux drivers/gpu/drm/vgem/vgem_fence.c).
// Its fences signal by themselves after ten seconds. Thread-safe.
class VgemFences {
 public:
  // Unsupported: no node of the driver vgem that this user may open.
  [[nodiscard]] static Result<std::shared_ptr<VgemFences>> open();

  // From construction to destruction the dma-bufs are being written, for all who ask the
  // kernel.
  class Writing {
   public:
    Writing(std::shared_ptr<VgemFences> fences, uint32_t fence)
        : fences_(std::move(fences)), fence_(fence) {}
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;
    ~Writing() { fences_->signal(fence_); }

   private:
    const std::shared_ptr<VgemFences> fences_;
    const uint32_t fence_;
  };
  [[nodiscard]] static Result<std::unique_ptr<Writing>> write(
      const std::shared_ptr<VgemFences>& fences, std::span<const int> dmabufs);

 private:
  explicit VgemFences(UniqueFd node) : node_(std::move(node)) {}
  void signal(uint32_t fence) const;

  const UniqueFd node_;
};

}  // namespace dxva::softva
