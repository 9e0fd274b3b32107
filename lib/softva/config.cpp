// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/config.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

#include "lib/softva/driver.hpp"
#include "lib/softva/frame_decoder.hpp"

namespace dxva::softva {
namespace {

// The video processor's, which libva counts among the profiles.
bool is_processor(VAProfile profile) {
  return profile == VAProfileNone;
}

bool is_supported(VAProfile profile) {
  if (is_processor(profile)) return true;
  const auto known = FrameDecoder::profiles();
  return std::find(known.begin(), known.end(), profile) != known.end();
}

VAEntrypoint entrypoint_of(VAProfile profile) {
  return is_processor(profile) ? VAEntrypointVideoProc : VAEntrypointVLD;
}

VAStatus check_pair(VAProfile profile, VAEntrypoint entrypoint) {
  if (!is_supported(profile)) return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
  if (entrypoint != entrypoint_of(profile)) return VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT;
  return VA_STATUS_SUCCESS;
}

// Some profiles hold streams of two depths; a client's surfaces must be able to follow.
uint32_t rt_formats_of(VAProfile profile) {
  switch (profile) {
    case VAProfileNone:
    case VAProfileHEVCMain10:
    case VAProfileAV1Profile0:
      return VA_RT_FORMAT_YUV420 | VA_RT_FORMAT_YUV420_10;
    case VAProfileVP9Profile2:
#if VA_CHECK_VERSION(1, 18, 0)
    case VAProfileH264High10:
#endif
      return VA_RT_FORMAT_YUV420_10;
    case VAProfileJPEGBaseline:
      return VA_RT_FORMAT_YUV420 | VA_RT_FORMAT_YUV422 | VA_RT_FORMAT_YUV444 |
             VA_RT_FORMAT_YUV400;
    default:
      return VA_RT_FORMAT_YUV420;
  }
}

uint32_t attribute_value(VAConfigAttribType type, uint32_t rt_formats) {
  switch (type) {
    case VAConfigAttribRTFormat:
      return rt_formats;
    case VAConfigAttribMaxPictureWidth:
    case VAConfigAttribMaxPictureHeight:
      return kMaxSize;
    case VAConfigAttribDecSliceMode:
      return VA_DEC_SLICE_MODE_NORMAL;
    default:
      return VA_ATTRIB_NOT_SUPPORTED;
  }
}

}  // namespace

VAStatus query_config_profiles(Driver&, VAProfile* list, int* count) {
  if (!list || !count) return VA_STATUS_ERROR_INVALID_PARAMETER;
  const auto known = FrameDecoder::profiles();
  *std::copy(known.begin(), known.end(), list) = VAProfileNone;
  *count = static_cast<int>(known.size()) + 1;
  return VA_STATUS_SUCCESS;
}

VAStatus query_config_entrypoints(Driver&, VAProfile profile, VAEntrypoint* list, int* count) {
  if (!list || !count) return VA_STATUS_ERROR_INVALID_PARAMETER;
  *count = 0;
  if (!is_supported(profile)) return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
  list[(*count)++] = entrypoint_of(profile);
  return VA_STATUS_SUCCESS;
}

VAStatus get_config_attributes(Driver&, VAProfile profile, VAEntrypoint entrypoint,
                               VAConfigAttrib* list, int count) {
  if (count < 0 || (count > 0 && !list)) return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (const VAStatus status = check_pair(profile, entrypoint); status != VA_STATUS_SUCCESS)
    return status;
  for (int i = 0; i < count; ++i)
    list[i].value = attribute_value(list[i].type, rt_formats_of(profile));
  return VA_STATUS_SUCCESS;
}

VAStatus create_config(Driver& driver, VAProfile profile, VAEntrypoint entrypoint,
                       VAConfigAttrib* list, int count, VAConfigID* id) {
  if (!id || count < 0 || (count > 0 && !list)) return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (const VAStatus status = check_pair(profile, entrypoint); status != VA_STATUS_SUCCESS)
    return status;
  if (driver.fails(Call::CreateConfig)) return VA_STATUS_ERROR_ALLOCATION_FAILED;

  Config config{
      .profile = profile, .entrypoint = entrypoint, .rt_formats = rt_formats_of(profile)};
  for (int i = 0; i < count; ++i) {
    if (list[i].value == VA_ATTRIB_NOT_SUPPORTED) continue;
    const uint32_t offered = attribute_value(list[i].type, rt_formats_of(profile));
    switch (list[i].type) {
      case VAConfigAttribRTFormat:
        config.rt_formats &= list[i].value;
        if (!config.rt_formats) return VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT;
        break;
      case VAConfigAttribMaxPictureWidth:
      case VAConfigAttribMaxPictureHeight:
        if (list[i].value > offered) return VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED;
        break;
      case VAConfigAttribDecSliceMode:
        if (list[i].value != offered) return VA_STATUS_ERROR_INVALID_VALUE;
        break;
      default:
        return VA_STATUS_ERROR_ATTR_NOT_SUPPORTED;
    }
  }
  *id = driver.configs.add(std::make_shared<Config>(config));
  return VA_STATUS_SUCCESS;
}

VAStatus destroy_config(Driver& driver, VAConfigID id) {
  return driver.configs.remove(id) ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_CONFIG;
}

VAStatus query_config_attributes(Driver& driver, VAConfigID id, VAProfile* profile,
                                 VAEntrypoint* entrypoint, VAConfigAttrib* list, int* count) {
  const auto config = driver.configs.find(id);
  if (!config) return VA_STATUS_ERROR_INVALID_CONFIG;
  if (!profile || !entrypoint || !list || !count) return VA_STATUS_ERROR_INVALID_PARAMETER;
  *profile = config->profile;
  *entrypoint = config->entrypoint;
  constexpr VAConfigAttribType kTypes[] = {
      VAConfigAttribRTFormat, VAConfigAttribMaxPictureWidth, VAConfigAttribMaxPictureHeight,
      VAConfigAttribDecSliceMode};
  static_assert(std::size(kTypes) <= kMaxConfigAttributes);
  *count = 0;
  for (const VAConfigAttribType type : kTypes)
    list[(*count)++] = {.type = type, .value = attribute_value(type, config->rt_formats)};
  return VA_STATUS_SUCCESS;
}

}  // namespace dxva::softva
