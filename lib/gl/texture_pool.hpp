// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/gl/texture_set.hpp"
#include "lib/gl/texture_uploader.hpp"

namespace dxva::gl {

using TextureSpecs = std::vector<TextureSpec>;  // one per plane

// Textures of our own, used again when their last consumer has let go, so that a running stream
// makes none. Found by everything that storage depends on: two sizes in one stream, as at a
// resolution change with frames still out, must never meet in one texture.
class TexturePool {
 public:
  static constexpr size_t kMaxIdle = 16;  // pictures; what more comes back is deleted

  TexturePool(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl)
      : thread_(std::move(thread)), gl_(std::move(gl)) {}

  // Null when GL has no memory. GL-thread only.
  [[nodiscard]] std::unique_ptr<TextureSet> acquire(const TextureSpecs& specs);
  // Thread-safe.
  void give_back(const TextureSpecs& specs, std::unique_ptr<TextureSet> textures);
  // Deletes what is idle; thread-safe.
  void clear();

 private:
  struct Idle {
    TextureSpecs specs;
    std::unique_ptr<TextureSet> textures;
  };

  const std::shared_ptr<GlThread> thread_;
  const std::shared_ptr<const GlApi> gl_;

  std::mutex lock_;
  std::list<Idle> idle_;  // last returned first: its memory is still warm
};

}  // namespace dxva::gl
