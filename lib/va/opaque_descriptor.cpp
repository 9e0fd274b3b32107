// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/opaque_descriptor.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/dmabuf/opaque.hpp"
#include "lib/va/display.hpp"

namespace dxva::va {

using dmabuf::ExternalFrame;
using dmabuf::OpaqueSurfaceDescriptor;

Result<ExternalFrame> adopt_opaque_descriptor(const OpaqueSurfaceDescriptor& from) {
  // Owns first, judges later. Each descriptor is a new one of the driver's.
  std::array<UniqueFd, OpaqueSurfaceDescriptor::kMaxParts> fds;
  static_assert(OpaqueSurfaceDescriptor::kMaxParts == video::kMaxPlanes);
  for (uint32_t i = 0; i < std::min(from.object_count, video::kMaxPlanes); ++i)
    fds[i] = UniqueFd{from.objects[i].fd};

  ExternalFrame frame;
  frame.fourcc = drm_fourcc(from.fourcc);
  if (frame.fourcc == 0) return refusal(Reason::FormatUnsupported, fourcc_text(from.fourcc));
  if (from.object_count == 0 || from.object_count > video::kMaxPlanes ||
      from.plane_count > video::kMaxPlanes)
    return refusal(Reason::DescriptorInvalid, std::to_string(from.object_count) + " objects, " +
                                                  std::to_string(from.plane_count) + " planes");
  frame.width = from.width;
  frame.height = from.height;
  frame.opaque.emplace();
  std::copy(std::begin(from.device_uuid), std::end(from.device_uuid),
            frame.opaque->device.begin());
  std::copy(std::begin(from.driver_uuid), std::end(from.driver_uuid),
            frame.opaque->driver.begin());
  frame.object_count = from.object_count;
  for (uint32_t i = 0; i < from.object_count; ++i) {
    if (auto seen = dmabuf::inspect_opaque(fds[i].get(), from.objects[i].size_bytes); !seen)
      return seen.error();
    frame.objects[i] = {.fd = std::move(fds[i]),
                        .size_bytes = from.objects[i].size_bytes,
                        .identity = dmabuf::opaque_identity(from.objects[i].memory_id),
                        .modifier = kModifierLinear};
  }
  frame.plane_count = from.plane_count;
  for (uint32_t p = 0; p < from.plane_count; ++p)
    frame.planes[p] = {.object = from.planes[p].object,
                       .offset = from.planes[p].offset,
                       .pitch_bytes = from.planes[p].pitch_bytes,
                       .format = 0};
  auto layout = video::classify(frame.describe(), video::LayoutRule::Any);
  if (!layout) return layout.error();
  return frame;
}

}  // namespace dxva::va
