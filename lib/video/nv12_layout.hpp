// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Describes a two-plane 4:2:0 image (NV12, P010) in bytes and proves that it fits its memory.
// Pure: no device, no descriptor is touched; all numbers are taken as hostile. Whoever wants to
// hand a buffer to a driver, or to map it, asks here first, because drivers do not check
// (llvmpipe reads neighbouring memory or dies at the next draw).

#include <array>
#include <cstdint>

#include "lib/base/buffer_identity.hpp"
#include "lib/base/result.hpp"

namespace dxva::video {

inline constexpr uint32_t kMaxPlanes = 4;
inline constexpr uint32_t kMaxDimension = 16384;         // pixels, above any decoder's limit
inline constexpr uint64_t kMaxPitchBytes = 1024 * 1024;  // 16384 RGBA pixels, with room to pad

struct PlaneDescription {
  uint32_t object = 0;       // index into objects
  uint64_t offset = 0;       // bytes from the object's start
  uint64_t pitch_bytes = 0;  // from row to row
  uint32_t format = 0;  // DRM fourcc of this plane alone: R8, GR88, R16, GR1616; 0 = not told
};

struct ObjectDescription {
  uint64_t size_bytes = 0;  // measured (lseek), not what somebody said
  BufferIdentity identity;  // equal for dups of one buffer
  uint64_t modifier = 0;    // DRM format modifier
};

struct ImageDescription {
  uint32_t fourcc = 0;  // DRM fourcc of the whole image
  uint32_t width = 0;   // pixels
  uint32_t height = 0;
  uint32_t object_count = 0;
  uint32_t plane_count = 0;
  std::array<ObjectDescription, kMaxPlanes> objects{};
  std::array<PlaneDescription, kMaxPlanes> planes{};
};

enum class LayoutClass {
  TightLinear,  // one buffer, chroma right below luma, equal pitches: one tall image can hold
                // it
  Linear,       // rows of pixels, anywhere
  Tiled,        // only a driver that knows `modifier` can read it
};

struct Layout {
  LayoutClass layout_class = LayoutClass::Linear;
  uint64_t modifier = 0;
};

enum class LayoutRule {
  Any,
  TightLinear,  // the exact rule of Wine's DXVA2 zero-copy path; each broken part has its
                // Reason
};

// What kind of image this is, or the Reason why it is none that `rule` allows.
[[nodiscard]] Result<Layout> classify(const ImageDescription& image, LayoutRule rule);

// Bytes of a row of `plane` without padding, and its rows; odd sizes round chroma up.
// `fourcc` is NV12 or P010, plane is 0 or 1.
[[nodiscard]] uint64_t plane_row_bytes(uint32_t fourcc, uint32_t plane, uint32_t width);
[[nodiscard]] uint32_t plane_rows(uint32_t plane, uint32_t height);

}  // namespace dxva::video
