// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/unfinished_pictures.hpp"

#include <algorithm>
#include <utility>

#include "lib/dmabuf/sync_file.hpp"

namespace dxva::va {

bool UnfinishedPictures::Picture::signalled() const {
  return std::none_of(fences.begin(), fences.end(),
                      [](const UniqueFd& fence) { return dmabuf::write_pending(fence.get()); });
}

bool UnfinishedPictures::take(const surface::Lease& surface,
                              const dmabuf::ExternalFrame& memory) {
  if (!surface->pool().fences_are_its_own(*surface) || !surface->still_written()) return false;
  Picture picture{.surface = surface};
  for (uint32_t i = 0; i < memory.object_count; ++i) {
    const int buffer = memory.objects[i].fd.get();
    // Before a descriptor is opened for it: most drivers' buffers have no fences.
    if (!dmabuf::write_pending(buffer)) return false;
    auto fence = dmabuf::export_write_fence(buffer);
    if (!fence) return false;
    picture.fences.push_back(std::move(*fence));
  }
  // Signalled meanwhile: then there is nothing to leave early for.
  if (picture.fences.empty() || picture.signalled()) return false;
  pictures_.push_back(std::move(picture));
  return true;
}

Result<uint32_t> UnfinishedPictures::ask(Which which) {
  uint32_t damaged = 0;
  const auto now = std::chrono::steady_clock::now();
  for (auto picture = pictures_.begin(); picture != pictures_.end();) {
    const bool overdue = now - picture->left >= patience_;
    if (which == Which::Signalled && !overdue && !picture->signalled()) {
      ++picture;
      continue;
    }
    const auto verdict = picture->surface->sync();
    if (!verdict) {
      if (verdict.error().code != ErrorCode::Busy) forget();
      return verdict.error();
    }
    if (*verdict >= accel::Severity::Significant) ++damaged;
    picture = pictures_.erase(picture);
  }
  return damaged;
}

}  // namespace dxva::va
