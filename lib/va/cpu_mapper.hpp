// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <memory>

#include "lib/base/result.hpp"
#include "lib/va/display.hpp"
#include "lib/video/frame_view.hpp"

namespace dxva::va {

// A surface's pixels for the CPU, as long as this lives. Keep the surface and display alive
// longer.
class SurfaceMapping {
 public:
  SurfaceMapping(SurfaceMapping&&) noexcept;
  SurfaceMapping& operator=(SurfaceMapping&&) noexcept;
  ~SurfaceMapping();
  [[nodiscard]] const video::FrameView& view() const;

 private:
  friend Result<SurfaceMapping> map_for_read(const std::shared_ptr<Display>&, VASurfaceID,
                                             uint32_t, uint32_t, uint32_t);
  struct State;
  explicit SurfaceMapping(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Waits for the surface, then derives an image, or where the driver cannot (or derives
// something that is no linear `fourcc`), copies it out with vaGetImage. `fourcc` is a DRM one;
// width and height are the surface's, pixels. The view's planes are checked to lie inside the
// image's buffer.
[[nodiscard]] Result<SurfaceMapping> map_for_read(const std::shared_ptr<Display>& display,
                                                  VASurfaceID surface, uint32_t fourcc,
                                                  uint32_t width, uint32_t height);

}  // namespace dxva::va
