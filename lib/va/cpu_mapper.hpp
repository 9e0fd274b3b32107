// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <memory>
#include <span>
#include <vector>

#include "lib/base/fastest.hpp"
#include "lib/base/result.hpp"
#include "lib/dmabuf/external_frame.hpp"
#include "lib/va/display.hpp"
#include "lib/video/frame_view.hpp"
#include "lib/video/streaming_copy.hpp"

namespace dxva::va {

// A surface's pixels for the CPU, as long as this lives. Keep the surface and display alive
// longer.
class SurfaceMapping {
 public:
  SurfaceMapping(SurfaceMapping&&) noexcept;
  SurfaceMapping& operator=(SurfaceMapping&&) noexcept;
  ~SurfaceMapping();
  [[nodiscard]] const video::FrameView& view() const;
  // The image that the view lies in; empty: it is a map of exported memory.
  [[nodiscard]] std::span<const uint8_t> image() const;
  // What to copy the planes with: the mapping is one of a way that is fast with it.
  [[nodiscard]] video::PlaneCopy plane_copy() const;
  // The caller has copied the whole picture with plane_copy(): the time since the call that
  // made this counts in the choice of the way. False: that was made already.
  bool whole_picture_copied();

  // The way of this mapping, and how all of them stand for pictures like it; for `stats`.
  [[nodiscard]] const char* way_name() const;
  [[nodiscard]] std::vector<NamedStanding> standings() const;

  // Not for callers.
  struct State;
  explicit SurfaceMapping(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

// Whether the driver has said already that the picture is there.
enum class Written { NotAsked, Yes };

// Waits for the surface, if need be, and gives its pixels in one of three ways: an image that
// the driver derives, a copy by vaGetImage, and, where `exported` is the surface's memory and
// linear, a map of that. Which one is fastest is measured on the first pictures, for each
// format and layout of a display (docs/design/copies.md); derived images and maps are compared
// with vaGetImage's before they are believed, and a way that fails makes place for another.
// `fourcc` is a DRM one; width and height are the surface's, pixels. The view's planes are
// checked to lie inside their memory.
[[nodiscard]] Result<SurfaceMapping> map_for_read(
    const std::shared_ptr<Display>& display, VASurfaceID surface, uint32_t fourcc,
    uint32_t width, uint32_t height,
    std::shared_ptr<const dmabuf::ExternalFrame> exported = nullptr,
    Written written = Written::NotAsked);

// The same for somebody who reads the image where it lies, by plain loads, and then needs no
// copy: an image that was derived, where copies by plain loads keep up with the fastest ones,
// or vaGetImage's, where that is the fastest. Unsupported: else, and as long as
// map_for_read()'s choice for pictures like this one, which only copies bring about, is open.
// Mapped, it is not a turn of that choice.
[[nodiscard]] Result<SurfaceMapping> map_for_read_in_place(
    const std::shared_ptr<Display>& display, VASurfaceID surface, uint32_t fourcc,
    uint32_t width, uint32_t height, const dmabuf::ExternalFrame* exported = nullptr,
    Written written = Written::NotAsked);

}  // namespace dxva::va
