// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gl/gl.h>
#include <gst/video/gstvideometa.h>

#include <span>

#include "gst/common/gst_ptr.hpp"

namespace dxva::gst {

// A buffer around memories that are lent again and again, with the metas that each frame in
// them has: made once as well, for as long as it comes back as it went. Not thread-safe.
class LentBuffer {
 public:
  // `on_last_unref` is GstMiniObject's: it gets the buffer without a reference, and FALSE means
  // that it has taken one. The references to `memories` are the buffer's from now on. Behind
  // this call nothing here speaks of an older buffer any more.
  [[nodiscard]] GstPtr<GstBuffer> make(GstGLContext* context, GstVideoMeta& form,
                                       std::span<GstMemory* const> memories,
                                       GstMiniObjectDisposeFunction on_last_unref);

  // Its last reference is the caller's. False: it cannot be shown again, because somebody still
  // has a part of it, or it is not as it was made. Runs nobody's functions, so a lock may be
  // held.
  [[nodiscard, gnu::hot]] bool restore(GstBuffer* buffer,
                                       std::span<GstMemory* const> memories) const;

 private:
  [[nodiscard, gnu::hot]] bool has_its_metas(GstBuffer* buffer) const;

  const GstBuffer* made_ = nullptr;  // compared only
  const GstVideoMeta* video_ = nullptr;
  GstGLSyncMeta* sync_ = nullptr;
  GstVideoMeta video_as_made_{};
  GstGLSyncMeta sync_as_made_{};
};

// From here on its last reference frees it.
void end_lending(GstBuffer* buffer);

}  // namespace dxva::gst
