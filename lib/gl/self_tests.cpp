// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/self_tests.hpp"

#include <algorithm>

namespace dxva::gl {

LayoutKey LayoutKey::of(Step step, const ImportKey& import) {
  return {.step = step,
          .fourcc = import.fourcc,
          .width = import.width,
          .height = import.height,
          .modifier = import.modifier,
          .pitch_bytes = {import.planes[0].pitch_bytes, import.planes[1].pitch_bytes},
          .planes_share = import.planes[0].buffer == import.planes[1].buffer};
}

SelfTests::Verdict SelfTests::verdict(const LayoutKey& key, uint64_t frame) const {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return Verdict::Open;
  if (entry->second.right) return Verdict::Right;
  return frame < entry->second.retry_at ? Verdict::Wrong : Verdict::Open;
}

void SelfTests::passed(const LayoutKey& key) {
  if (entries_.size() >= kMaxLayouts) entries_.clear();
  entries_[key] = {.right = true};
}

void SelfTests::failed(const LayoutKey& key, uint64_t frame) {
  if (entries_.size() >= kMaxLayouts) entries_.clear();
  Entry& entry = entries_[key];
  const uint64_t back_off = entry.back_off == 0
                                ? ImportCache::kFirstBackOff
                                : std::min(entry.back_off * 2, ImportCache::kLastBackOff);
  entry = {.right = false, .back_off = back_off, .retry_at = frame + back_off};
}

void SelfTests::forgive() {
  std::erase_if(entries_, [](const auto& one) { return !one.second.right; });
}

}  // namespace dxva::gl
