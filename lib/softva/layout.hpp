// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/softva/format.hpp"

namespace dxva::softva {

inline constexpr uint32_t kMaxObjects = 4;  // what a PRIME 2 descriptor holds

// How a surface's planes lie in memory. Real drivers differ in exactly this, so tests ask for
// each (DXVASOFT_LAYOUT).
enum class LayoutKind : uint8_t {
  Tight,       // one object, chroma right after the luma rows
  Padded,      // longer rows and more of them than the picture has
  Gap,         // chroma on a later page, at no multiple of the pitch
  TwoObjects,  // every plane in memory of its own
  DupFds,      // tight, but exported as one object per plane with two descriptors of one buffer
  OddPitch,    // rows of an odd number of samples
  Composed,    // tight, and exported as one layer even when separate ones were asked for
  Tiled,       // whole tiles, see tiling.hpp
};
[[nodiscard]] std::optional<LayoutKind> layout_kind(std::string_view name);

struct PlaneLayout {
  uint32_t object;
  uint32_t offset;  // bytes, in its object
  uint32_t pitch;   // bytes
};

struct SurfaceLayout {
  const Format* format = nullptr;
  uint32_t width = 0;  // pixels
  uint32_t height = 0;
  std::array<PlaneLayout, kMaxPlanes> planes{};
  uint32_t object_count = 0;
  std::array<uint64_t, kMaxObjects> object_bytes{};  // whole pages
  bool object_per_plane_on_export = false;           // LayoutKind::DupFds
  bool always_composed = false;                      // LayoutKind::Composed
  bool whole_tiles = false;  // LayoutKind::Tiled: there is room for them
  bool tiled = false;        // … and the memory starts that way
};

// Pure. BadInput: the size is 0 or does not fit 32-bit offsets.
[[nodiscard]] Result<SurfaceLayout> plan_layout(const Format& format, uint32_t width,
                                                uint32_t height, LayoutKind kind,
                                                uint32_t pitch_align);

}  // namespace dxva::softva
