// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/lent_textures.hpp"

#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <utility>

#include "gst/common/attached.hpp"
#include "gst/dxvagl/told_memory.hpp"

namespace dxva::gst {
namespace {

const Attached<LentTextures> kHome("dxva-lent-textures");

// GstGL keeps what the CPU has read or written in the memory: soon another frame's picture,
// and for each surface memory of a picture's size. And gst_buffer_resize() is for ever.
bool is_changed(GstMemory* memory) {
  return reinterpret_cast<GstGLBaseMemory*>(memory)->data != nullptr || memory->offset != 0 ||
         memory->size != memory->maxsize;
}

}  // namespace

std::shared_ptr<LentTextures> LentTextures::make(GstGLContext* context,
                                                 const GstVideoInfo& info,
                                                 std::span<const GLuint> textures,
                                                 Writable writable,
                                                 const std::function<void()>& on_map) {
  std::shared_ptr<LentTextures> made(new LentTextures);
  made->info_ = info;
  made->context_ = GstPtr<GstGLContext>::share(context);
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
  for (GstMemory* memory : memories_) GST_MINI_OBJECT_CAST(memory)->dispose = nullptr;
  if (home_) {
    end_lending(home_.get());
    return;
  }
  for (GstMemory* memory : memories_) gst_memory_unref(memory);
}

GstPtr<GstBuffer> LentTextures::lend(const std::shared_ptr<void>& owner) {
  const std::lock_guard guard(lock_);
  if (out_ > 0 || spent_) return {};
  out_ = memories_.size();
  owner_ = owner;
  if (home_) return std::move(home_);
  return buffer_.make(context_.get(), *gst_buffer_get_video_meta(form_.get()), memories_,
                      on_last_unref_of_buffer);
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
  const bool changed = is_changed(memory);
  std::shared_ptr<void> ended;  // perhaps the last owner of all this: it goes behind the lock
  const std::lock_guard guard(lock_);
  if (changed) {
    std::erase(memories_, memory);
    spent_ = true;
  } else {
    gst_memory_ref(memory);
  }
  if (--out_ == 0) ended = std::exchange(owner_, nullptr);
  return changed ? TRUE : FALSE;
}

// FALSE: the buffer is not freed by who called.
gboolean LentTextures::on_last_unref_of_buffer(GstMiniObject* object) {
  auto buffer = GstPtr<GstBuffer>::share(reinterpret_cast<GstBuffer*>(object));
  GstMemory* first =
      gst_buffer_n_memory(buffer.get()) > 0 ? gst_buffer_peek_memory(buffer.get(), 0) : nullptr;
  // A buffer with a memory is one whose owner is still held.
  LentTextures* home = first ? kHome.of(first) : nullptr;
  if (home)
    home->come_home(std::move(buffer));
  else
    end_lending(buffer.get());
  return FALSE;
}

void LentTextures::come_home(GstPtr<GstBuffer> buffer) {
  std::shared_ptr<void> ended;  // as above
  const std::lock_guard guard(lock_);
  // Nobody else has them then.
  if (!buffer_.restore(buffer.get(), memories_) || std::ranges::any_of(memories_, is_changed)) {
    end_lending(buffer.get());  // behind the lock, and its memories come home one by one
    return;
  }
  home_ = std::move(buffer);
  out_ = 0;
  ended = std::exchange(owner_, nullptr);
}

}  // namespace dxva::gst
