// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <GL/gl.h>
#include <gst/gl/gl.h>

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "gst/common/gst_ptr.hpp"
#include "gst/dxvagl/lent_buffer.hpp"
#include "gst/dxvagl/plane_textures.hpp"

namespace dxva::gst {

// Textures as GstGL's memories, which are made once and go out with each frame that is shown
// in them. A new one costs a trip to the GL thread, and so does its end; these come back
// instead of being freed, the way a decoder's surface does, and where nobody has changed it in
// the buffer that they went in. Thread-safe: the last reference goes wherever it goes.
//
// Whoever owns this must be held by the owner of the frame that is out: memories that come home
// find it.
class LentTextures {
 public:
  // Null when GstGL refuses. `on_map` is that of told_memory.hpp. GL-thread only.
  [[nodiscard]] static std::shared_ptr<LentTextures> make(GstGLContext* context,
                                                          const GstVideoInfo& info,
                                                          std::span<const GLuint> textures,
                                                          Writable writable,
                                                          const std::function<void()>& on_map);
  ~LentTextures();

  // A buffer of them, with its GstVideoMeta and a GstGLSyncMeta; `owner` is dropped with its
  // last memory. Null: the last frame is still out (some producers send a buffer twice), or
  // they are spent.
  [[nodiscard, gnu::hot]] GstPtr<GstBuffer> lend(const std::shared_ptr<void>& owner);
  // Nothing is out any more, and they are to be made again: what came back is not as it went,
  // or they are to show another kind of picture.
  [[nodiscard]] bool spent(const GstVideoInfo& info) const;

 private:
  LentTextures() = default;

  static gboolean on_last_unref(GstMiniObject* object);
  [[nodiscard]] gboolean come_home(GstMemory* memory);
  [[gnu::hot]] static gboolean on_last_unref_of_buffer(GstMiniObject* object);
  [[gnu::hot]] void come_home(GstPtr<GstBuffer> buffer);

  GstVideoInfo info_{};
  GstPtr<GstBuffer> form_;  // of each frame's buffer, without the memories
  GstPtr<GstGLContext> context_;

  mutable std::mutex lock_;
  LentBuffer buffer_;
  GstPtr<GstBuffer> home_;  // whole, with the memories in it
  std::vector<GstMemory*> memories_;
  size_t out_ = 0;
  bool spent_ = false;
  std::shared_ptr<void> owner_;
};

}  // namespace dxva::gst
