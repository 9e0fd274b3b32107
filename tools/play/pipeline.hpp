// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "tools/play/handles.hpp"
#include "tools/play/options.hpp"
#include "tools/play/stream_search.hpp"

namespace dxva::play {

// file ! parsebin ! dxvadec ! dxvaglupload ! frames as GLMemory. parsebin finds the demuxer and
// the parser by itself; the first video stream is played, all others are left unlinked.
class Pipeline {
 public:
  // Called for each frame in order, on the streaming thread. An error ends the pipeline with
  // it.
  using OnFrame = std::function<Status(GstSample*, const Pipeline&)>;

  // BadInput: an option has a value that its element does not take.
  [[nodiscard]] static Result<std::unique_ptr<Pipeline>> create(const Options& options,
                                                                OnFrame on_frame);
  ~Pipeline();

  // Plays to the end. Every error of every element ends it, so it does not hang on a bad
  // stream. A signal handler that sets `interrupted` ends it too, with an error.
  Status run(const volatile std::sig_atomic_t& interrupted);

  // The elements' `stats`, to be read after run().
  [[nodiscard]] Owned<GstStructure> decoder_stats() const { return stats(decoder_); }
  [[nodiscard]] Owned<GstStructure> uploader_stats() const { return stats(uploader_); }
  // Has a frame come so far that no device decoded? From any thread.
  [[nodiscard]] bool decodes_in_software() const;
  // What the elements said about it on the bus, in order, each "element: from > to, reason".
  [[nodiscard]] const std::vector<std::string>& path_changes() const { return path_changes_; }

 private:
  explicit Pipeline(OnFrame on_frame) : on_frame_(std::move(on_frame)) {}
  Status build(const Options& options);
  Status build_output(const Options& options);
  void stream_found(GstPad* pad);
  GstFlowReturn frame_arrived(GstElement* sink);
  void stop_with(Error error);
  void note_path_change(GstMessage* message);
  [[nodiscard]] static Owned<GstStructure> stats(GstElement* element);

  // The next message, or null: none is wanted, or none will come, because there is no video to
  // play.
  [[nodiscard]] Owned<GstMessage> next_message(GstBus* bus,
                                               const volatile std::sig_atomic_t& interrupted);

  OnFrame on_frame_;
  StreamSearch search_;
  Owned<GstElement> pipeline_;
  GstElement* decoder_ = nullptr;   // the pipeline's
  GstElement* uploader_ = nullptr;  // the pipeline's
  std::string media_;
  std::vector<std::string> path_changes_;

  std::mutex lock_;  // streaming threads write these, run() reads them
  bool streams_found_ = false;
  bool video_linked_ = false;
  std::string refused_caps_;
  std::optional<Error> error_;
};

}  // namespace dxva::play
