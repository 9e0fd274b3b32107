// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gl/gl.h>

#include "gst/common/gst_ptr.hpp"
#include "lib/gl/gl_api.hpp"

namespace dxva::gst {

// GstGL's thread as lib/gl sees it. Holds the context, so whatever still has textures keeps the
// context they live in: outgoing buffers outlast the element. Thread-safe.
class GstGlThread final : public gl::GlThread {
 public:
  explicit GstGlThread(GstGLContext* context)
      : context_(GstPtr<GstGLContext>::share(context)) {}

  void run(const std::function<void()>& job) override {
    // On the GL thread itself GStreamer calls the function directly.
    gst_gl_context_thread_add(
        context_.get(),
        [](GstGLContext*, gpointer data) {
          (*static_cast<const std::function<void()>*>(data))();
        },
        const_cast<std::function<void()>*>(&job));
  }

  [[gnu::hot]] bool is_current() const override {
    GThread* thread = gst_gl_context_get_thread(context_.get());
    if (thread) g_thread_unref(thread);
    return thread == g_thread_self();
  }

  [[nodiscard]] GstGLContext* context() const { return context_.get(); }

 private:
  GstPtr<GstGLContext> context_;
};

}  // namespace dxva::gst
