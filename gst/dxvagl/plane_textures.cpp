// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/plane_textures.hpp"

#include <array>
#include <atomic>

#include "gst/dxvagl/spent_fences.hpp"
#include "gst/dxvagl/told_memory.hpp"

namespace dxva::gst {
namespace {

// GstGLMemory's own rule for the size of a plane's texture, so that what it reads back through
// our handle is the whole plane.
struct Texels {
  uint32_t width = 0;  // for tiled formats in bytes
  uint32_t height = 0;
};
Texels texels_of(const GstVideoInfo& info, guint plane) {
  const GstVideoFormatInfo* format = info.finfo;
  if (GST_VIDEO_FORMAT_INFO_IS_TILED(format)) {
    // The "stride" of a tiled format is two numbers of tiles.
    const auto stride = static_cast<gsize>(GST_VIDEO_INFO_PLANE_STRIDE(&info, plane));
    return {.width = static_cast<uint32_t>(GST_VIDEO_TILE_X_TILES(stride) *
                                           GST_VIDEO_FORMAT_INFO_TILE_STRIDE(format, plane)),
            .height = static_cast<uint32_t>(GST_VIDEO_TILE_Y_TILES(stride) *
                                            GST_VIDEO_FORMAT_INFO_TILE_HEIGHT(format, plane))};
  }
  if (!GST_VIDEO_INFO_IS_YUV(&info))
    return {.width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&info)),
            .height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(&info))};
  gint components[GST_VIDEO_MAX_COMPONENTS];
  gst_video_format_info_component(format, plane, components);
  uint32_t width = static_cast<uint32_t>(GST_VIDEO_INFO_COMP_WIDTH(&info, components[0]));
  // Six pixels in four words (GstGL has it since 1.26).
  if (GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_v210)
    width = (static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&info)) + 5) / 6 * 4;
  return {.width = width,
          .height = static_cast<uint32_t>(GST_VIDEO_INFO_COMP_HEIGHT(&info, components[0]))};
}

bool is_16_bit(GstGLFormat format) {
  return format == GST_GL_R16 || format == GST_GL_RG16 || format == GST_GL_RGBA16 ||
         format == GST_GL_RGB16;
}

// Counts the memories that share one owner: GstGL calls back once for each plane.
struct Shares {
  std::shared_ptr<void> owner;
  std::atomic<guint> left;

  static void drop(Shares* shares, guint count) {
    if (shares->left.fetch_sub(count) == count) delete shares;
  }
};

template <auto kFunction>
[[gnu::hot]] void on_gl_thread(GstGLSyncMeta* meta, GstGLContext* context) {
  if (!meta->data) return;
  gst_gl_context_thread_add(
      context,
      [](GstGLContext* current, gpointer data) {
        auto* with_fence = static_cast<GstGLSyncMeta*>(data);
        (with_fence->*kFunction)(with_fence, current);
      },
      meta);
}

void free_later(GstGLSyncMeta* meta, GstGLContext* context) {
  if (!put_off_fence(*meta)) on_gl_thread<&GstGLSyncMeta::free_gl>(meta, context);
}

}  // namespace

std::optional<gl::TextureSpecs> texture_specs(GstGLContext* context, const gl::GlApi& api,
                                              const GstVideoInfo& info) {
  gl::TextureSpecs specs;
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    const GstGLFormat sized = gst_gl_format_from_video_info(context, &info, p);
    if (is_16_bit(sized) && !api.facts.norm16) return std::nullopt;
    GstGLFormat unsized = sized;
    guint type = 0;
    gst_gl_format_type_from_sized_gl_format(sized, &unsized, &type);
    gl::TextureSpec spec{
        .internal_format = static_cast<GLint>(
            gst_gl_sized_gl_format_from_gl_format_type(context, unsized, type)),
        .format = static_cast<GLenum>(unsized),
        .type = type,
        .texel_bytes = gst_gl_format_type_n_bytes(unsized, type)};
    const Texels texels = texels_of(info, p);
    spec.width = GST_VIDEO_FORMAT_INFO_IS_TILED(info.finfo) ? texels.width / spec.texel_bytes
                                                            : texels.width;
    spec.height = texels.height;
    if (spec.width == 0 || spec.height == 0) return std::nullopt;
    specs.push_back(spec);
  }
  return specs;
}

GstVideoInfo gl_layout(const GstVideoInfo& info) {
  GstVideoInfo out = info;
  // GstVideoInfo rounds the rows of sub-sampled formats up before the next plane starts,
  // GstGLMemory does not: with an odd height its read-back would start outside its memory, and
  // the chroma be wrong.
  gsize offset = 0;
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&out); ++p) {
    out.offset[p] = offset;
    offset += gst_gl_get_plane_data_size(&out, nullptr, p);
  }
  return out;
}

GstPtr<GstBuffer> wrap_textures(GstGLContext* context, const GstVideoInfo& info,
                                std::span<const GLuint> textures, std::shared_ptr<void> owner,
                                Writable writable) {
  const auto count = static_cast<guint>(textures.size());
  std::array<gpointer, GST_VIDEO_MAX_PLANES> handles{};
  std::array<GstGLFormat, GST_VIDEO_MAX_PLANES> formats{};
  for (guint p = 0; p < count; ++p) {
    handles[p] = GUINT_TO_POINTER(textures[p]);
    // RED and RG, not R8 and RG8: with the sized names glcolorconvert of 1.22 makes other
    // colours. This function answers with the former.
    formats[p] = gst_gl_format_from_video_info(context, &info, p);
  }
  // Not gst_gl_memory_allocator_get_default(): that is the kind with a pixel buffer object, and
  // makes one for each texture that is wrapped (7.5 against 5.2 ms CPU for a 1080p frame).
  GstGLMemoryAllocator* allocator = told_memory_allocator();
  const GstVideoInfo layout = gl_layout(info);
  auto* shares = new Shares{.owner = std::move(owner), .left = count};
  GstGLVideoAllocationParams* params = gst_gl_video_allocation_params_new_wrapped_gl_handle(
      context, nullptr, &layout, 0, nullptr, GST_GL_TEXTURE_TARGET_2D, formats[0], nullptr,
      shares, [](gpointer data) { Shares::drop(static_cast<Shares*>(data), 1); });
  auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
  const bool ok = gst_gl_memory_setup_buffer(allocator, buffer.get(), params, formats.data(),
                                             handles.data(), count);
  gst_gl_allocation_params_free(reinterpret_cast<GstGLAllocationParams*>(params));
  if (!ok) {
    // The memories that were made drop their shares with the buffer; these were not made.
    const guint missing = count - gst_buffer_n_memory(buffer.get());
    if (missing != 0) Shares::drop(shares, missing);
    return {};
  }
  for (guint i = 0; writable == Writable::No && i < gst_buffer_n_memory(buffer.get()); ++i)
    GST_MINI_OBJECT_FLAG_SET(gst_buffer_peek_memory(buffer.get(), i), GST_MEMORY_FLAG_READONLY);
  return buffer;
}

// Without commands to wait for it stays empty, for consumers that want to set it; GstGL's own
// would still travel to the GL thread, to wait for the fence that it has not. And it always
// does to delete it, which is put off to a trip that is due in any case.
GstGLSyncMeta* add_sync_meta(GstBuffer* buffer, GstGLContext* context) {
  GstGLSyncMeta* meta = gst_buffer_add_gl_sync_meta(context, buffer);
  if (!meta) return nullptr;
  meta->wait = on_gl_thread<&GstGLSyncMeta::wait_gl>;
  meta->free = free_later;
  return meta;
}

bool put_off_fence(GstGLSyncMeta& meta) {
  if (!meta.data) return true;
  SpentFences* spent = SpentFences::of(meta.context);
  if (!spent || !spent->keep(static_cast<GLsync>(meta.data))) return false;
  meta.data = nullptr;
  return true;
}

void set_sync_point(GstBuffer* buffer, GstGLContext* context) {
  if (SpentFences* spent = SpentFences::of(context)) spent->delete_all(context);
  if (GstGLSyncMeta* meta = gst_buffer_get_gl_sync_meta(buffer))
    gst_gl_sync_meta_set_sync_point(meta, context);
}

}  // namespace dxva::gst
