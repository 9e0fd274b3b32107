// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/prime_descriptor.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/dmabuf/identity.hpp"
#include "lib/va/display.hpp"

namespace dxva::va {
namespace {

using dmabuf::ExternalFrame;
using Refusal = std::optional<Error>;
using Layer = std::remove_cvref_t<decltype(VADRMPRIMESurfaceDescriptor::layers[0])>;

constexpr uint32_t kMaxObjects = 4;  // of the struct, as are layers and their planes
static_assert(kMaxObjects == video::kMaxPlanes);

// Owns first, judges later: every path out of here closes what is not handed on.
std::array<UniqueFd, kMaxObjects> take_descriptors(const VADRMPRIMESurfaceDescriptor& from) {
  std::array<UniqueFd, kMaxObjects> fds;
  for (uint32_t i = 0; i < std::min(from.num_objects, kMaxObjects); ++i) {
    const int fd = from.objects[i].fd;
    // One number listed twice is one descriptor, and may be closed once.
    bool seen = false;
    for (uint32_t j = 0; j < i && !seen; ++j) {
      seen = fd >= 0 && fds[j].get() == fd;
      if (seen) fds[i] = fds[j].duplicate();
    }
    if (!seen) fds[i] = UniqueFd{fd};
  }
  return fds;
}

Refusal add_objects(ExternalFrame& frame, const VADRMPRIMESurfaceDescriptor& from,
                    std::array<UniqueFd, kMaxObjects> fds) {
  if (from.num_objects == 0 || from.num_objects > kMaxObjects)
    return refusal(Reason::DescriptorInvalid, std::to_string(from.num_objects) + " objects");
  for (uint32_t i = 0; i < from.num_objects; ++i) {
    auto facts = dmabuf::inspect(fds[i].get());
    if (!facts) return facts.error();
    frame.objects[i] = {.fd = std::move(fds[i]),
                        .size_bytes = facts->size_bytes,
                        .identity = facts->identity,
                        .modifier = from.objects[i].drm_format_modifier};
  }
  frame.object_count = from.num_objects;
  return std::nullopt;
}

// Drivers name one buffer by a descriptor for each plane (Mesa: a plane is a resource of its
// own). One of them is enough.
void fold_objects(ExternalFrame& frame) {
  std::array<uint32_t, kMaxObjects> now{};
  uint32_t count = 0;
  for (uint32_t i = 0; i < frame.object_count; ++i) {
    ExternalFrame::Object& object = frame.objects[i];
    uint32_t same = 0;
    while (same < count && (frame.objects[same].identity != object.identity ||
                            frame.objects[same].modifier != object.modifier))
      ++same;
    now[i] = same;
    if (same < count) {
      object = {};
      continue;
    }
    if (i != count) frame.objects[count] = std::exchange(object, {});
    ++count;
  }
  frame.object_count = count;
  for (uint32_t p = 0; p < frame.plane_count; ++p)
    frame.planes[p].object = now[frame.planes[p].object];
}

// What plane `p` of a composed layer is called when it stands alone.
uint32_t split_format(uint32_t layer_format, uint32_t p) {
  switch (layer_format) {
    case format::kNV12:
      return p == 0 ? format::kR8 : format::kGR88;
    case format::kP010:
      return p == 0 ? format::kR16 : format::kGR1616;
    default:
      return layer_format;
  }
}

// One layer per plane, or one layer with both. Two planes in a layer of one-plane format are
// its pixels and their compression metadata (Intel's CCS modifiers), even when separate layers
// were asked for: those two cannot be imported as R8 or GR88.
Refusal check_layers(const VADRMPRIMESurfaceDescriptor& from) {
  if (from.num_layers == 0 || from.num_layers > std::size(from.layers))
    return refusal(Reason::DescriptorInvalid, std::to_string(from.num_layers) + " layers");
  uint32_t planes = 0;
  bool aux = false;
  for (uint32_t l = 0; l < from.num_layers; ++l) {
    const Layer& layer = from.layers[l];
    if (layer.num_planes == 0 || layer.num_planes > std::size(layer.pitch))
      return refusal(Reason::DescriptorInvalid,
                     std::to_string(layer.num_planes) + " planes in a layer");
    const bool composed = split_format(layer.drm_format, 0) != layer.drm_format;
    if (composed && layer.drm_format != drm_fourcc(from.fourcc))
      return refusal(Reason::DescriptorInvalid, "layer of " + fourcc_text(layer.drm_format) +
                                                    " in " + fourcc_text(from.fourcc));
    aux |= layer.num_planes > (composed ? 2u : 1u);
    planes += layer.num_planes;
  }
  if (aux || planes > 2) return refusal(Reason::AuxPlane, std::to_string(planes) + " planes");
  if (planes != 2) return refusal(Reason::PlaneCount, "one plane");
  return std::nullopt;
}

void add_planes(ExternalFrame& frame, const VADRMPRIMESurfaceDescriptor& from) {
  for (uint32_t l = 0; l < from.num_layers; ++l) {
    const Layer& layer = from.layers[l];
    for (uint32_t p = 0; p < layer.num_planes; ++p)
      frame.planes[frame.plane_count++] = {.object = layer.object_index[p],
                                           .offset = layer.offset[p],
                                           .pitch_bytes = layer.pitch[p],
                                           .format = split_format(layer.drm_format, p)};
  }
}

}  // namespace

Result<ExternalFrame> adopt_descriptor(const VADRMPRIMESurfaceDescriptor& descriptor) {
  auto fds = take_descriptors(descriptor);
  ExternalFrame frame;
  frame.fourcc = drm_fourcc(descriptor.fourcc);
  if (frame.fourcc == 0)
    return refusal(Reason::FormatUnsupported, fourcc_text(descriptor.fourcc));
  // Width and height are those asked for; some drivers allocate more. What counts is that the
  // planes fit, which classify() knows.
  frame.width = descriptor.width;
  frame.height = descriptor.height;
  if (auto refused = check_layers(descriptor)) return std::move(*refused);
  if (auto refused = add_objects(frame, descriptor, std::move(fds))) return std::move(*refused);
  add_planes(frame, descriptor);

  auto layout = video::classify(frame.describe(), video::LayoutRule::Any);
  if (!layout) return layout.error();
  fold_objects(frame);
  return frame;
}

}  // namespace dxva::va
