// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/pending_pictures.hpp"

#include <utility>

namespace dxva::decode {

void PendingPictures::sent(uint32_t number, Marks marks) {
  const std::lock_guard guard(lock_);
  // A replay sends it again: what is known of it stays.
  entries_.try_emplace(number, Entry{.marks = marks});
}

void PendingPictures::allocated(uint32_t number) {
  const std::lock_guard guard(lock_);
  if (auto entry = entries_.find(number); entry != entries_.end())
    entry->second.allocated = true;
}

std::optional<PendingPictures::Marks> PendingPictures::output(uint32_t number) {
  const std::lock_guard guard(lock_);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return std::nullopt;
  const Marks marks = found->second.marks;
  for (auto entry = entries_.begin(); entry != found;) {
    // All packets before this one have been looked at, so one without a picture by now was a
    // second field or a lost one (the rule that gst-libav uses).
    const bool hopeless =
        !reorders_ || !entry->second.allocated || number - entry->first > kLongestDelay;
    if (hopeless) abandoned_.push_back(entry->first);
    entry = hopeless ? entries_.erase(entry) : std::next(entry);
  }
  entries_.erase(found);
  return marks;
}

void PendingPictures::failed(uint32_t number) {
  const std::lock_guard guard(lock_);
  const auto entry = entries_.find(number);
  if (entry == entries_.end()) return;
  if (entry->second.allocated) {
    entry->second.marks.corrupt = true;
    return;
  }
  abandoned_.push_back(number);
  entries_.erase(entry);
}

void PendingPictures::lost(uint32_t number) {
  const std::lock_guard guard(lock_);
  entries_.erase(number);
  abandoned_.push_back(number);
}

void PendingPictures::drained() {
  const std::lock_guard guard(lock_);
  for (const auto& [number, entry] : entries_) abandoned_.push_back(number);
  entries_.clear();
}

void PendingPictures::clear() {
  const std::lock_guard guard(lock_);
  entries_.clear();
  abandoned_.clear();
}

std::vector<uint32_t> PendingPictures::take_abandoned() {
  const std::lock_guard guard(lock_);
  return std::exchange(abandoned_, {});
}

std::optional<uint32_t> PendingPictures::oldest() const {
  const std::lock_guard guard(lock_);
  if (entries_.empty()) return std::nullopt;
  return entries_.begin()->first;
}

}  // namespace dxva::decode
