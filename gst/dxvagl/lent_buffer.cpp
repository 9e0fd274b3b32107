// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/lent_buffer.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

#include "gst/dxvagl/plane_textures.hpp"

namespace dxva::gst {
namespace {

GstMiniObjectDisposeFunction dispose_of_all_buffers() {
  static const GstMiniObjectDisposeFunction dispose = [] {
    const auto any = GstPtr<GstBuffer>::adopt(gst_buffer_new());
    return GST_MINI_OBJECT_CAST(any.get())->dispose;
  }();
  return dispose;
}

// What is behind the fields that tie a meta to its buffer.
bool is_equal(const GstVideoMeta& a, const GstVideoMeta& b) {
  constexpr size_t kBegin = offsetof(GstVideoMeta, flags);
  return std::memcmp(reinterpret_cast<const std::byte*>(&a) + kBegin,
                     reinterpret_cast<const std::byte*>(&b) + kBegin,
                     sizeof(GstVideoMeta) - kBegin) == 0;
}

}  // namespace

GstPtr<GstBuffer> LentBuffer::make(GstGLContext* context, GstVideoMeta& form,
                                   std::span<GstMemory* const> memories,
                                   GstMiniObjectDisposeFunction on_last_unref) {
  auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
  made_ = buffer.get();
  // A copy of the metas alone would leave this one out: it speaks of memory.
  video_ = gst_buffer_add_video_meta_full(buffer.get(), form.flags, form.format, form.width,
                                          form.height, form.n_planes, form.offset, form.stride);
  as_made_ = *video_;
  sync_ = add_sync_meta(buffer.get(), context);
  for (GstMemory* memory : memories) gst_buffer_append_memory(buffer.get(), memory);
  GST_MINI_OBJECT_CAST(buffer.get())->dispose = on_last_unref;
  without_words_ = GST_MINI_OBJECT_CAST(buffer.get())->priv_uint;
  return buffer;
}

bool LentBuffer::has_its_metas(GstBuffer* buffer) const {
  const GstMeta* sync = sync_ ? &sync_->parent : nullptr;
  bool has_video = false, has_sync = false, has_others = false;
  gpointer state = nullptr;
  while (const GstMeta* meta = gst_buffer_iterate_meta(buffer, &state)) {
    if (meta == &video_->meta)
      has_video = true;
    else if (meta == sync)
      has_sync = true;
    else
      has_others = true;
  }
  if (!has_video || !has_sync || !is_equal(*video_, as_made_)) return false;
  if (!has_others) return true;
  // Those of the frame, and a consumer's own.
  auto ours = std::pair(&video_->meta, sync);
  return gst_buffer_foreach_meta(
      buffer,
      [](GstBuffer*, GstMeta** meta, gpointer data) -> gboolean {
        const auto& [video, fence] = *static_cast<decltype(ours)*>(data);
        if (*meta == video || *meta == fence) return TRUE;
        if (GST_META_FLAG_IS_SET(*meta, GST_META_FLAG_LOCKED)) return FALSE;
        *meta = nullptr;
        return TRUE;
      },
      &ours);
}

bool LentBuffer::restore(GstBuffer* buffer, std::span<GstMemory* const> memories) const {
  // Qdata and weak references: who left one there waits for the buffer's end.
  if (buffer != made_ || GST_MINI_OBJECT_CAST(buffer)->priv_uint != without_words_ ||
      gst_buffer_n_memory(buffer) != memories.size())
    return false;
  for (guint i = 0; i < memories.size(); ++i)
    if (gst_buffer_peek_memory(buffer, i) != memories[i] ||
        GST_MINI_OBJECT_REFCOUNT_VALUE(memories[i]) != 1)
      return false;
  return has_its_metas(buffer) && put_off_fence(*sync_);
}

void end_lending(GstBuffer* buffer) {
  GST_MINI_OBJECT_CAST(buffer)->dispose = dispose_of_all_buffers();
}

}  // namespace dxva::gst
