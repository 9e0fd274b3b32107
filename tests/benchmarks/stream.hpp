// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gst/common/gst_ptr.hpp"
#include "tests/benchmarks/window.hpp"

namespace dxva::bench {

// Pictures in system memory that somebody else has made already; they take turns.
struct Feed {
  std::string caps;  // empty: none
};

struct StreamOptions {
  // A gst-launch line. It ends in a fakesink named "out"; with a feed it begins with an appsrc
  // named "feed".
  std::string pipeline;
  std::string watch;  // the element from which on a frame's way to "out" is timed, or empty
  bool map_in_gl = false;  // each frame's memories are mapped for OpenGL: GstGL uploads lazily
  bool map_stand_in = false;  // …or GstGL's own of another, small picture, the same each time
  uint64_t warm_up = 0;       // frames before the window
  uint64_t frames = 0;        // with those of the warm-up
  Feed feed;
};

// One pipeline whose frames are counted, and whose consumer gives them back at once. Made and
// destroyed on the main thread; the rest happens on its streaming threads.
class Stream {
 public:
  // Null, with the reason printed, for a line that is none.
  [[nodiscard]] static std::unique_ptr<Stream> create(const StreamOptions& options,
                                                      Window& window);
  ~Stream();

  [[nodiscard]] bool start();
  // What the bus has of an error, or of an end before the last frame.
  [[nodiscard]] std::string trouble();

  // After the window. Streaming thread's CPU time from the watched element's sink pad to the
  // frame given back, in the window; and all of its CPU time there.
  [[nodiscard]] uint64_t watched_ns() const { return watched_ns_; }
  [[nodiscard]] uint64_t streaming_ns() const { return streaming_ns_; }
  [[nodiscard]] std::string caps_before_watched() const;
  [[nodiscard]] std::string caps() const;   // at the end
  [[nodiscard]] std::string stats() const;  // of the watched element, or empty

 private:
  Stream(const StreamOptions& options, Window& window) : options_(options), window_(window) {}

  [[nodiscard]] bool prepare();
  void make_pictures();
  void make_stand_in();
  void push_picture(GstElement* source);
  void enters();
  void arrives(gst::GstPtr<GstBuffer> buffer);
  void pass_window();
  [[nodiscard]] gst::GstPtr<GstPad> pad(const char* element) const;

  const StreamOptions options_;
  Window& window_;
  gst::GstPtr<GstElement> pipeline_;
  std::vector<gst::GstPtr<GstBuffer>> pictures_;
  uint64_t pushed_ = 0;
  gst::GstPtr<GstBuffer> stand_in_;

  // Of the streaming thread until the window is over.
  uint64_t frames_ = 0;
  uint64_t entered_at_ = 0;
  uint64_t watched_ns_ = 0;
  uint64_t streaming_ns_ = 0;
};

}  // namespace dxva::bench
