// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideometa.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gst/dxvagl/gl_session.hpp"
#include "lib/gl/imported.hpp"

namespace dxva::gst {

// Of a GstVideoMeta: all that says where the planes are.
inline constexpr size_t kLayoutBegin = offsetof(GstVideoMeta, format);
inline constexpr size_t kLayoutBytes = offsetof(GstVideoMeta, map) - kLayoutBegin;

// Buffers of a decoder whose surfaces take turns, and what was found out about each. The look
// at one (its metas, its memory, which kernel object that is, what the import cache has of
// it) reads little, but nearly all of it, the code too, comes from memory again behind the
// decoder's pixels; a buffer that is as it was needs no look. Streaming thread only.
class KnownPictures {
 public:
  // The import that `input` led to the last time; null: to be looked at. Only where nothing
  // has left the cache since, and no fence is pending on the memory.
  [[nodiscard, gnu::hot]] std::shared_ptr<const gl::Imported> find(GlSession& session,
                                                                   GstBuffer* input);
  // `input` led to this import, which is in the session's cache. Kept where everything that
  // led to it is seen again by find(): one memory, whose maker answers for what is behind its
  // descriptor, and the metas of nothing but the memory.
  void keep(GlSession& session, GstBuffer* input,
            const std::shared_ptr<const gl::Imported>& imported);

 private:
  struct Known {
    gsize offset = 0;  // of the memory
    gsize size = 0;
    std::array<std::byte, kLayoutBytes> layout{};
    std::weak_ptr<const gl::Imported> imported;  // the cache's, and that of frames that are out
  };

  uint64_t generation_ = 0;           // of the cache
  std::vector<GstMemory*> memories_;  // compared only; all of them live in that generation
  std::vector<Known> known_;          // of each memory
};

}  // namespace dxva::gst
