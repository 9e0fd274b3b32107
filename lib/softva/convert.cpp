// SPDX-License-Identifier: LGPL-2.1-or-later

// Built with -O3: the row loops below are plain so that the compiler turns them into vector
// code, which g++ 12 does not do at -O2. Pointers of one loop never overlap, hence __restrict.

#include "lib/softva/convert.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace dxva::softva {
namespace {

constexpr uint8_t kGrey8 = 0x80;
constexpr uint16_t kGrey16 = 0x8000;
constexpr int kWordBits = 16;

void interleave(const uint8_t* __restrict u, const uint8_t* __restrict v,
                uint8_t* __restrict uv, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    uv[2 * i] = u[i];
    uv[2 * i + 1] = v[i];
  }
}

void deinterleave(const uint8_t* __restrict uv, uint8_t* __restrict u, uint8_t* __restrict v,
                  uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    u[i] = uv[2 * i];
    v[i] = uv[2 * i + 1];
  }
}

// P010 keeps its samples in the high bits of the word.
void raise(const uint16_t* __restrict in, uint16_t* __restrict out, uint32_t count, int shift) {
  for (uint32_t i = 0; i < count; ++i) out[i] = static_cast<uint16_t>(in[i] << shift);
}

void raise_interleave(const uint16_t* __restrict u, const uint16_t* __restrict v,
                      uint16_t* __restrict uv, uint32_t count, int shift) {
  for (uint32_t i = 0; i < count; ++i) {
    uv[2 * i] = static_cast<uint16_t>(u[i] << shift);
    uv[2 * i + 1] = static_cast<uint16_t>(v[i] << shift);
  }
}

const uint16_t* words(const uint8_t* row) {
  return reinterpret_cast<const uint16_t*>(row);
}
uint16_t* words(uint8_t* row) {
  return reinterpret_cast<uint16_t*>(row);
}

// memmove, because an image may be derived from the very surface it is copied to.
void copy_rows(const uint8_t* source, size_t source_pitch, uint8_t* target, size_t target_pitch,
               uint32_t row_bytes, uint32_t rows) {
  if (source == target && source_pitch == target_pitch) return;
  for (uint32_t row = 0; row < rows; ++row)
    std::memmove(target + row * target_pitch, source + row * source_pitch, row_bytes);
}

void store_nv12(const Pixels& picture, const PixelView& surface, uint32_t width,
                uint32_t height) {
  copy_rows(picture.planes[0], picture.pitches[0], surface.planes[0], surface.pitches[0], width,
            height);
  const uint32_t pairs = (width + 1) / 2;
  for (uint32_t row = 0; row < (height + 1) / 2; ++row) {
    uint8_t* out = surface.planes[1] + size_t{row} * surface.pitches[1];
    if (picture.layout == Pixels::Layout::Gray)
      std::memset(out, kGrey8, size_t{pairs} * 2);
    else
      interleave(picture.planes[1] + size_t{row} * picture.pitches[1],
                 picture.planes[2] + size_t{row} * picture.pitches[2], out, pairs);
  }
}

void store_p010(const Pixels& picture, const PixelView& surface, uint32_t width,
                uint32_t height) {
  const int shift = kWordBits - picture.bit_depth;
  for (uint32_t row = 0; row < height; ++row)
    raise(words(picture.planes[0] + size_t{row} * picture.pitches[0]),
          words(surface.planes[0] + size_t{row} * surface.pitches[0]), width, shift);
  const uint32_t pairs = (width + 1) / 2;
  for (uint32_t row = 0; row < (height + 1) / 2; ++row) {
    uint16_t* out = words(surface.planes[1] + size_t{row} * surface.pitches[1]);
    if (picture.layout == Pixels::Layout::Gray)
      std::fill_n(out, size_t{pairs} * 2, kGrey16);
    else
      raise_interleave(words(picture.planes[1] + size_t{row} * picture.pitches[1]),
                       words(picture.planes[2] + size_t{row} * picture.pitches[2]), out, pairs,
                       shift);
  }
}

// Where a plane of `view` has the sample that covers pixel (x, y).
uint8_t* sample(const PixelView& view, uint32_t plane, uint32_t x, uint32_t y) {
  const PlaneFormat& format = view.format->planes[plane];
  return view.planes[plane] + size_t{y >> format.shift_y} * view.pitches[plane] +
         size_t{x >> format.shift_x} * format.cell_bytes;
}

// I420's planes are Y, U, V and YV12's Y, V, U.
uint32_t u_plane(const Format& format) {
  return format.fourcc == VA_FOURCC_YV12 ? 2 : 1;
}
uint32_t v_plane(const Format& format) {
  return format.fourcc == VA_FOURCC_YV12 ? 1 : 2;
}

// What a picture must be to go into a surface of this format plane by plane.
std::optional<Pixels::Layout> planar_layout(uint32_t fourcc) {
  switch (fourcc) {
    case VA_FOURCC_Y800:
      return Pixels::Layout::Gray;
    case VA_FOURCC_422H:
      return Pixels::Layout::Yuv422;
    case VA_FOURCC_444P:
      return Pixels::Layout::Yuv444;
    default:
      return std::nullopt;
  }
}

bool is_planar8(const Format& format) {
  return format.fourcc == VA_FOURCC_I420 || format.fourcc == VA_FOURCC_YV12;
}

void copy_plane(const PixelView& source, const PixelArea& area, const PixelView& target,
                uint32_t x, uint32_t y, uint32_t plane) {
  copy_rows(sample(source, plane, area.x, area.y), source.pitches[plane],
            sample(target, plane, x, y), target.pitches[plane],
            source.format->row_bytes(plane, area.width),
            source.format->rows(plane, area.height));
}

bool inside(const PixelView& view, uint64_t x, uint64_t y, const PixelArea& area) {
  return x + area.width <= view.width && y + area.height <= view.height;
}

}  // namespace

Status store_picture(const Pixels& picture, const PixelView& surface) {
  const bool planes_fit =
      picture.layout == Pixels::Layout::Yuv420 || picture.layout == Pixels::Layout::Gray;
  const uint32_t width = std::min(picture.width, surface.width);
  const uint32_t height = std::min(picture.height, surface.height);
  if (planes_fit && surface.format->fourcc == VA_FOURCC_NV12 && picture.bit_depth == 8) {
    store_nv12(picture, surface, width, height);
    return Done{};
  }
  if (planes_fit && surface.format->fourcc == VA_FOURCC_P010 && picture.bit_depth > 8 &&
      picture.bit_depth <= surface.format->bit_depth) {
    store_p010(picture, surface, width, height);
    return Done{};
  }
  if (picture.bit_depth == 8 && planar_layout(surface.format->fourcc) == picture.layout) {
    for (uint32_t plane = 0; plane < surface.format->plane_count; ++plane)
      copy_rows(picture.planes[plane], picture.pitches[plane], surface.planes[plane],
                surface.pitches[plane], surface.format->row_bytes(plane, width),
                surface.format->rows(plane, height));
    return Done{};
  }
  return Error{.code = ErrorCode::Unsupported,
               .call = "store_picture",
               .text = "the surface's format does not hold what was decoded",
               .reason = Reason::FormatUnsupported};
}

Status copy_area(const PixelView& source, const PixelArea& area, const PixelView& target,
                 uint32_t x, uint32_t y) {
  if (area.width == 0 || area.height == 0 || !inside(source, area.x, area.y, area) ||
      !inside(target, x, y, area))
    return Error{.code = ErrorCode::BadInput, .call = "copy_area"};

  if (source.format == target.format) {
    for (uint32_t plane = 0; plane < source.format->plane_count; ++plane)
      copy_plane(source, area, target, x, y, plane);
    return Done{};
  }

  const uint32_t pairs = (area.width + 1) / 2;
  const uint32_t chroma_rows = (area.height + 1) / 2;
  if (source.format->fourcc == VA_FOURCC_NV12 && is_planar8(*target.format)) {
    const uint32_t u = u_plane(*target.format), v = v_plane(*target.format);
    copy_plane(source, area, target, x, y, 0);
    for (uint32_t row = 0; row < chroma_rows; ++row)
      deinterleave(sample(source, 1, area.x, area.y) + size_t{row} * source.pitches[1],
                   sample(target, u, x, y) + size_t{row} * target.pitches[u],
                   sample(target, v, x, y) + size_t{row} * target.pitches[v], pairs);
    return Done{};
  }
  if (is_planar8(*source.format) && target.format->fourcc == VA_FOURCC_NV12) {
    const uint32_t u = u_plane(*source.format), v = v_plane(*source.format);
    copy_plane(source, area, target, x, y, 0);
    for (uint32_t row = 0; row < chroma_rows; ++row)
      interleave(sample(source, u, area.x, area.y) + size_t{row} * source.pitches[u],
                 sample(source, v, area.x, area.y) + size_t{row} * source.pitches[v],
                 sample(target, 1, x, y) + size_t{row} * target.pitches[1], pairs);
    return Done{};
  }
  return Error{
      .code = ErrorCode::Unsupported, .call = "copy_area", .reason = Reason::FormatUnsupported};
}

}  // namespace dxva::softva
