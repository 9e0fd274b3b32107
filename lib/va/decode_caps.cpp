// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/decode_caps.hpp"

#include <va/va_drmcommon.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lib/base/log.hpp"

namespace dxva::va {
namespace {

// A driver that claims more than this has a bug, and the list would be ours to allocate.
constexpr int kSaneCount = 1024;

bool sane(int count) {
  return count > 0 && count <= kSaneCount;
}

bool decodes(VADisplay display, VAProfile profile, std::vector<VAEntrypoint>& scratch) {
  int count = 0;
  if (vaQueryConfigEntrypoints(display, profile, scratch.data(), &count) != VA_STATUS_SUCCESS)
    return false;
  const auto known = scratch.begin() + std::clamp(count, 0, static_cast<int>(scratch.size()));
  return std::find(scratch.begin(), known, VAEntrypointVLD) != known;
}

// Only for asking about surfaces.
class Config {
 public:
  Config(VADisplay display, VAProfile profile, uint32_t rt_format) : display_(display) {
    VAConfigAttrib format{.type = VAConfigAttribRTFormat, .value = rt_format};
    status_ = vaCreateConfig(display, profile, VAEntrypointVLD, &format, 1, &id_);
  }
  ~Config() {
    if (status_ == VA_STATUS_SUCCESS) vaDestroyConfig(display_, id_);
  }
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  [[nodiscard]] VAStatus status() const { return status_; }

  [[nodiscard]] std::vector<VASurfaceAttrib> surface_attributes() const {
    unsigned count = 0;
    if (vaQuerySurfaceAttributes(display_, id_, nullptr, &count) != VA_STATUS_SUCCESS ||
        count > kSaneCount)
      return {};
    std::vector<VASurfaceAttrib> list(count);
    if (count == 0 ||
        vaQuerySurfaceAttributes(display_, id_, list.data(), &count) != VA_STATUS_SUCCESS)
      return {};
    list.resize(std::min<size_t>(count, list.size()));
    return list;
  }

 private:
  VADisplay display_;
  VAConfigID id_ = VA_INVALID_ID;
  VAStatus status_;
};

void raise(uint32_t& limit, int value) {
  if (value > 0) limit = std::max(limit, static_cast<uint32_t>(value));
}

void add(DecodeCaps& caps, const VASurfaceAttrib& attribute) {
  if (attribute.type == VASurfaceAttribDRMFormatModifiers)
    caps.takes_modifiers |= (attribute.flags & VA_SURFACE_ATTRIB_SETTABLE) != 0;
  if (attribute.value.type != VAGenericValueTypeInteger) return;
  const int value = attribute.value.value.i;
  switch (attribute.type) {
    case VASurfaceAttribPixelFormat: {
      const auto fourcc = static_cast<uint32_t>(value);
      if (std::find(caps.fourccs.begin(), caps.fourccs.end(), fourcc) == caps.fourccs.end())
        caps.fourccs.push_back(fourcc);
      break;
    }
    case VASurfaceAttribMinWidth:
      raise(caps.min_width, value);
      break;
    case VASurfaceAttribMinHeight:
      raise(caps.min_height, value);
      break;
    case VASurfaceAttribMaxWidth:
      raise(caps.max_width, value);
      break;
    case VASurfaceAttribMaxHeight:
      raise(caps.max_height, value);
      break;
    case VASurfaceAttribMemoryType:
      caps.exports_prime2 |=
          (static_cast<uint32_t>(value) & VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2) != 0;
      break;
    default:
      break;
  }
}

// The config's own maximum is about the codec and wins over that of surfaces.
void override_maximum(uint32_t& maximum, uint32_t told) {
  if (told != VA_ATTRIB_NOT_SUPPORTED && told != 0) maximum = told;
}

}  // namespace

Result<std::vector<VAProfile>> decode_profiles(VADisplay display) {
  const int max_profiles = vaMaxNumProfiles(display);
  const int max_entrypoints = vaMaxNumEntrypoints(display);
  if (!sane(max_profiles) || !sane(max_entrypoints))
    return Error{.code = ErrorCode::Unsupported,
                 .call = "vaMaxNumProfiles",
                 .native = max_profiles,
                 .reason = Reason::NoDevice};

  std::vector<VAProfile> profiles(static_cast<size_t>(max_profiles));
  int count = 0;
  if (auto asked = check(vaQueryConfigProfiles(display, profiles.data(), &count),
                         "vaQueryConfigProfiles");
      !asked)
    return asked.error();
  profiles.resize(static_cast<size_t>(std::clamp(count, 0, max_profiles)));

  std::vector<VAEntrypoint> scratch(static_cast<size_t>(max_entrypoints));
  std::erase_if(profiles, [&](VAProfile profile) {
    return profile == VAProfileNone || !decodes(display, profile, scratch);
  });
  return profiles;
}

Result<DecodeCaps> query_decode_caps(VADisplay display, VAProfile profile) {
  std::array<VAConfigAttrib, 3> told{{{.type = VAConfigAttribRTFormat},
                                      {.type = VAConfigAttribMaxPictureWidth},
                                      {.type = VAConfigAttribMaxPictureHeight}}};
  if (auto asked = check(vaGetConfigAttributes(display, profile, VAEntrypointVLD, told.data(),
                                               static_cast<int>(told.size())),
                         "vaGetConfigAttributes");
      !asked) {
    asked.error().reason = Reason::ProfileUnsupported;
    return asked.error();
  }
  DecodeCaps caps;
  if (told[0].value != VA_ATTRIB_NOT_SUPPORTED) caps.rt_formats = told[0].value;

  // A config answers for its own chroma and depth only, so each is asked.
  VAStatus status = VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT;
  bool any = false;
  for (uint32_t bit = 0; bit < 32; ++bit) {
    const uint32_t rt_format = caps.rt_formats & (1u << bit);
    if (rt_format == 0) continue;
    const Config config(display, profile, rt_format);
    status = config.status();
    if (status != VA_STATUS_SUCCESS) {
      DXVA_DEBUG(Va, "profile %d: no config for rt format 0x%x: %s", profile, rt_format,
                 vaErrorStr(status));
      continue;
    }
    any = true;
    for (const VASurfaceAttrib& attribute : config.surface_attributes()) add(caps, attribute);
  }
  if (!any) {
    Error error = va_error(status, "vaCreateConfig");
    error.reason = Reason::ProfileUnsupported;
    return error;
  }
  override_maximum(caps.max_width, told[1].value);
  override_maximum(caps.max_height, told[2].value);
  return caps;
}

}  // namespace dxva::va
