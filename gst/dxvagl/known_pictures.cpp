// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/known_pictures.hpp"

#include <algorithm>
#include <cstring>

#include "gst/common/finished_memory.hpp"
#include "gst/common/memory_identity.hpp"
#include "gst/dxvagl/import_memory.hpp"

namespace dxva::gst {
namespace {

// Null: there are several, or it is a share, whose parent is somebody else's.
[[gnu::hot]] GstMemory* only_memory(GstBuffer* buffer) {
  if (gst_buffer_n_memory(buffer) != 1) return nullptr;
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  return memory->parent ? nullptr : memory;
}

// Null: there are others, which may be a crop, or none.
[[gnu::hot]] const GstVideoMeta* only_meta(GstBuffer* buffer) {
  static const GType video = GST_VIDEO_META_API_TYPE;
  gpointer state = nullptr;
  const GstMeta* first = gst_buffer_iterate_meta(buffer, &state);
  if (!first || first->info->api != video || gst_buffer_iterate_meta(buffer, &state))
    return nullptr;
  return reinterpret_cast<const GstVideoMeta*>(first);
}

const std::byte* layout_of(const GstVideoMeta& meta) {
  return reinterpret_cast<const std::byte*>(&meta) + kLayoutBegin;
}

}  // namespace

std::shared_ptr<const gl::Imported> KnownPictures::find(GlSession& session, GstBuffer* input) {
  GstMemory* memory = only_memory(input);
  const auto at = std::ranges::find(memories_, memory);
  if (!memory || at == memories_.end()) return nullptr;
  const Known& known = known_[static_cast<size_t>(at - memories_.begin())];
  const GstVideoMeta* meta = only_meta(input);
  if (!meta || memory->offset != known.offset || memory->size != known.size ||
      std::memcmp(layout_of(*meta), known.layout.data(), kLayoutBytes) != 0 ||
      !is_finished(memory))
    return nullptr;
  return session.cache()->generation() == generation_ ? known.imported.lock() : nullptr;
}

void KnownPictures::keep(GlSession& session, GstBuffer* input,
                         const std::shared_ptr<const gl::Imported>& imported) {
  GstMemory* memory = only_memory(input);
  const GstVideoMeta* meta = only_meta(input);
  if (!memory || !meta || !memory_identity(memory)) return;
  // From here on the generation ends with the memory.
  forget_with(session, input, memory_identity);
  const uint64_t generation = session.cache()->generation();
  if (generation != generation_ || memories_.size() >= gl::ImportCache::kDefaultCapacity) {
    memories_.clear();
    known_.clear();
    generation_ = generation;
  }
  Known known{.offset = memory->offset, .size = memory->size, .imported = imported};
  std::memcpy(known.layout.data(), layout_of(*meta), kLayoutBytes);
  const auto at = std::ranges::find(memories_, memory);
  if (at != memories_.end()) {
    known_[static_cast<size_t>(at - memories_.begin())] = std::move(known);
    return;
  }
  memories_.push_back(memory);
  known_.push_back(std::move(known));
}

}  // namespace dxva::gst
