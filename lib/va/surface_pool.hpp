// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// VA surfaces as decode targets. vaCreateContext wants the whole list before the first picture,
// so they are made up front.

#include <va/va.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/surface/pool.hpp"
#include "lib/va/display.hpp"
#include "lib/va/surface.hpp"

namespace dxva::va {

// As of surface::Lease.
using SurfaceLease = std::shared_ptr<Surface>;

// What a pool's surfaces are for.
enum class SurfaceUse : uint8_t {
  Decoding,  // the driver is told nothing: not every one that decodes knows usage hints
  Copies,    // written by the video processor or vaCopy, and exported
};

// Thread-safe.
class SurfacePool final : public surface::Pool {
 public:
  struct Config {
    uint32_t fourcc = 0;  // DRM: NV12, P010
    uint32_t width = 0;   // pixels, coded size
    uint32_t height = 0;
    uint32_t count = 0;
    // What the memory may be laid out as, best first; empty: as the driver likes. A wish: some
    // drivers take the list and do not read it, so only an export tells.
    std::vector<uint64_t> modifiers;
    SurfaceUse use = SurfaceUse::Decoding;
    friend bool operator==(const Config&, const Config&) = default;
  };
  // Refusals: FormatUnsupported. A driver that takes no list of modifiers is an error too.
  [[nodiscard]] static Result<std::shared_ptr<SurfacePool>> create(
      std::shared_ptr<Display> display, const Config& config);

  // A late surface is not in the context's list, which every driver seen accepts.
  [[nodiscard]] Result<SurfaceLease> acquire();
  [[nodiscard]] bool device_is_lost() const override;

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] const std::shared_ptr<Display>& display() const { return display_; }
  [[nodiscard]] std::vector<VASurfaceID> ids() const;

 private:
  SurfacePool(std::shared_ptr<Display> display, const Config& config)
      : Pool(config.count), display_(std::move(display)), config_(config) {}
  [[nodiscard]] Status make_surfaces(uint32_t count) override;

  const std::shared_ptr<Display> display_;
  const Config config_;
};

}  // namespace dxva::va
