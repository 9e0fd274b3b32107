// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gl/gl.h>

#include <array>
#include <atomic>
#include <mutex>
#include <set>

#include "gst/common/gst_ptr.hpp"
#include "gst/dxvagl/gl_head_start.hpp"
#include "gst/dxvagl/uploader.hpp"
#include "lib/base/path.hpp"
#include "lib/base/step_watch.hpp"
#include "lib/base/trace.hpp"

namespace dxva::gst {

// dxvaglupload without GObject's manners: what the element answers to its base class. The
// virtual functions of GstBaseTransform keep their threads; properties come from any.
class GlUpload {
 public:
  explicit GlUpload(GstGLBaseFilter& element) : element_(element) {}

  void set_import(ImportMode mode);
  [[nodiscard]] ImportMode import() const;
  void set_verify(bool verify);
  [[nodiscard]] bool verify() const;
  void set_prefer_rgb(bool prefer) { prefer_rgb_ = prefer; }
  [[nodiscard]] bool prefer_rgb() const { return prefer_rgb_; }
  [[nodiscard]] StructurePtr stats() const;

  // Of the context, when there is one.
  [[nodiscard]] DmabufOffers offers() const;
  [[nodiscard]] GstPtr<GstCaps> transform_caps(GstPadDirection direction, GstCaps* caps,
                                               GstCaps* filter);
  [[nodiscard]] bool set_caps(GstCaps* in, GstCaps* out);
  // False: the query is for downstream to answer.
  [[nodiscard]] bool propose_allocation(GstQuery* query) const;
  // Which GPU OpenGL draws with, for a decoder that asks; false: not known yet.
  [[nodiscard]] bool answer_device(GstQuery* query);
  // What runs with each frame is marked hot: GCC puts it side by side then, on three pages of
  // code, not twenty (docs/design/performance.md).
  [[nodiscard, gnu::hot]] GstFlowReturn prepare_output(GstBuffer* input, GstBuffer** output);
  [[nodiscard]] bool keeps_meta(const GstMeta* meta, GstBuffer* input) const;

  [[nodiscard]] bool gl_start() { return uploader_.start(element_.context); }
  void gl_stop() { uploader_.stop(); }
  void finish() { uploader_.finish(); }
  // What is left in a context when there is no stop any more; no data flows.
  void end_session();
  void reset();
  // The context is made from here on, beside whatever else starts.
  void begin_context();
  // Of a stop: no thread is left behind, and no context that nobody would end.
  void end_begun_context() { head_start_.end(); }
  // The application set something: what was begun may be for another display, or not shared
  // with the context that it gave.
  void check_begun_context();
  [[nodiscard]] std::shared_ptr<GlSession> session() const { return uploader_.session(); }
  // Held by whoever has GstGLBaseFilter look for a context, or takes its context away. It lets
  // go of its own lock while it asks the neighbours, and then believes a pointer from before
  // (1.22 to 1.26): of two who look at once, while a third stops the element, one goes on with
  // a context that is freed. Not to be held while a query is passed on, nor while one for a
  // context is answered: who asks may be in a search of his own.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> search() {
    return std::unique_lock(search_);
  }

 private:
  // What the application gave for textures to be shared with. Null: nothing.
  [[nodiscard]] GstPtr<GstGLContext> application_context() const;
  // The context, made now where there is a display to make it on. Null: none.
  [[nodiscard]] std::shared_ptr<GlSession> find_session();
  [[nodiscard, gnu::hot]] ImportWish wish() const;
  void warn_of_glx(const GlSession& session);
  [[gnu::hot]] void count(const Uploader::Picture& picture);
  void tell(GstBuffer* input, const Result<Uploader::Picture>& picture,
            const trace::Spans& spans) const;
  void tell_upstream(const Uploader::Picture::Refusal& refusal);
  [[nodiscard]] GstFlowReturn drop(const Error& error);

  GstGLBaseFilter& element_;
  std::atomic<bool> prefer_rgb_ = false;  // read when the next caps come
  Uploader uploader_;
  GlHeadStart head_start_;
  bool crop_applied_ = false;    // of the running frame
  bool passes_through_ = false;  // of the caps; streaming thread, as this is
  std::recursive_mutex search_;  // before GstGLBaseFilter's

  mutable std::mutex lock_;
  ImportWish wish_;
  PathCounts counts_;
  uint64_t dropped_ = 0;
  uint64_t verified_ = 0;
  std::array<uint64_t, gl::kUploadWays.size()> uploads_{};  // of copies
  const char* last_upload_ = "";
  uint64_t picture_bytes_ = 0;  // of the caps; 0: none yet, or textures
  StepWatch<Step> watch_;
  std::set<Reason> dropped_for_;        // said since the last caps
  std::weak_ptr<GlSession> announced_;  // the session whose GPU the bins know of
  bool takes_dmabufs_ = false;          // the caps say so
  bool warned_of_glx_ = false;
};

}  // namespace dxva::gst
