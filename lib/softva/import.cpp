// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/import.hpp"

#include <utility>

#include "lib/base/checked.hpp"
#include "lib/base/fourcc.hpp"

namespace dxva::softva {
namespace {

Error refused(Reason reason) {
  return Error{.code = ErrorCode::BadInput, .call = "import_surface", .reason = reason};
}

// The planes in order, whether they come as one layer or as one layer each.
Result<std::array<PlaneLayout, kMaxPlanes>> collect_planes(
    const VADRMPRIMESurfaceDescriptor& descriptor, const Format& format) {
  std::array<PlaneLayout, kMaxPlanes> planes{};
  const bool composed = descriptor.num_layers == 1;
  if (!composed && descriptor.num_layers != format.plane_count)
    return refused(Reason::PlaneCount);
  for (uint32_t i = 0; i < format.plane_count; ++i) {
    const auto& layer = descriptor.layers[composed ? 0 : i];
    const uint32_t within = composed ? i : 0;
    if (layer.num_planes != (composed ? format.plane_count : 1))
      return refused(Reason::PlaneCount);
    if (layer.drm_format != (composed ? format.drm_fourcc : format.planes[i].drm_fourcc))
      return refused(Reason::FormatUnsupported);
    planes[i] = {.object = layer.object_index[within],
                 .offset = layer.offset[within],
                 .pitch = layer.pitch[within]};
  }
  return planes;
}

Status check_plane(const PlaneLayout& plane, const SurfaceLayout& layout, uint32_t index) {
  const Format& format = *layout.format;
  if (plane.object >= layout.object_count) return refused(Reason::BadDescriptor);
  if (plane.pitch < format.row_bytes(index, layout.width))
    return refused(Reason::PitchTooSmall);
  // Samples of two bytes are read and written as such.
  if (plane.pitch % format.sample_bytes) return refused(Reason::PitchOutOfRange);
  if (plane.offset % format.sample_bytes) return refused(Reason::OffsetOutOfRange);
  const Checked end = Checked(plane.offset) +
                      Checked(plane.pitch) * (format.rows(index, layout.height) - 1) +
                      format.row_bytes(index, layout.width);
  if (!end.fits_in(layout.object_bytes[plane.object])) return refused(Reason::ObjectTooSmall);
  return Done{};
}

}  // namespace

Result<std::shared_ptr<Surface>> import_surface(const VADRMPRIMESurfaceDescriptor& descriptor,
                                                const Format& format, uint32_t width,
                                                uint32_t height, uint64_t number) {
  if (descriptor.fourcc != format.fourcc) return refused(Reason::FormatUnsupported);
  if (descriptor.width != width || descriptor.height != height)
    return refused(Reason::SizeOutOfRange);
  if (descriptor.num_objects == 0 || descriptor.num_objects > kMaxObjects)
    return refused(Reason::BadDescriptor);
  auto planes = collect_planes(descriptor, format);
  if (!planes) return planes.error();

  SurfaceLayout layout{.format = &format, .width = width, .height = height, .planes = *planes};
  Surface::Objects objects;
  for (uint32_t i = 0; i < descriptor.num_objects; ++i) {
    const auto& object = descriptor.objects[i];
    if (object.drm_format_modifier != kModifierLinear)
      return refused(Reason::ModifierNotLinear);
    auto memory = Memory::import(object.fd);
    if (!memory) {
      Error error = memory.error();
      // A bad descriptor is the client's mistake, running out of our own is not.
      if (error.code != ErrorCode::NoMemory) error.code = ErrorCode::BadInput;
      return error;
    }
    if (object.size > (*memory)->size_bytes()) return refused(Reason::ObjectTooSmall);
    layout.object_bytes[i] = (*memory)->size_bytes();
    objects[i] = std::move(*memory);
  }
  layout.object_count = descriptor.num_objects;

  for (uint32_t i = 0; i < format.plane_count; ++i)
    if (auto checked = check_plane(layout.planes[i], layout, i); !checked)
      return checked.error();
  return std::make_shared<Surface>(layout, std::move(objects), number);
}

}  // namespace dxva::softva
