// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/copy_choices.hpp"

namespace dxva::va {

std::optional<Fastest::Way> CopyChoices::next(const Key& key, Fastest::Ways possible) {
  const std::lock_guard guard(lock_);
  return entries_[key].fastest.next(possible);
}

bool CopyChoices::decided(const Key& key, Fastest::Ways possible) {
  const std::lock_guard guard(lock_);
  return entries_[key].fastest.decided(possible);
}

void CopyChoices::took(const Key& key, Fastest::Way way, std::chrono::nanoseconds time) {
  const std::lock_guard guard(lock_);
  entries_[key].fastest.took(way, time);
}

void CopyChoices::rule_out(const Key& key, Fastest::Way way) {
  const std::lock_guard guard(lock_);
  entries_[key].fastest.rule_out(way);
}

bool CopyChoices::is_proven(const Key& key, Fastest::Way way) {
  const std::lock_guard guard(lock_);
  return (entries_[key].proven & (Fastest::Ways{1} << way)) != 0;
}

void CopyChoices::set_proven(const Key& key, Fastest::Way way) {
  const std::lock_guard guard(lock_);
  entries_[key].proven |= Fastest::Ways{1} << way;
}

}  // namespace dxva::va
