// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/lent_buffer.hpp"

#include <cstddef>
#include <cstring>

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

// Whether the meta is what it was; by its bytes, but for those that tie it to its buffer. One
// of another kind may be where ours has been.
bool is_as_made(const GstVideoMeta& now, const GstVideoMeta& made) {
  constexpr size_t kBegin = offsetof(GstVideoMeta, flags);
  return now.meta.info == made.meta.info &&
         std::memcmp(reinterpret_cast<const std::byte*>(&now) + kBegin,
                     reinterpret_cast<const std::byte*>(&made) + kBegin,
                     sizeof(GstVideoMeta) - kBegin) == 0;
}

// The same; the fence in it is each frame's.
bool is_as_made(const GstGLSyncMeta& now, const GstGLSyncMeta& made) {
  constexpr size_t kBegin = offsetof(GstGLSyncMeta, set_sync);
  return now.parent.info == made.parent.info && now.context == made.context &&
         std::memcmp(reinterpret_cast<const std::byte*>(&now) + kBegin,
                     reinterpret_cast<const std::byte*>(&made) + kBegin,
                     sizeof(GstGLSyncMeta) - kBegin) == 0;
}

// Somebody's qdata or weak reference, or a tracer's: they wait for the buffer's end.
bool has_words(GstBuffer* buffer) {
  return GST_MINI_OBJECT_CAST(buffer)->priv_pointer != nullptr;
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
  video_as_made_ = *video_;
  sync_ = add_sync_meta(buffer.get(), context);
  if (sync_) sync_as_made_ = *sync_;
  for (GstMemory* memory : memories) gst_buffer_append_memory(buffer.get(), memory);
  GST_MINI_OBJECT_CAST(buffer.get())->dispose = on_last_unref;
  return buffer;
}

// Those that it was made with, and no others: theirs to free, with functions that may wait for
// anything.
bool LentBuffer::has_its_metas(GstBuffer* buffer) const {
  bool has_video = false, has_sync = false;
  gpointer state = nullptr;
  while (const GstMeta* meta = gst_buffer_iterate_meta(buffer, &state)) {
    if (meta == &video_->meta)
      has_video = true;
    else if (sync_ && meta == &sync_->parent)
      has_sync = true;
    else
      return false;
  }
  return has_video && has_sync && is_as_made(*video_, video_as_made_) &&
         is_as_made(*sync_, sync_as_made_);
}

bool LentBuffer::restore(GstBuffer* buffer, std::span<GstMemory* const> memories) const {
  if (buffer != made_ || has_words(buffer) || gst_buffer_n_memory(buffer) != memories.size())
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
