// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/import_cache.hpp"

#include <algorithm>
#include <utility>

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

uint32_t ImportKey::tag() const {
  uint64_t mixed = 0;
  const auto mix = [&](uint64_t value) { mixed = (mixed ^ value) * 0x9E3779B97F4A7C15; };
  for (const Plane& plane : planes) {
    mix(plane.buffer.device);
    mix(plane.buffer.inode);
    mix(plane.offset);
    mix(plane.pitch_bytes);
  }
  return static_cast<uint32_t>(mixed >> 32);
}

ImportCache::Entry* ImportCache::locate(const ImportKey& key) {
  const uint32_t tag = key.tag();
  for (size_t i = 0; i < tags_.size(); ++i)
    if (tags_[i] == tag && entries_[i].key == key) return &entries_[i];
  return nullptr;
}

ImportCache::Answer ImportCache::find(const ImportKey& key) {
  const std::lock_guard guard(lock_);
  ++frame_;
  Entry* entry = locate(key);
  if (!entry) {
    ++counts_.misses;
    return {.kind = Answer::Kind::Miss};
  }
  entry->used_at = ++uses_;
  if (entry->imported) {
    ++counts_.hits;
    return {.kind = Answer::Kind::Hit, .imported = entry->imported};
  }
  if (frame_ < entry->retry_at) return {.kind = Answer::Kind::Refused, .reason = entry->reason};
  ++counts_.misses;
  return {.kind = Answer::Kind::Miss};
}

uint64_t ImportCache::generation() const {
  const std::lock_guard guard(lock_);
  return generation_;
}

void ImportCache::hit_again() {
  const std::lock_guard guard(lock_);
  ++frame_;
  ++counts_.hits;
}

ImportCache::Entry ImportCache::take(size_t index) {
  ++generation_;
  Entry taken = std::exchange(entries_[index], std::move(entries_.back()));
  tags_[index] = tags_.back();
  entries_.pop_back();
  tags_.pop_back();
  return taken;
}

std::vector<ImportCache::Entry> ImportCache::put(Entry entry) {
  std::vector<Entry> dropped;
  if (const Entry* old = locate(entry.key))
    dropped.push_back(take(static_cast<size_t>(old - entries_.data())));
  entry.used_at = ++uses_;
  tags_.push_back(entry.key.tag());
  entries_.push_back(std::move(entry));
  while (entries_.size() > capacity_) {
    const auto oldest =
        std::min_element(entries_.begin(), entries_.end(),
                         [](const Entry& a, const Entry& b) { return a.used_at < b.used_at; });
    dropped.push_back(take(static_cast<size_t>(oldest - entries_.begin())));
  }
  return dropped;
}

void ImportCache::store(const ImportKey& key, std::shared_ptr<const Imported> imported) {
  std::vector<Entry> dropped;
  const std::lock_guard guard(lock_);
  dropped = put({.key = key, .imported = std::move(imported)});
}

void ImportCache::store_refusal(const ImportKey& key, Reason reason) {
  std::vector<Entry> dropped;
  const std::lock_guard guard(lock_);
  uint64_t back_off = kFirstBackOff;
  const Entry* old = locate(key);
  if (old && !old->imported) back_off = std::min(old->back_off * 2, kLastBackOff);
  dropped =
      put({.key = key, .reason = reason, .back_off = back_off, .retry_at = frame_ + back_off});
}

void ImportCache::evict(const BufferIdentity& buffer) {
  std::vector<Entry> dropped;
  const std::lock_guard guard(lock_);
  ++generation_;
  for (size_t i = entries_.size(); i-- > 0;)
    if (entries_[i].key.uses(buffer)) dropped.push_back(take(i));
}

void ImportCache::clear() {
  std::vector<Entry> dropped;
  const std::lock_guard guard(lock_);
  ++generation_;
  dropped.swap(entries_);
  tags_.clear();
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
