// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/image.hpp"

#include <utility>

#include "lib/softva/driver.hpp"
#include "lib/softva/layout.hpp"
#include "lib/softva/surface.hpp"

namespace dxva::softva {
namespace {

constexpr uint32_t kImagePitchAlign = 64;

VAImage describe(const SurfaceLayout& layout, uint64_t data_bytes) {
  VAImage image{};
  image.format = layout.format->image_format();
  image.width = static_cast<uint16_t>(layout.width);
  image.height = static_cast<uint16_t>(layout.height);
  image.data_size = static_cast<uint32_t>(data_bytes);
  image.num_planes = layout.format->plane_count;
  for (uint32_t i = 0; i < layout.format->plane_count; ++i) {
    image.pitches[i] = layout.planes[i].pitch;
    image.offsets[i] = layout.planes[i].offset;
  }
  return image;
}

// Registers the image and its buffer, and tells the client their ids.
void publish(Driver& driver, Image made, VAImage* out) {
  made.description.buf = driver.buffers.add(made.buffer);
  auto image = std::make_shared<Image>(std::move(made));
  // The image learns its own id only for the client's copy; nothing here asks for it.
  *out = image->description;
  out->image_id = driver.images.add(std::move(image));
}

VAStatus copy_status(const Error& error) {
  return error.code == ErrorCode::Unsupported ? VA_STATUS_ERROR_INVALID_IMAGE_FORMAT
                                              : VA_STATUS_ERROR_INVALID_PARAMETER;
}

}  // namespace

PixelView Image::view() const {
  PixelView out{.format = format, .width = description.width, .height = description.height};
  for (uint32_t i = 0; i < format->plane_count; ++i) {
    out.planes[i] = buffer->data() + description.offsets[i];
    out.pitches[i] = description.pitches[i];
  }
  return out;
}

VAStatus query_image_formats(Driver&, VAImageFormat* list, int* count) {
  if (!list || !count) return VA_STATUS_ERROR_INVALID_PARAMETER;
  *count = 0;
  for (const Format& format : formats()) list[(*count)++] = format.image_format();
  return VA_STATUS_SUCCESS;
}

VAStatus create_image(Driver& driver, VAImageFormat* wanted, int width, int height,
                      VAImage* image) {
  if (!wanted || !image) return VA_STATUS_ERROR_INVALID_PARAMETER;
  image->image_id = VA_INVALID_ID;
  image->buf = VA_INVALID_ID;
  const Format* format = find_format(wanted->fourcc);
  if (!format) return VA_STATUS_ERROR_INVALID_IMAGE_FORMAT;
  if (width <= 0 || height <= 0 || static_cast<uint32_t>(width) > kMaxSize ||
      static_cast<uint32_t>(height) > kMaxSize)
    return VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED;
  if (driver.fails(Call::CreateImage)) return VA_STATUS_ERROR_ALLOCATION_FAILED;

  auto layout = plan_layout(*format, static_cast<uint32_t>(width),
                            static_cast<uint32_t>(height), LayoutKind::Tight, kImagePitchAlign);
  if (!layout) return VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED;
  const auto bytes = static_cast<uint32_t>(layout->object_bytes[0]);
  auto buffer = Buffer::create(VAImageBufferType, bytes, 1);
  if (!buffer) return VA_STATUS_ERROR_ALLOCATION_FAILED;
  publish(
      driver,
      {.format = format, .description = describe(*layout, bytes), .buffer = std::move(buffer)},
      image);
  return VA_STATUS_SUCCESS;
}

VAStatus derive_image(Driver& driver, VASurfaceID id, VAImage* image) {
  const auto surface = driver.surfaces.find(id);
  if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
  if (!image) return VA_STATUS_ERROR_INVALID_PARAMETER;
  image->image_id = VA_INVALID_ID;
  image->buf = VA_INVALID_ID;
  if (driver.fails(Call::DeriveImage, surface->number()))
    return VA_STATUS_ERROR_OPERATION_FAILED;

  // The client would take tiles for rows.
  if (surface->tiled()) return VA_STATUS_ERROR_OPERATION_FAILED;
  // An image is one buffer with offsets; planes in different objects do not fit that.
  const SurfaceLayout& layout = surface->layout();
  const uint32_t object = layout.planes[0].object;
  for (uint32_t i = 1; i < layout.format->plane_count; ++i)
    if (layout.planes[i].object != object) return VA_STATUS_ERROR_OPERATION_FAILED;
  publish(driver,
          {.format = layout.format,
           .description = describe(layout, layout.object_bytes[object]),
           .buffer = Buffer::share(surface->objects()[object])},
          image);
  return VA_STATUS_SUCCESS;
}

VAStatus destroy_image(Driver& driver, VAImageID id) {
  const auto image = driver.images.remove(id);
  if (!image) return VA_STATUS_ERROR_INVALID_IMAGE;
  // The client may have destroyed the buffer itself; the image is gone either way.
  (void)driver.buffers.remove(image->description.buf);
  return VA_STATUS_SUCCESS;
}

VAStatus set_image_palette(Driver& driver, VAImageID id, unsigned char*) {
  return driver.images.find(id) ? VA_STATUS_ERROR_UNIMPLEMENTED : VA_STATUS_ERROR_INVALID_IMAGE;
}

VAStatus get_image(Driver& driver, VASurfaceID surface_id, int x, int y, unsigned width,
                   unsigned height, VAImageID image_id) {
  const auto surface = driver.surfaces.find(surface_id);
  if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
  const auto image = driver.images.find(image_id);
  if (!image) return VA_STATUS_ERROR_INVALID_IMAGE;
  if (x < 0 || y < 0) return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (driver.fails(Call::GetImage, surface->number())) return VA_STATUS_ERROR_OPERATION_FAILED;

  const PixelArea area{.x = static_cast<uint32_t>(x),
                       .y = static_cast<uint32_t>(y),
                       .width = width,
                       .height = height};
  (void)surface->wait(VA_TIMEOUT_INFINITE);
  auto copied = surface->with_pixels(CpuAccess::Mode::Read, [&](const PixelView& pixels) {
    return copy_area(pixels, area, image->view(), 0, 0);
  });
  return copied ? VA_STATUS_SUCCESS : copy_status(copied.error());
}

VAStatus put_image(Driver& driver, VASurfaceID surface_id, VAImageID image_id, int source_x,
                   int source_y, unsigned source_width, unsigned source_height, int target_x,
                   int target_y, unsigned target_width, unsigned target_height) {
  const auto surface = driver.surfaces.find(surface_id);
  if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
  const auto image = driver.images.find(image_id);
  if (!image) return VA_STATUS_ERROR_INVALID_IMAGE;
  if (source_x < 0 || source_y < 0 || target_x < 0 || target_y < 0)
    return VA_STATUS_ERROR_INVALID_PARAMETER;
  // Scaling is a video processor's work.
  if (source_width != target_width || source_height != target_height)
    return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (driver.fails(Call::PutImage, surface->number())) return VA_STATUS_ERROR_OPERATION_FAILED;

  const PixelArea area{.x = static_cast<uint32_t>(source_x),
                       .y = static_cast<uint32_t>(source_y),
                       .width = source_width,
                       .height = source_height};
  (void)surface->wait(VA_TIMEOUT_INFINITE);
  auto copied = surface->with_pixels(CpuAccess::Mode::Write, [&](const PixelView& pixels) {
    return copy_area(image->view(), area, pixels, static_cast<uint32_t>(target_x),
                     static_cast<uint32_t>(target_y));
  });
  return copied ? VA_STATUS_SUCCESS : copy_status(copied.error());
}

}  // namespace dxva::softva
