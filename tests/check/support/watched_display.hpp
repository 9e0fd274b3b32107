// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The OpenGL display that an application gives: it sees each context that is made for it, and
// can hold whoever makes one up in the middle.

#include <gst/gl/gl.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "gst/common/gst_ptr.hpp"
#include "tests/check/support/check.hpp"

namespace dxva::test {

// Thread-safe.
class WatchedDisplay {
 public:
  WatchedDisplay() : display_(gst::GstPtr<GstGLDisplay>::adopt(gst_gl_display_new())) {
    g_signal_connect(display_.get(), "create-context",
                     G_CALLBACK(+[](GstGLDisplay*, GstGLContext* shared, gpointer self) {
                       static_cast<WatchedDisplay*>(self)->arrives(shared);
                       return static_cast<GstGLContext*>(nullptr);  // GstGL makes it
                     }),
                     this);
  }
  ~WatchedDisplay() { g_signal_handlers_disconnect_by_data(display_.get(), this); }

  [[nodiscard]] GstGLDisplay* get() const { return display_.get(); }
  void give_to(const gst::GstPtr<GstElement>& element) const {
    const auto context =
        gst::GstPtr<GstContext>::adopt(gst_context_new(GST_GL_DISPLAY_CONTEXT_TYPE, TRUE));
    gst_context_set_gl_display(context.get(), display_.get());
    gst_element_set_context(element.get(), context.get());
  }

  // For how many contexts it was asked, and with which each was to share.
  [[nodiscard]] size_t made() const {
    const std::lock_guard guard(lock_);
    return shared_.size();
  }
  [[nodiscard]] GstGLContext* shared_with(size_t which) const {
    const std::lock_guard guard(lock_);
    return shared_.at(which);
  }
  void wait_until_asked() {
    std::unique_lock guard(lock_);
    fail_unless(changed_.wait_for(guard, kGuard, [this] { return !shared_.empty(); }));
  }
  // From here on whoever makes one stays in the middle of it, until he may go on.
  void hold() {
    const std::lock_guard guard(lock_);
    held_ = true;
  }
  void let_go() {
    const std::lock_guard guard(lock_);
    held_ = false;
    changed_.notify_all();
  }

  [[nodiscard]] gst::GstPtr<GstGLContext> any_context() const {
    GST_OBJECT_LOCK(display_.get());
    GstGLContext* found = gst_gl_display_get_gl_context_for_thread(display_.get(), nullptr);
    GST_OBJECT_UNLOCK(display_.get());
    return gst::GstPtr<GstGLContext>::adopt(found);
  }

 private:
  static constexpr std::chrono::seconds kGuard{60};  // against hangs, no measure of speed

  void arrives(GstGLContext* shared) {
    std::unique_lock guard(lock_);
    shared_.push_back(shared);
    changed_.notify_all();
    (void)changed_.wait_for(guard, kGuard, [this] { return !held_; });
  }

  const gst::GstPtr<GstGLDisplay> display_;
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::vector<GstGLContext*> shared_;  // only compared
  bool held_ = false;
};

}  // namespace dxva::test
