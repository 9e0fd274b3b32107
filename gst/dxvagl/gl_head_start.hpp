// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gl/gl.h>

#include <mutex>

#include "gst/common/gst_ptr.hpp"

namespace dxva::gst {

// An OpenGL context for a display, made on a thread of its own while the rest of the pipeline
// starts: it takes as long as decoding the first pictures. It is put among the display's
// contexts, where GstGLBaseFilter looks before it makes one, under the lock that it looks with:
// who needs the context before it is there waits for it, and nobody makes two. Only the display
// is touched here, so the element's own context is found and begun where it always was.
// Thread-safe.
class GlHeadStart {
 public:
  GlHeadStart() = default;
  ~GlHeadStart() { end(); }
  GlHeadStart(const GlHeadStart&) = delete;
  GlHeadStart& operator=(const GlHeadStart&) = delete;

  // For an element with this display, and the application's context to share textures with
  // (null: none). Nothing happens where the display has a context, a sink's for one, or where
  // no thread can be had: then it is made when it is needed. A failure is for the element to
  // tell when it fails as well. One at a time; end() comes before the next.
  void begin(GstGLDisplay* display, GstGLContext* shared_with);
  // What was begun is for these. True, too, where nothing was.
  [[nodiscard]] bool is_for(GstGLDisplay* display, GstGLContext* shared_with) const;
  // Waits for the thread. The context lives on with whoever uses it by now.
  void end();

 private:
  mutable std::mutex lock_;
  GThread* thread_ = nullptr;  // gives a reference to the context, or null
  GstPtr<GstGLDisplay> display_;
  GstPtr<GstGLContext> shared_with_;
};

}  // namespace dxva::gst
