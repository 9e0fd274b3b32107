// SPDX-License-Identifier: LGPL-2.1-or-later

// What surfaces a client may ask for, and the asking: vaQuerySurfaceAttributes and
// vaCreateSurfaces2.

#include <va/va.h>
#include <va/va_drmcommon.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/dmabuf/opaque_surface.hpp"
#include "lib/softva/driver.hpp"
#include "lib/softva/import.hpp"
#include "lib/softva/surface.hpp"
#include "lib/softva/tiling.hpp"

namespace dxva::softva {
namespace {

constexpr unsigned kMaxSurfacesPerCall = 1024;
constexpr unsigned kMaxModifiers = 1024;

// In and out. What Vulkan allocated cannot be exported as PRIME 2; a client that only sees that
// type here finds out when it exports.
uint32_t memory_types(const Driver& driver) {
  if (!driver.knobs.exports) return VA_SURFACE_ATTRIB_MEM_TYPE_VA;
  return VA_SURFACE_ATTRIB_MEM_TYPE_VA |
         (driver.memory == MemoryKind::Vulkan ? dmabuf::kOpaqueFdMemoryType
                                              : VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2);
}

// The attributes of vaCreateSurfaces2, read.
struct Request {
  const Format* format = nullptr;
  bool import = false;
  const VADRMPRIMESurfaceDescriptor* descriptors = nullptr;  // the client's, one per surface
  const VADRMFormatModifierList* modifiers = nullptr;
  uint32_t usage = 0;  // VA_SURFACE_ATTRIB_USAGE_HINT_*; 0 = any

  // As gst-va and FFmpeg make a video processor's targets.
  [[nodiscard]] bool may_be_decoded_into() const {
    return usage == 0 || usage & VA_SURFACE_ATTRIB_USAGE_HINT_DECODER;
  }
};

bool is_integer(const VASurfaceAttrib& attribute) {
  return attribute.value.type == VAGenericValueTypeInteger;
}
bool is_pointer(const VASurfaceAttrib& attribute) {
  return attribute.value.type == VAGenericValueTypePointer;
}

VAStatus read_attribute(const VASurfaceAttrib& attribute, Request& request) {
  switch (attribute.type) {
    case VASurfaceAttribPixelFormat: {
      if (!is_integer(attribute)) return VA_STATUS_ERROR_INVALID_PARAMETER;
      const Format* format = find_format(static_cast<uint32_t>(attribute.value.value.i));
      if (!format || !format->surface) return VA_STATUS_ERROR_INVALID_IMAGE_FORMAT;
      request.format = format;
      return VA_STATUS_SUCCESS;
    }
    case VASurfaceAttribMemoryType:
      if (!is_integer(attribute)) return VA_STATUS_ERROR_INVALID_PARAMETER;
      switch (static_cast<uint32_t>(attribute.value.value.i)) {
        case VA_SURFACE_ATTRIB_MEM_TYPE_VA:
          request.import = false;
          return VA_STATUS_SUCCESS;
        case VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2:
          request.import = true;
          return VA_STATUS_SUCCESS;
        default:
          return VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE;
      }
    case VASurfaceAttribExternalBufferDescriptor:
      if (!is_pointer(attribute)) return VA_STATUS_ERROR_INVALID_PARAMETER;
      request.descriptors =
          static_cast<const VADRMPRIMESurfaceDescriptor*>(attribute.value.value.p);
      return VA_STATUS_SUCCESS;
    case VASurfaceAttribUsageHint:
      if (!is_integer(attribute)) return VA_STATUS_ERROR_INVALID_PARAMETER;
      request.usage = static_cast<uint32_t>(attribute.value.value.i);
      return VA_STATUS_SUCCESS;
    case VASurfaceAttribDRMFormatModifiers:
      if (!is_pointer(attribute)) return VA_STATUS_ERROR_INVALID_PARAMETER;
      request.modifiers = static_cast<const VADRMFormatModifierList*>(attribute.value.value.p);
      return VA_STATUS_SUCCESS;
    default:
      return VA_STATUS_ERROR_ATTR_NOT_SUPPORTED;
  }
}

VAStatus read_attributes(const VASurfaceAttrib* attributes, unsigned count, Request& request) {
  if (count > 0 && !attributes) return VA_STATUS_ERROR_INVALID_PARAMETER;
  for (unsigned i = 0; i < count; ++i) {
    // A list from vaQuerySurfaceAttributes handed back holds limits too; they ask for nothing.
    if (!(attributes[i].flags & VA_SURFACE_ATTRIB_SETTABLE)) continue;
    if (const VAStatus status = read_attribute(attributes[i], request);
        status != VA_STATUS_SUCCESS)
      return status;
  }
  return VA_STATUS_SUCCESS;
}

bool offers(const VADRMFormatModifierList& list, uint64_t modifier) {
  if (!list.modifiers || list.num_modifiers > kMaxModifiers) return false;
  const std::span<const uint64_t> modifiers(list.modifiers, list.num_modifiers);
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

// The layout for new surfaces: what the knob says, within what the client can take. Nothing:
// the client takes neither.
std::optional<LayoutKind> choose_layout(const Knobs& knobs, const Request& request) {
  if (!request.modifiers) return knobs.layout;
  switch (knobs.modifier_lists) {
    case ModifierLists::Honoured:
      break;
    case ModifierLists::NotDecoded:
      if (request.may_be_decoded_into()) return knobs.layout;
      break;
    case ModifierLists::Ignored:
    case ModifierLists::Unlisted:
      return knobs.layout;
    case ModifierLists::Refused:
      return std::nullopt;
  }
  if (knobs.layout == LayoutKind::Tiled && offers(*request.modifiers, kTiledModifier))
    return LayoutKind::Tiled;
  if (!offers(*request.modifiers, kModifierLinear)) return std::nullopt;
  return knobs.layout == LayoutKind::Tiled ? LayoutKind::Tight : knobs.layout;
}

VAStatus surface_status(const Error& error) {
  return error.code == ErrorCode::BadInput ? VA_STATUS_ERROR_INVALID_PARAMETER
                                           : VA_STATUS_ERROR_ALLOCATION_FAILED;
}

VASurfaceAttrib integer_attribute(VASurfaceAttribType type, uint32_t flags, uint32_t value) {
  VASurfaceAttrib attribute{};
  attribute.type = type;
  attribute.flags = flags;
  attribute.value.type = VAGenericValueTypeInteger;
  attribute.value.value.i = static_cast<int>(value);
  return attribute;
}

VASurfaceAttrib pointer_attribute(VASurfaceAttribType type, uint32_t flags) {
  VASurfaceAttrib attribute{};
  attribute.type = type;
  attribute.flags = flags;
  attribute.value.type = VAGenericValueTypePointer;
  return attribute;
}

}  // namespace

VAStatus create_surfaces2(Driver& driver, unsigned rt_format, unsigned width, unsigned height,
                          VASurfaceID* ids, unsigned count, VASurfaceAttrib* attributes,
                          unsigned attribute_count) {
  if (!ids || count == 0) return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (count > kMaxSurfacesPerCall) return VA_STATUS_ERROR_MAX_NUM_EXCEEDED;
  if (width == 0 || height == 0 || width > kMaxSize || height > kMaxSize)
    return VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED;
  if (driver.fails(Call::CreateSurfaces, driver.surface_count + 1, count))
    return VA_STATUS_ERROR_ALLOCATION_FAILED;

  Request request;
  request.format = default_surface_format(rt_format);
  if (!request.format) return VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT;
  if (const VAStatus status = read_attributes(attributes, attribute_count, request);
      status != VA_STATUS_SUCCESS)
    return status;
  if (request.format->rt_format != rt_format) return VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT;
  if (request.import && !request.descriptors) return VA_STATUS_ERROR_INVALID_PARAMETER;
  // va.h: modifiers are for new memory, never for an import.
  if (request.modifiers && request.import) return VA_STATUS_ERROR_INVALID_PARAMETER;
  const auto kind = choose_layout(driver.knobs, request);
  if (!kind) return VA_STATUS_ERROR_ATTR_NOT_SUPPORTED;

  auto layout = plan_layout(*request.format, width, height, *kind, driver.knobs.pitch_align);
  if (!layout) return VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED;
  if (driver.knobs.tiled_from_export > 0) layout->tiled = false;

  // All or none: the client knows no ids until it has all of them.
  std::vector<std::shared_ptr<Surface>> made;
  made.reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    const uint64_t number = driver.next_surface_number();
    auto surface = request.import ? import_surface(request.descriptors[i], *request.format,
                                                   width, height, number)
                                  : Surface::create(*layout, driver.memory, number);
    if (!surface) return surface_status(surface.error());
    made.push_back(std::move(*surface));
  }
  for (unsigned i = 0; i < count; ++i) {
    const uint64_t number = made[i]->number();
    ids[i] = driver.surfaces.add(std::move(made[i]));
    driver.knobs.log.surface_made(number, ids[i]);
  }
  return VA_STATUS_SUCCESS;
}

VAStatus query_surface_attributes(Driver& driver, VAConfigID id, VASurfaceAttrib* attributes,
                                  unsigned* count) {
  const auto config = driver.configs.find(id);
  if (!config) return VA_STATUS_ERROR_INVALID_CONFIG;
  if (!count) return VA_STATUS_ERROR_INVALID_PARAMETER;

  constexpr uint32_t kGet = VA_SURFACE_ATTRIB_GETTABLE;
  constexpr uint32_t kGetSet = VA_SURFACE_ATTRIB_GETTABLE | VA_SURFACE_ATTRIB_SETTABLE;
  std::vector<VASurfaceAttrib> list;
  for (const Format& format : formats())
    if (format.surface && (format.rt_format & config->rt_formats))
      list.push_back(integer_attribute(VASurfaceAttribPixelFormat, kGetSet, format.fourcc));
  list.push_back(integer_attribute(VASurfaceAttribMinWidth, kGet, 1));
  list.push_back(integer_attribute(VASurfaceAttribMaxWidth, kGet, kMaxSize));
  list.push_back(integer_attribute(VASurfaceAttribMinHeight, kGet, 1));
  list.push_back(integer_attribute(VASurfaceAttribMaxHeight, kGet, kMaxSize));
  list.push_back(integer_attribute(VASurfaceAttribMemoryType, kGetSet, memory_types(driver)));
  list.push_back(
      pointer_attribute(VASurfaceAttribExternalBufferDescriptor, VA_SURFACE_ATTRIB_SETTABLE));
  if (driver.knobs.modifier_lists != ModifierLists::Unlisted)
    list.push_back(
        pointer_attribute(VASurfaceAttribDRMFormatModifiers, VA_SURFACE_ATTRIB_SETTABLE));

  const unsigned room = *count;
  *count = static_cast<unsigned>(list.size());
  if (!attributes) return VA_STATUS_SUCCESS;
  if (room < list.size()) return VA_STATUS_ERROR_MAX_NUM_EXCEEDED;
  std::copy(list.begin(), list.end(), attributes);
  return VA_STATUS_SUCCESS;
}

}  // namespace dxva::softva
