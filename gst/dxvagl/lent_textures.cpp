// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/lent_textures.hpp"

#include <gst/video/gstvideometa.h>

#include <utility>

#include "gst/common/attached.hpp"
#include "gst/dxvagl/told_memory.hpp"

namespace dxva::gst {
namespace {

const Attached<LentTextures> kHome("dxva-lent-textures");

}  // namespace

std::shared_ptr<LentTextures> LentTextures::make(GstGLContext* context,
                                                 const GstVideoInfo& info,
                                                 std::span<const GLuint> textures,
                                                 Writable writable,
                                                 const std::function<void()>& on_map) {
  std::shared_ptr<LentTextures> made(new LentTextures);
  made->info_ = info;
  made->form_ = wrap_textures(context, info, textures, nullptr, writable);
  if (!made->form_) return nullptr;
  for (guint i = 0; i < gst_buffer_n_memory(made->form_.get()); ++i) {
    GstMemory* memory = gst_buffer_get_memory(made->form_.get(), i);
    kHome.lend(memory, made.get());
    set_on_map(memory, on_map);
    made->memories_.push_back(memory);
  }
  gst_buffer_remove_all_memory(made->form_.get());
  for (GstMemory* memory : made->memories_)
    GST_MINI_OBJECT_CAST(memory)->dispose = on_last_unref;
  return made;
}

LentTextures::~LentTextures() {
  for (GstMemory* memory : memories_) {
    GST_MINI_OBJECT_CAST(memory)->dispose = nullptr;
    gst_memory_unref(memory);
  }
}

GstPtr<GstBuffer> LentTextures::lend(const std::shared_ptr<void>& owner) {
  {
    const std::lock_guard guard(lock_);
    if (out_ > 0 || spent_) return {};
    out_ = memories_.size();
    owner_ = owner;
  }
  auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
  // A copy of the metas alone would leave this one out: it speaks of memory.
  if (GstVideoMeta* meta = gst_buffer_get_video_meta(form_.get()))
    gst_buffer_add_video_meta_full(buffer.get(), meta->flags, meta->format, meta->width,
                                   meta->height, meta->n_planes, meta->offset, meta->stride);
  for (GstMemory* memory : memories_) gst_buffer_append_memory(buffer.get(), memory);
  return buffer;
}

bool LentTextures::spent(const GstVideoInfo& info) const {
  const std::lock_guard guard(lock_);
  return out_ == 0 && (spent_ || !gst_video_info_is_equal(&info_, &info));
}

gboolean LentTextures::on_last_unref(GstMiniObject* object) {
  GstMemory* memory = GST_MEMORY_CAST(object);
  return kHome.of(memory)->come_home(memory);
}

// FALSE: it stays.
gboolean LentTextures::come_home(GstMemory* memory) {
  // GstGL keeps what the CPU has read or written in the memory: soon another frame's picture,
  // and for each surface memory of a picture's size. And gst_buffer_resize() is for ever.
  const bool is_changed = reinterpret_cast<GstGLBaseMemory*>(memory)->data != nullptr ||
                          memory->offset != 0 || memory->size != memory->maxsize;
  std::shared_ptr<void> ended;  // perhaps the last owner of all this: it goes behind the lock
  const std::lock_guard guard(lock_);
  if (is_changed) {
    std::erase(memories_, memory);
    spent_ = true;
  } else {
    gst_memory_ref(memory);
  }
  if (--out_ == 0) ended = std::exchange(owner_, nullptr);
  return is_changed ? TRUE : FALSE;
}

}  // namespace dxva::gst
