// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/video/nv12_layout.hpp"

#include <optional>
#include <string>

#include "lib/base/checked.hpp"
#include "lib/base/fourcc.hpp"

namespace dxva::video {
namespace {

constexpr uint32_t kPlaneCount = 2;
// EGL takes offsets as signed 32-bit attributes; a plane that starts later would wrap there.
constexpr uint64_t kMaxOffset = INT32_MAX;

using Refusal = std::optional<Error>;

std::string plane_text(uint32_t plane, const char* what, uint64_t value, const char* relation,
                       uint64_t limit) {
  return std::string(plane == 0 ? "luma " : "chroma ") + what + " " + std::to_string(value) +
         relation + std::to_string(limit);
}

uint32_t plane_format(uint32_t fourcc, uint32_t plane) {
  if (fourcc == format::kNV12) return plane == 0 ? format::kR8 : format::kGR88;
  return plane == 0 ? format::kR16 : format::kGR1616;
}

Refusal check_shape(const ImageDescription& image) {
  if (image.fourcc != format::kNV12 && image.fourcc != format::kP010)
    return refusal(Reason::FormatUnsupported, fourcc_text(image.fourcc));
  if (image.width == 0 || image.width > kMaxDimension || image.height == 0 ||
      image.height > kMaxDimension)
    return refusal(Reason::SizeOutOfRange,
                   std::to_string(image.width) + "x" + std::to_string(image.height));
  if (image.plane_count > kPlaneCount && image.plane_count <= kMaxPlanes)
    return refusal(Reason::AuxPlane, std::to_string(image.plane_count) + " planes");
  if (image.plane_count != kPlaneCount)
    return refusal(Reason::PlaneCount, std::to_string(image.plane_count) + " planes");
  if (image.object_count == 0) return refusal(Reason::BadDescriptor, "no buffer at all");
  if (image.object_count > kMaxPlanes)
    return refusal(Reason::DescriptorInvalid, std::to_string(image.object_count) + " objects");
  for (uint32_t p = 0; p < kPlaneCount; ++p) {
    const PlaneDescription& plane = image.planes[p];
    if (plane.object >= image.object_count)
      return refusal(Reason::DescriptorInvalid,
                     plane_text(p, "object", plane.object, " of ", image.object_count));
    if (plane.format != 0 && plane.format != plane_format(image.fourcc, p))
      return refusal(Reason::FormatUnsupported, "plane of " + fourcc_text(plane.format));
  }
  return std::nullopt;
}

Refusal check_modifiers(const ImageDescription& image) {
  const uint64_t luma = image.objects[image.planes[0].object].modifier;
  const uint64_t chroma = image.objects[image.planes[1].object].modifier;
  if (luma == chroma) return std::nullopt;
  return refusal(Reason::ModifierMismatch,
                 modifier_text(luma) + " and " + modifier_text(chroma));
}

// A tiled plane is held to the same extent: whatever the order of its pixels, whole tiles take
// at least the room of the rows.
Refusal check_plane(const ImageDescription& image, uint32_t p) {
  const PlaneDescription& plane = image.planes[p];
  const uint64_t size = image.objects[plane.object].size_bytes;
  const uint64_t row_bytes = plane_row_bytes(image.fourcc, p, image.width);
  const uint32_t rows = plane_rows(p, image.height);

  if (size == 0) return refusal(Reason::BadDescriptor, "empty buffer");
  if (plane.pitch_bytes < row_bytes)
    return refusal(Reason::PitchTooSmall,
                   plane_text(p, "pitch", plane.pitch_bytes, " < row of ", row_bytes));
  if (plane.pitch_bytes > kMaxPitchBytes)
    return refusal(Reason::PitchOutOfRange,
                   plane_text(p, "pitch", plane.pitch_bytes, " > ", kMaxPitchBytes));
  if (plane.offset >= size || plane.offset > kMaxOffset)
    return refusal(Reason::OffsetOutOfRange,
                   plane_text(p, "offset", plane.offset, " in a buffer of ", size));
  // The padding of the last row need not exist: exporters cut the buffer right behind the
  // pixels.
  const Checked end =
      Checked(plane.offset) + Checked(plane.pitch_bytes) * (rows - 1) + row_bytes;
  if (!end.fits_in(size))
    return refusal(Reason::ObjectTooSmall,
                   plane_text(p, "end", end.value().value_or(UINT64_MAX), " > ", size));
  return std::nullopt;
}

// Wine's rule for one tall texture, on top of the checks above. "Pitch >= width" is among those
// already, in bytes.
Refusal broken_tight_rule(const ImageDescription& image) {
  const PlaneDescription& luma = image.planes[0];
  const PlaneDescription& chroma = image.planes[1];
  for (uint32_t i = 0; i < image.object_count; ++i) {
    if (image.objects[i].modifier != kModifierLinear)
      return refusal(Reason::ModifierNotLinear, modifier_text(image.objects[i].modifier));
    if (image.objects[i].identity != image.objects[0].identity)
      return refusal(Reason::ObjectsDiffer, "planes in different buffers");
  }
  if (luma.pitch_bytes != chroma.pitch_bytes)
    return refusal(Reason::PitchMismatch,
                   plane_text(1, "pitch", chroma.pitch_bytes, ", luma's ", luma.pitch_bytes));
  const uint64_t below_luma = luma.pitch_bytes * image.height;  // small: both were checked
  if (luma.offset != 0)
    return refusal(Reason::ChromaNotAdjacent,
                   plane_text(0, "offset", luma.offset, ", must be ", 0));
  if (chroma.offset != below_luma)
    return refusal(Reason::ChromaNotAdjacent,
                   plane_text(1, "offset", chroma.offset, ", must be ", below_luma));
  // pitch x height x 3/2, with the odd half row counted: here the padding of the last row does
  // matter, because a tall texture has it.
  const uint64_t tall_bytes = luma.pitch_bytes * (image.height + plane_rows(1, image.height));
  for (uint32_t i = 0; i < image.object_count; ++i) {
    if (image.objects[i].size_bytes < tall_bytes)
      return refusal(Reason::ObjectTooSmall, plane_text(1, "end with padding", tall_bytes,
                                                        " > ", image.objects[i].size_bytes));
  }
  return std::nullopt;
}

}  // namespace

uint64_t plane_row_bytes(uint32_t fourcc, uint32_t plane, uint32_t width) {
  const uint64_t sample_bytes = fourcc == format::kP010 ? 2 : 1;
  const uint64_t samples = plane == 0 ? width : (uint64_t{width} + 1) / 2 * 2;
  return samples * sample_bytes;
}

uint32_t plane_rows(uint32_t plane, uint32_t height) {
  return plane == 0 ? height : height / 2 + height % 2;
}

Result<Layout> classify(const ImageDescription& image, LayoutRule rule) {
  if (auto refused = check_shape(image)) return std::move(*refused);
  if (auto refused = check_modifiers(image)) return std::move(*refused);
  for (uint32_t p = 0; p < kPlaneCount; ++p)
    if (auto refused = check_plane(image, p)) return std::move(*refused);

  auto not_tight = broken_tight_rule(image);
  if (not_tight && rule == LayoutRule::TightLinear) return std::move(*not_tight);

  const uint64_t modifier = image.objects[image.planes[0].object].modifier;
  if (!not_tight) return Layout{.layout_class = LayoutClass::TightLinear, .modifier = modifier};
  // "None given" is not linear: only the driver knows what it is.
  const bool linear = modifier == kModifierLinear;
  return Layout{.layout_class = linear ? LayoutClass::Linear : LayoutClass::Tiled,
                .modifier = modifier};
}

}  // namespace dxva::video
