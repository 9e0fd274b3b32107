// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/surface_pool.hpp"

#include <va/va_drmcommon.h>

#include <array>
#include <utility>

#include "lib/base/fourcc.hpp"

namespace dxva::va {

namespace {

uint32_t rt_format_of(uint32_t fourcc) {
  switch (fourcc) {
    case format::kNV12:
      return VA_RT_FORMAT_YUV420;
    case format::kP010:
      return VA_RT_FORMAT_YUV420_10;
    default:
      return 0;
  }
}

}  // namespace

Result<std::shared_ptr<SurfacePool>> SurfacePool::create(std::shared_ptr<Display> display,
                                                         const Config& config) {
  if (rt_format_of(config.fourcc) == 0)
    return refusal(Reason::FormatUnsupported,
                   "surfaces of format " + fourcc_text(config.fourcc) + " are not supported");
  // make_shared cannot reach the private constructor.
  std::shared_ptr<SurfacePool> pool(new SurfacePool(std::move(display), config));
  if (auto filled = pool->fill(); !filled) return filled.error();
  return pool;
}

Status SurfacePool::make_surfaces(uint32_t count) {
  std::array<VASurfaceAttrib, 3> attributes{};
  // The format must be named: a driver may else choose another one of the same rt-format.
  attributes[0].type = VASurfaceAttribPixelFormat;
  attributes[0].flags = VA_SURFACE_ATTRIB_SETTABLE;
  attributes[0].value.type = VAGenericValueTypeInteger;
  attributes[0].value.value.i = static_cast<int>(va_fourcc(config_.fourcc));
  // Not sent empty: Mesa and iHD refuse, or warn of, attributes that they do not know.
  std::vector<uint64_t> modifiers = config_.modifiers;  // the list's pointer is not const
  VADRMFormatModifierList list{.num_modifiers = static_cast<uint32_t>(modifiers.size()),
                               .modifiers = modifiers.data()};
  unsigned attribute_count = 1;
  if (!modifiers.empty()) {
    VASurfaceAttrib& attribute = attributes[attribute_count++];
    attribute.type = VASurfaceAttribDRMFormatModifiers;
    attribute.flags = VA_SURFACE_ATTRIB_SETTABLE;
    attribute.value.type = VAGenericValueTypePointer;
    attribute.value.value.p = &list;
  }
  if (config_.use == SurfaceUse::Copies) {
    VASurfaceAttrib& attribute = attributes[attribute_count++];
    attribute.type = VASurfaceAttribUsageHint;
    attribute.flags = VA_SURFACE_ATTRIB_SETTABLE;
    attribute.value.type = VAGenericValueTypeInteger;
    attribute.value.value.i =
        VA_SURFACE_ATTRIB_USAGE_HINT_VPP_WRITE | VA_SURFACE_ATTRIB_USAGE_HINT_EXPORT;
  }

  std::vector<VASurfaceID> ids(count, VA_INVALID_SURFACE);
  auto made = check(
      vaCreateSurfaces(display_->get(), rt_format_of(config_.fourcc), config_.width,
                       config_.height, ids.data(), count, attributes.data(), attribute_count),
      "vaCreateSurfaces");
  if (!made) return made;
  for (const VASurfaceID id : ids) {
    const accel::Index index = new_index();
    adopt(std::make_unique<Surface>(*this, index, display_, id, config_.fourcc, config_.width,
                                    config_.height));
  }
  return Done{};
}

Result<SurfaceLease> SurfacePool::acquire() {
  auto lease = Pool::acquire();
  if (!lease) return lease.error();
  return std::static_pointer_cast<Surface>(std::move(*lease));
}

bool SurfacePool::device_is_lost() const {
  const VASurfaceID any = ids().front();
  VASurfaceStatus status{};
  if (vaQuerySurfaceStatus(display_->get(), any, &status) == VA_STATUS_SUCCESS) return false;
  display_->set_lost();
  return true;
}

std::vector<VASurfaceID> SurfacePool::ids() const {
  std::vector<VASurfaceID> out;
  for (const surface::Surface* surface : all()) out.push_back(surface->id());
  return out;
}

}  // namespace dxva::va
