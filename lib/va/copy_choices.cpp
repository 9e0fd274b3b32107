// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/copy_choices.hpp"

namespace dxva::va {

bool CopyChoices::is_proven(const Key& key, Fastest::Way way) {
  const std::lock_guard guard(lock_);
  return (proven_[key] & Fastest::only(way)) != 0;
}

void CopyChoices::set_proven(const Key& key, Fastest::Way way) {
  const std::lock_guard guard(lock_);
  proven_[key] |= Fastest::only(way);
}

}  // namespace dxva::va
