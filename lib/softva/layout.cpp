// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/layout.hpp"

#include <algorithm>

#include "lib/base/checked.hpp"
#include "lib/softva/tiling.hpp"

namespace dxva::softva {
namespace {

constexpr uint64_t kPage = 4096;         // udmabuf and dma-heap deal in pages
constexpr uint32_t kPaddedRows = 32;     // LayoutKind::Padded: what tiled hardware rounds to
constexpr uint32_t kMaxPitch = 1 << 20;  // above this a pitch is a mistake

// Any alignment, powers of two or not.
uint64_t round_up(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

// Where the next plane starts for LayoutKind::Gap: on a later page, and never a whole number of
// rows away, which importers that see all planes as one tall picture would need.
uint64_t after_gap(uint64_t end, uint64_t pitch, uint32_t sample_bytes) {
  const uint64_t start = round_up(end, kPage) + kPage;
  return start % pitch ? start : start + round_up(pitch / 2, sample_bytes);
}

}  // namespace

std::optional<LayoutKind> layout_kind(std::string_view name) {
  if (name == "tight") return LayoutKind::Tight;
  if (name == "padded") return LayoutKind::Padded;
  if (name == "gap") return LayoutKind::Gap;
  if (name == "two-objects") return LayoutKind::TwoObjects;
  if (name == "dup-fds") return LayoutKind::DupFds;
  if (name == "odd-pitch") return LayoutKind::OddPitch;
  if (name == "composed") return LayoutKind::Composed;
  if (name == "tiled") return LayoutKind::Tiled;
  return std::nullopt;
}

Result<SurfaceLayout> plan_layout(const Format& format, uint32_t width, uint32_t height,
                                  LayoutKind kind, uint32_t pitch_align) {
  const Error too_large{
      .code = ErrorCode::BadInput, .call = "plan_layout", .reason = Reason::SizeOutOfRange};
  if (width == 0 || height == 0 || width > kMaxPitch || height > kMaxPitch) return too_large;

  SurfaceLayout layout{.format = &format, .width = width, .height = height};
  layout.object_per_plane_on_export = kind == LayoutKind::DupFds;
  layout.always_composed = kind == LayoutKind::Composed;
  layout.whole_tiles = layout.tiled = kind == LayoutKind::Tiled;

  // One pitch for all planes: chroma rows of an odd width are the longer ones in NV12.
  uint64_t pitch = 0;
  for (uint32_t plane = 0; plane < format.plane_count; ++plane)
    pitch = std::max<uint64_t>(pitch, format.row_bytes(plane, width));
  if (kind == LayoutKind::Padded) pitch += pitch_align;
  pitch = round_up(round_up(pitch, std::max(pitch_align, 1u)), format.sample_bytes);
  if (kind == LayoutKind::OddPitch)
    pitch += (pitch / format.sample_bytes % 2 ? 2 : 1) * format.sample_bytes;
  if (kind == LayoutKind::Tiled) pitch = round_up(pitch, kTileBytes);
  if (pitch > kMaxPitch) return too_large;

  uint64_t end = 0;  // of the planes so far, in the current object
  for (uint32_t plane = 0; plane < format.plane_count; ++plane) {
    PlaneLayout& out = layout.planes[plane];
    if (plane > 0 && kind == LayoutKind::TwoObjects) {
      layout.object_bytes[layout.object_count++] = round_up(end, kPage);
      end = 0;
    }
    if (plane > 0 && kind == LayoutKind::Gap) end = after_gap(end, pitch, format.sample_bytes);
    uint64_t rows = format.rows(plane, height);
    if (kind == LayoutKind::Padded) rows = round_up(rows, kPaddedRows);
    if (kind == LayoutKind::Tiled) rows = round_up(rows, kTileRows);
    out = {.object = layout.object_count,
           .offset = static_cast<uint32_t>(end),
           .pitch = static_cast<uint32_t>(pitch)};
    const auto next = (Checked(end) + Checked(pitch) * rows).value();
    // The descriptor's offsets and sizes are 32-bit.
    if (!next || *next > UINT32_MAX - 2 * kPage) return too_large;
    end = *next;
  }
  layout.object_bytes[layout.object_count++] = round_up(end, kPage);
  return layout;
}

}  // namespace dxva::softva
