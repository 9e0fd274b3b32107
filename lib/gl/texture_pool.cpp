// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/texture_pool.hpp"

#include <algorithm>

namespace dxva::gl {

std::unique_ptr<TextureSet> TexturePool::acquire(const TextureSpecs& specs) {
  {
    const std::lock_guard guard(lock_);
    const auto found = std::find_if(idle_.begin(), idle_.end(),
                                    [&](const Idle& idle) { return idle.specs == specs; });
    if (found != idle_.end()) {
      std::unique_ptr<TextureSet> textures = std::move(found->textures);
      idle_.erase(found);
      return textures;
    }
  }
  auto textures = TextureSet::create(thread_, gl_, static_cast<uint32_t>(specs.size()));
  for (size_t i = 0; i < specs.size(); ++i)
    if (!allocate_texture(*gl_, textures->names()[i], specs[i])) return nullptr;
  return textures;
}

void TexturePool::give_back(const TextureSpecs& specs, std::unique_ptr<TextureSet> textures) {
  std::list<Idle> dropped;  // deleted without the lock: deleting waits for the GL thread
  {
    const std::lock_guard guard(lock_);
    idle_.push_front({.specs = specs, .textures = std::move(textures)});
    if (idle_.size() > kMaxIdle) dropped.splice(dropped.end(), idle_, std::prev(idle_.end()));
  }
}

void TexturePool::clear() {
  std::list<Idle> dropped;
  {
    const std::lock_guard guard(lock_);
    dropped.swap(idle_);
  }
}

}  // namespace dxva::gl
