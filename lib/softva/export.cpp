// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/export.hpp"

#include <va/va_drmcommon.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/base/unique_fd.hpp"
#include "lib/dmabuf/opaque_surface.hpp"
#include "lib/softva/driver.hpp"
#include "lib/softva/surface.hpp"
#include "lib/softva/tiling.hpp"

namespace dxva::softva {
namespace {

constexpr uint32_t kKnownFlags = VA_EXPORT_SURFACE_READ_WRITE |
                                 VA_EXPORT_SURFACE_SEPARATE_LAYERS |
                                 VA_EXPORT_SURFACE_COMPOSED_LAYERS;

// Which of the surface's objects each exported one is, and which exported one a plane names.
struct ExportedObjects {
  uint32_t count = 0;
  std::array<uint32_t, kMaxObjects> source{};
  std::array<uint32_t, kMaxPlanes> of_plane{};
};

ExportedObjects choose_objects(const SurfaceLayout& layout) {
  ExportedObjects out;
  if (layout.object_per_plane_on_export) {
    for (uint32_t plane = 0; plane < layout.format->plane_count; ++plane) {
      out.of_plane[plane] = out.count;
      out.source[out.count++] = layout.planes[plane].object;
    }
    return out;
  }
  for (uint32_t object = 0; object < layout.object_count; ++object)
    out.source[out.count++] = object;
  for (uint32_t plane = 0; plane < layout.format->plane_count; ++plane)
    out.of_plane[plane] = layout.planes[plane].object;
  return out;
}

void describe_layers(const SurfaceLayout& layout, const ExportedObjects& objects, bool composed,
                     VADRMPRIMESurfaceDescriptor& out) {
  const Format& format = *layout.format;
  out.num_layers = composed ? 1 : format.plane_count;
  for (uint32_t plane = 0; plane < format.plane_count; ++plane) {
    auto& layer = out.layers[composed ? 0 : plane];
    const uint32_t within = composed ? plane : 0;
    layer.drm_format = composed ? format.drm_fourcc : format.planes[plane].drm_fourcc;
    layer.num_planes = composed ? format.plane_count : 1;
    layer.object_index[within] = objects.of_plane[plane];
    layer.offset[within] = layout.planes[plane].offset;
    layer.pitch[within] = layout.planes[plane].pitch;
  }
}

uint32_t described_size(DescriptorSize which, uint64_t object_bytes) {
  switch (which) {
    case DescriptorSize::Right:
      return static_cast<uint32_t>(object_bytes);
    case DescriptorSize::Zero:
      return 0;
    case DescriptorSize::Short:
      break;
  }
  return static_cast<uint32_t>(object_bytes / 2);
}

// PRIME 2 names dma-bufs (or memfds, which stand for them here), the other type what is none.
bool fits(const Surface& surface, uint32_t memory_type) {
  for (uint32_t i = 0; i < surface.layout().object_count; ++i)
    if ((surface.objects()[i]->opaque_to() != nullptr) !=
        (memory_type == dmabuf::kOpaqueFdMemoryType))
      return false;
  return true;
}

using Descriptors = std::array<UniqueFd, kMaxObjects>;

void describe_prime(const Driver& driver, const Surface& surface,
                    const ExportedObjects& objects, bool composed, Descriptors& fds,
                    VADRMPRIMESurfaceDescriptor& out) {
  const SurfaceLayout& layout = surface.layout();
  out = {};
  out.fourcc = layout.format->fourcc;
  out.width = layout.width;
  out.height = layout.height;
  out.num_objects = objects.count;
  uint64_t modifier = surface.tiled() ? kTiledModifier : kModifierLinear;
  if (driver.knobs.modifier_untold) modifier = kModifierInvalid;
  for (uint32_t i = 0; i < objects.count; ++i) {
    out.objects[i].fd = fds[i].release();
    out.objects[i].size =
        described_size(driver.knobs.descriptor_size, layout.object_bytes[objects.source[i]]);
    out.objects[i].drm_format_modifier = modifier;
  }
  describe_layers(layout, objects, composed, out);
}

void describe_opaque(const Surface& surface, const ExportedObjects& objects, Descriptors& fds,
                     dmabuf::OpaqueSurfaceDescriptor& out) {
  const SurfaceLayout& layout = surface.layout();
  const DeviceUuids& uuids = *surface.objects()[0]->opaque_to();
  out = {.version = dmabuf::OpaqueSurfaceDescriptor::kVersion,
         .fourcc = layout.format->fourcc,
         .width = layout.width,
         .height = layout.height,
         .object_count = objects.count,
         .plane_count = layout.format->plane_count};
  std::copy(uuids.device.begin(), uuids.device.end(), out.device_uuid);
  std::copy(uuids.driver.begin(), uuids.driver.end(), out.driver_uuid);
  for (uint32_t i = 0; i < objects.count; ++i) {
    const Memory& memory = *surface.objects()[objects.source[i]];
    out.objects[i] = {.size_bytes = memory.size_bytes(),
                      .memory_id = memory.id(),
                      .fd = fds[i].release(),
                      .reserved = 0};
  }
  for (uint32_t i = 0; i < layout.format->plane_count; ++i)
    out.planes[i] = {.object = objects.of_plane[i],
                     .offset = layout.planes[i].offset,
                     .pitch_bytes = layout.planes[i].pitch};
}

}  // namespace

VAStatus export_surface(Driver& driver, VASurfaceID id, uint32_t memory_type, uint32_t flags,
                        void* descriptor) {
  if (!driver.knobs.exports) return VA_STATUS_ERROR_UNIMPLEMENTED;
  const auto surface = driver.surfaces.find(id);
  if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
  const bool opaque = memory_type == dmabuf::kOpaqueFdMemoryType;
  if ((memory_type != VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2 && !opaque) ||
      !fits(*surface, memory_type))
    return VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE;
  if (!descriptor || (flags & ~kKnownFlags)) return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (opaque && static_cast<const dmabuf::OpaqueSurfaceDescriptor*>(descriptor)->version !=
                    dmabuf::OpaqueSurfaceDescriptor::kVersion)
    return VA_STATUS_ERROR_INVALID_PARAMETER;
  // Without either, layers are separate, as other drivers have it.
  bool composed = flags & VA_EXPORT_SURFACE_COMPOSED_LAYERS;
  if (composed && (flags & VA_EXPORT_SURFACE_SEPARATE_LAYERS))
    return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (driver.fails(Call::Export, surface->number())) return VA_STATUS_ERROR_OPERATION_FAILED;

  const uint64_t number = driver.export_count.fetch_add(1, std::memory_order_relaxed) + 1;
  const uint32_t tiled_from = driver.knobs.tiled_from_export;
  if (tiled_from > 0 && number >= tiled_from) surface->turn_tiled();
  // That descriptor has no word for tiles.
  if (opaque && surface->tiled()) return VA_STATUS_ERROR_OPERATION_FAILED;
  const SurfaceLayout& layout = surface->layout();
  composed |= layout.always_composed;
  const ExportedObjects objects = choose_objects(layout);
  Descriptors fds;
  for (uint32_t i = 0; i < objects.count; ++i) {
    auto fd = surface->objects()[objects.source[i]]->share_fd();
    if (!fd) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    fds[i] = std::move(*fd);
  }
  if (opaque)
    describe_opaque(*surface, objects, fds,
                    *static_cast<dmabuf::OpaqueSurfaceDescriptor*>(descriptor));
  else
    describe_prime(driver, *surface, objects, composed, fds,
                   *static_cast<VADRMPRIMESurfaceDescriptor*>(descriptor));
  return VA_STATUS_SUCCESS;
}

}  // namespace dxva::softva
