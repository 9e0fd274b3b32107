// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/format.hpp"

#include "lib/base/fourcc.hpp"

namespace dxva::softva {
namespace {

// I420 and YV12 as the DRM names them.
constexpr uint32_t kDrmYuv420 = fourcc('Y', 'U', '1', '2');
constexpr uint32_t kDrmYvu420 = fourcc('Y', 'V', '1', '2');

constexpr Format kFormats[] = {
    {.fourcc = VA_FOURCC_NV12,
     .drm_fourcc = format::kNV12,
     .rt_format = VA_RT_FORMAT_YUV420,
     .bit_depth = 8,
     .bits_per_pixel = 12,
     .sample_bytes = 1,
     .surface = true,
     .plane_count = 2,
     .planes = {{1, 0, 0, format::kR8}, {2, 1, 1, format::kGR88}}},
    {.fourcc = VA_FOURCC_P010,
     .drm_fourcc = format::kP010,
     .rt_format = VA_RT_FORMAT_YUV420_10,
     .bit_depth = 10,
     .bits_per_pixel = 24,
     .sample_bytes = 2,
     .surface = true,
     .plane_count = 2,
     .planes = {{2, 0, 0, format::kR16}, {4, 1, 1, format::kGR1616}}},
    // JPEG's.
    {.fourcc = VA_FOURCC_422H,
     .drm_fourcc = fourcc('Y', 'U', '1', '6'),
     .rt_format = VA_RT_FORMAT_YUV422,
     .bit_depth = 8,
     .bits_per_pixel = 16,
     .sample_bytes = 1,
     .surface = true,
     .plane_count = 3,
     .planes = {{1, 0, 0, format::kR8}, {1, 1, 0, format::kR8}, {1, 1, 0, format::kR8}}},
    {.fourcc = VA_FOURCC_444P,
     .drm_fourcc = fourcc('Y', 'U', '2', '4'),
     .rt_format = VA_RT_FORMAT_YUV444,
     .bit_depth = 8,
     .bits_per_pixel = 24,
     .sample_bytes = 1,
     .surface = true,
     .plane_count = 3,
     .planes = {{1, 0, 0, format::kR8}, {1, 0, 0, format::kR8}, {1, 0, 0, format::kR8}}},
    {.fourcc = VA_FOURCC_Y800,
     .drm_fourcc = format::kR8,
     .rt_format = VA_RT_FORMAT_YUV400,
     .bit_depth = 8,
     .bits_per_pixel = 8,
     .sample_bytes = 1,
     .surface = true,
     .plane_count = 1,
     .planes = {{1, 0, 0, format::kR8}}},
    {.fourcc = VA_FOURCC_I420,
     .drm_fourcc = kDrmYuv420,
     .rt_format = VA_RT_FORMAT_YUV420,
     .bit_depth = 8,
     .bits_per_pixel = 12,
     .sample_bytes = 1,
     .surface = false,
     .plane_count = 3,
     .planes = {{1, 0, 0, format::kR8}, {1, 1, 1, format::kR8}, {1, 1, 1, format::kR8}}},
    {.fourcc = VA_FOURCC_YV12,
     .drm_fourcc = kDrmYvu420,
     .rt_format = VA_RT_FORMAT_YUV420,
     .bit_depth = 8,
     .bits_per_pixel = 12,
     .sample_bytes = 1,
     .surface = false,
     .plane_count = 3,
     .planes = {{1, 0, 0, format::kR8}, {1, 1, 1, format::kR8}, {1, 1, 1, format::kR8}}},
};

uint32_t subsampled(uint32_t size, uint8_t shift) {
  return static_cast<uint32_t>((uint64_t{size} + (1u << shift) - 1) >> shift);
}

}  // namespace

uint32_t Format::row_bytes(uint32_t plane, uint32_t width) const {
  return subsampled(width, planes[plane].shift_x) * planes[plane].cell_bytes;
}

uint32_t Format::rows(uint32_t plane, uint32_t height) const {
  return subsampled(height, planes[plane].shift_y);
}

VAImageFormat Format::image_format() const {
  VAImageFormat out{};
  out.fourcc = fourcc;
  out.byte_order = VA_LSB_FIRST;
  out.bits_per_pixel = bits_per_pixel;
  return out;
}

std::span<const Format> formats() {
  return kFormats;
}

const Format* find_format(uint32_t va_fourcc) {
  for (const Format& candidate : kFormats)
    if (candidate.fourcc == va_fourcc) return &candidate;
  return nullptr;
}

const Format* default_surface_format(uint32_t rt_format) {
  for (const Format& candidate : kFormats)
    if (candidate.surface && candidate.rt_format == rt_format) return &candidate;
  return nullptr;
}

}  // namespace dxva::softva
