// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/import_cache.hpp"

#include <algorithm>

namespace dxva::gl {

ImportKey ImportKey::of(const video::ImageDescription& image) {
  ImportKey key{.fourcc = image.fourcc, .width = image.width, .height = image.height};
  key.modifier = image.objects[image.planes[0].object].modifier;
  for (size_t p = 0; p < key.planes.size(); ++p) {
    const video::PlaneDescription& plane = image.planes[p];
    key.planes[p] = {.buffer = image.objects[plane.object].identity,
                     .offset = plane.offset,
                     .pitch_bytes = plane.pitch_bytes};
  }
  return key;
}

ImportCache::Entries::iterator ImportCache::locate(const ImportKey& key) {
  return std::find_if(entries_.begin(), entries_.end(),
                      [&](const Entry& entry) { return entry.key == key; });
}

ImportCache::Answer ImportCache::find(const ImportKey& key) {
  const std::lock_guard guard(lock_);
  ++frame_;
  const auto entry = locate(key);
  if (entry == entries_.end()) {
    ++counts_.misses;
    return {.kind = Answer::Kind::Miss};
  }
  entries_.splice(entries_.begin(), entries_, entry);
  if (entry->imported) {
    ++counts_.hits;
    return {.kind = Answer::Kind::Hit, .imported = entry->imported};
  }
  if (frame_ < entry->retry_at) return {.kind = Answer::Kind::Refused, .reason = entry->reason};
  ++counts_.misses;
  return {.kind = Answer::Kind::Miss};
}

void ImportCache::trim(Entries& out) {
  while (entries_.size() > capacity_)
    out.splice(out.end(), entries_, std::prev(entries_.end()));
}

void ImportCache::store(const ImportKey& key, std::shared_ptr<const Imported> imported) {
  Entries dropped;
  {
    const std::lock_guard guard(lock_);
    if (const auto old = locate(key); old != entries_.end())
      dropped.splice(dropped.end(), entries_, old);
    entries_.push_front({.key = key, .imported = std::move(imported)});
    trim(dropped);
  }
}

void ImportCache::store_refusal(const ImportKey& key, Reason reason) {
  Entries dropped;
  {
    const std::lock_guard guard(lock_);
    uint64_t back_off = kFirstBackOff;
    if (const auto old = locate(key); old != entries_.end()) {
      if (!old->imported) back_off = std::min(old->back_off * 2, kLastBackOff);
      dropped.splice(dropped.end(), entries_, old);
    }
    entries_.push_front(
        {.key = key, .reason = reason, .back_off = back_off, .retry_at = frame_ + back_off});
    trim(dropped);
  }
}

void ImportCache::evict(const BufferIdentity& buffer) {
  Entries dropped;
  {
    const std::lock_guard guard(lock_);
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto next = std::next(entry);
      if (entry->key.uses(buffer)) dropped.splice(dropped.end(), entries_, entry);
      entry = next;
    }
  }
}

void ImportCache::clear() {
  Entries dropped;
  {
    const std::lock_guard guard(lock_);
    dropped.swap(entries_);
  }
}

ImportCache::Counts ImportCache::counts() const {
  const std::lock_guard guard(lock_);
  return counts_;
}

uint64_t ImportCache::frame() const {
  const std::lock_guard guard(lock_);
  return frame_;
}

size_t ImportCache::size() const {
  const std::lock_guard guard(lock_);
  return entries_.size();
}

}  // namespace dxva::gl
