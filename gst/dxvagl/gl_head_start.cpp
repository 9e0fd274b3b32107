// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/gl_head_start.hpp"

#include <memory>
#include <utility>

#include "lib/base/log.hpp"

namespace dxva::gst {
namespace {

struct Job {
  GstPtr<GstGLDisplay> display;
  GstPtr<GstGLContext> shared_with;
};

gpointer make_context(gpointer data) {
  const std::unique_ptr<Job> job(static_cast<Job*>(data));
  GstGLDisplay* display = job->display.get();
  GstPtr<GstGLContext> there;
  GstPtr<GstGLContext> made;
  GError* error = nullptr;
  GST_OBJECT_LOCK(display);
  there =
      GstPtr<GstGLContext>::adopt(gst_gl_display_get_gl_context_for_thread(display, nullptr));
  if (!there) {
    GstGLContext* raw = nullptr;
    if (gst_gl_display_create_context(display, job->shared_with.get(), &raw, &error)) {
      made = GstPtr<GstGLContext>::adopt(raw);
      // Refused where the display has another one for the same thread: an application's, that
      // it gave for this one. Then nobody finds it, and it ends with us.
      (void)gst_gl_display_add_context(display, raw);
    }
  }
  GST_OBJECT_UNLOCK(display);
  if (error) {
    DXVA_DEBUG(Gl, "no context to begin with: %s", error->message);
    g_error_free(error);
  }
  return made.release();
}

}  // namespace

void GlHeadStart::begin(GstGLDisplay* display, GstGLContext* shared_with) {
  const std::lock_guard guard(lock_);
  if (thread_) return;
  display_ = GstPtr<GstGLDisplay>::share(display);
  shared_with_ = GstPtr<GstGLContext>::share(shared_with);
  auto job = std::make_unique<Job>(Job{.display = display_, .shared_with = shared_with_});
  thread_ = g_thread_try_new("dxva-gl-start", make_context, job.get(), nullptr);
  if (thread_) (void)job.release();
}

bool GlHeadStart::is_for(GstGLDisplay* display, GstGLContext* shared_with) const {
  const std::lock_guard guard(lock_);
  return !thread_ || (display_.get() == display && shared_with_.get() == shared_with);
}

void GlHeadStart::end() {
  GstPtr<GstGLContext> context;  // its end may take long: behind the lock
  GstPtr<GstGLDisplay> display;
  const std::lock_guard guard(lock_);
  if (!thread_) return;
  context = GstPtr<GstGLContext>::adopt(
      static_cast<GstGLContext*>(g_thread_join(std::exchange(thread_, nullptr))));
  display = std::move(display_);
  shared_with_.reset();
}

}  // namespace dxva::gst
