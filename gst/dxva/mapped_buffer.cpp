// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/mapped_buffer.hpp"

#include <utility>

namespace dxva::gst {

namespace {

struct Held {
  surface::Lease shown;  // goes last: then the surface may be written again
  std::unique_ptr<surface::Mapping> mapping;
};

}  // namespace

bool reads_in_place(const AllocationAnswer& downstream) {
  constexpr const char* kProperty = "reads-in-place";
  GstBufferPool* pool = downstream.words.copy_pool.get();
  if (!pool || !downstream.video_meta) return false;
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(pool), kProperty);
  if (!spec || spec->value_type != G_TYPE_BOOLEAN) return false;
  gboolean reads = FALSE;
  g_object_get(pool, kProperty, &reads, nullptr);
  return reads;
}

GstPtr<GstBuffer> wrap_mapped(surface::Surface::InPlace mapped, surface::Lease shown,
                              const PictureView& view, const decode::Rect& visible) {
  const std::span<const uint8_t> memory = mapped.memory;
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  for (uint32_t i = 0; i < view.plane_count; ++i) {
    const video::PlaneView plane = crop_plane(view, i, visible);
    offset[i] = static_cast<gsize>(plane.data - memory.data());
    stride[i] = static_cast<gint>(plane.pitch_bytes);
  }
  auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
  // Who maps it for writing gets a copy: the decoder may predict from the picture yet.
  gst_buffer_append_memory(
      buffer.get(),
      gst_memory_new_wrapped(
          GST_MEMORY_FLAG_READONLY, const_cast<uint8_t*>(memory.data()), memory.size(), 0,
          memory.size(),
          new Held{.shown = std::move(shown), .mapping = std::move(mapped.mapping)},
          [](gpointer held) { delete static_cast<Held*>(held); }));
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, view.format,
                                 visible.width, visible.height, view.plane_count, offset,
                                 stride);
  return buffer;
}

}  // namespace dxva::gst
