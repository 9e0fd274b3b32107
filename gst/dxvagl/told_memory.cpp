// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/told_memory.hpp"

#include <utility>

#include "gst/common/attached.hpp"

G_BEGIN_DECLS
#define GST_TYPE_DXVA_TOLD_MEMORY_ALLOCATOR (gst_dxva_told_memory_allocator_get_type())
G_DECLARE_FINAL_TYPE(GstDxvaToldMemoryAllocator, gst_dxva_told_memory_allocator, GST,
                     DXVA_TOLD_MEMORY_ALLOCATOR, GstGLMemoryAllocator)
G_END_DECLS

struct _GstDxvaToldMemoryAllocator {
  GstGLMemoryAllocator parent;
};

G_DEFINE_FINAL_TYPE(GstDxvaToldMemoryAllocator, gst_dxva_told_memory_allocator,
                    GST_TYPE_GL_MEMORY_ALLOCATOR)

namespace {

const dxva::gst::Attached<std::function<void()>> kOnMap("dxva-on-map");

[[gnu::hot]] gpointer map(GstGLBaseMemory* memory, GstMapInfo* info, gsize size) {
  if (const auto* on_map = kOnMap.of(GST_MEMORY_CAST(memory))) (*on_map)();
  // The check of a cast costs as much as the map.
  return static_cast<GstGLBaseMemoryAllocatorClass*>(
             gst_dxva_told_memory_allocator_parent_class)
      ->map(memory, info, size);
}

}  // namespace

static void gst_dxva_told_memory_allocator_init(GstDxvaToldMemoryAllocator*) {}

static void gst_dxva_told_memory_allocator_class_init(GstDxvaToldMemoryAllocatorClass* klass) {
  // Not GstGLMemoryAllocatorClass::map, which that one calls.
  GST_GL_BASE_MEMORY_ALLOCATOR_CLASS(klass)->map = map;
}

namespace dxva::gst {

GstGLMemoryAllocator* told_memory_allocator() {
  static GstGLMemoryAllocator* const allocator = [] {
    gst_gl_memory_init_once();
    auto* made = g_object_new(GST_TYPE_DXVA_TOLD_MEMORY_ALLOCATOR, nullptr);
    gst_object_ref_sink(made);
    GST_OBJECT_FLAG_SET(made, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    return GST_GL_MEMORY_ALLOCATOR(made);
  }();
  return allocator;
}

void set_on_map(GstMemory* memory, std::function<void()> on_map) {
  kOnMap.keep(memory, std::make_unique<std::function<void()>>(std::move(on_map)));
}

}  // namespace dxva::gst
