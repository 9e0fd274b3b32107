// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/video_processor.hpp"

#include <cstring>
#include <optional>

#include "lib/softva/convert.hpp"
#include "lib/softva/driver.hpp"

namespace dxva::softva {
namespace {

// Null: all of the surface. Nothing: no rectangle of it.
std::optional<PixelArea> area_of(const VARectangle* region, const SurfaceLayout& layout) {
  if (!region) return PixelArea{0, 0, layout.width, layout.height};
  if (region->x < 0 || region->y < 0 || region->width == 0 || region->height == 0)
    return std::nullopt;
  return PixelArea{static_cast<uint32_t>(region->x), static_cast<uint32_t>(region->y),
                   region->width, region->height};
}

// Waits for the source. Two surfaces are locked at once, always the older one first.
VAStatus copy_pixels(Surface& source, const PixelArea& from, Surface& target, uint32_t x,
                     uint32_t y) {
  if (&source == &target) return VA_STATUS_ERROR_INVALID_PARAMETER;
  (void)source.wait(VA_TIMEOUT_INFINITE);
  const auto copy = [&](const PixelView& in, const PixelView& out) {
    return copy_area(in, from, out, x, y);
  };
  const bool source_first = source.number() < target.number();
  const auto copied =
      source_first
          ? source.with_pixels(CpuAccess::Mode::Read,
                               [&](const PixelView& in) {
                                 return target.with_pixels(
                                     CpuAccess::Mode::Write,
                                     [&](const PixelView& out) { return copy(in, out); });
                               })
          : target.with_pixels(CpuAccess::Mode::Write, [&](const PixelView& out) {
              return source.with_pixels(CpuAccess::Mode::Read,
                                        [&](const PixelView& in) { return copy(in, out); });
            });
  if (copied) return VA_STATUS_SUCCESS;
  return copied.error().code == ErrorCode::Unsupported ? VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT
                                                       : VA_STATUS_ERROR_INVALID_PARAMETER;
}

VAStatus run_pipeline(Driver& driver, const VAProcPipelineParameterBuffer& pipeline,
                      Surface& target) {
  const auto source = driver.surfaces.find(pipeline.surface);
  if (!source) return VA_STATUS_ERROR_INVALID_SURFACE;
  if (pipeline.num_filters > 0) return VA_STATUS_ERROR_UNSUPPORTED_FILTER;
  if (pipeline.rotation_state != VA_ROTATION_NONE || pipeline.mirror_state != VA_MIRROR_NONE)
    return VA_STATUS_ERROR_UNIMPLEMENTED;
  const auto from = area_of(pipeline.surface_region, source->layout());
  const auto to = area_of(pipeline.output_region, target.layout());
  if (!from || !to) return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (from->width != to->width || from->height != to->height)
    return VA_STATUS_ERROR_UNIMPLEMENTED;  // no scaling
  return copy_pixels(*source, *from, target, to->x, to->y);
}

}  // namespace

VAStatus process_picture(Driver& driver, const Picture& picture,
                         const std::shared_ptr<Surface>& target) {
  if (picture.buffers.empty()) return VA_STATUS_ERROR_INVALID_PARAMETER;
  const Surface::Rendering rendering(target);
  for (const ParameterBuffer& buffer : picture.buffers) {
    VAProcPipelineParameterBuffer pipeline;
    if (buffer.type != VAProcPipelineParameterBufferType ||
        buffer.bytes.size() < sizeof pipeline)
      return VA_STATUS_ERROR_INVALID_PARAMETER;
    std::memcpy(&pipeline, buffer.bytes.data(), sizeof pipeline);
    if (const VAStatus status = run_pipeline(driver, pipeline, *target);
        status != VA_STATUS_SUCCESS)
      return status;
  }
  return VA_STATUS_SUCCESS;
}

VAStatus query_filters(Driver& driver, VAContextID context, VAProcFilterType*,
                       unsigned* count) {
  if (!driver.contexts.find(context)) return VA_STATUS_ERROR_INVALID_CONTEXT;
  if (!count) return VA_STATUS_ERROR_INVALID_PARAMETER;
  *count = 0;
  return VA_STATUS_SUCCESS;
}

VAStatus query_filter_caps(Driver& driver, VAContextID context, VAProcFilterType, void*,
                           unsigned* count) {
  if (!driver.contexts.find(context)) return VA_STATUS_ERROR_INVALID_CONTEXT;
  if (!count) return VA_STATUS_ERROR_INVALID_PARAMETER;
  *count = 0;
  return VA_STATUS_ERROR_UNSUPPORTED_FILTER;
}

VAStatus query_pipeline_caps(Driver& driver, VAContextID context, VABufferID*, unsigned count,
                             VAProcPipelineCaps* caps) {
  if (!driver.contexts.find(context)) return VA_STATUS_ERROR_INVALID_CONTEXT;
  if (!caps) return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (count > 0) return VA_STATUS_ERROR_UNSUPPORTED_FILTER;
  // The arrays behind the pointers are the client's to provide, and it need not.
  *caps = {};
  caps->rotation_flags = 1u << VA_ROTATION_NONE;
  caps->mirror_flags = VA_MIRROR_NONE;
  caps->max_input_width = caps->max_output_width = kMaxSize;
  caps->max_input_height = caps->max_output_height = kMaxSize;
  caps->min_input_width = caps->min_output_width = 1;
  caps->min_input_height = caps->min_output_height = 1;
  return VA_STATUS_SUCCESS;
}

VAStatus copy_object(Driver& driver, VACopyObject* target_object, VACopyObject* source_object,
                     VACopyOption) {
  if (!target_object || !source_object) return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (target_object->obj_type != VACopyObjectSurface ||
      source_object->obj_type != VACopyObjectSurface)
    return VA_STATUS_ERROR_UNIMPLEMENTED;
  const auto target = driver.surfaces.find(target_object->object.surface_id);
  const auto source = driver.surfaces.find(source_object->object.surface_id);
  if (!target || !source) return VA_STATUS_ERROR_INVALID_SURFACE;
  const SurfaceLayout& in = source->layout();
  const SurfaceLayout& out = target->layout();
  if (in.format != out.format || in.width != out.width || in.height != out.height)
    return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (driver.fails(Call::Copy, target->number())) return VA_STATUS_ERROR_OPERATION_FAILED;
  const Surface::Rendering rendering(target);
  // With or without the option to wait, it is done when this returns.
  return copy_pixels(*source, {0, 0, in.width, in.height}, *target, 0, 0);
}

}  // namespace dxva::softva
