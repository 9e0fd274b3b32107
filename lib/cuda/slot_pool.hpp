// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "lib/base/result.hpp"
#include "lib/cuda/slot.hpp"
#include "lib/surface/pool.hpp"

namespace dxva::cuda {

// Slots, made when they are needed: how many downstream keeps is not known before.
// Thread-safe.
class SlotPool final : public surface::Pool {
 public:
  struct Config {
    uint32_t fourcc = 0;  // DRM: NV12, P010
    uint32_t width = 0;   // pixels; rounded up to even numbers
    uint32_t height = 0;
    uint32_t count = 0;
  };
  [[nodiscard]] static std::shared_ptr<SlotPool> create(std::shared_ptr<Stream> stream,
                                                        const Config& config);

  // A free slot, and the copy of `from` into it begun. The picture is in the slot when its
  // sync() says so; a lease that ends before waits for that. Errors of Pool::acquire(), and
  // NoMemory when the device has none.
  [[nodiscard]] Result<surface::Lease> copy(Slot::Source from);
  [[nodiscard]] bool device_is_lost() const override;

  [[nodiscard]] const SlotLayout& layout() const { return layout_; }
  [[nodiscard]] const std::shared_ptr<Stream>& stream() const { return stream_; }

 private:
  SlotPool(std::shared_ptr<Stream> stream, const Config& config)
      : Pool(config.count),
        stream_(std::move(stream)),
        layout_(SlotLayout::of(config.fourcc, config.width, config.height)) {}
  [[nodiscard]] Status make_surfaces(uint32_t count) override;

  const std::shared_ptr<Stream> stream_;
  const SlotLayout layout_;
  // The last whose copy was begun: one source at a time is kept from the decoder.
  std::weak_ptr<surface::Surface> last_;
};

}  // namespace dxva::cuda
