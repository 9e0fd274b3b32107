// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/play/reference.hpp"

#include <algorithm>

#include "tools/play/handles.hpp"

namespace dxva::play {

Reference::~Reference() {
  if (!process_) return;
  g_subprocess_force_exit(process_);
  g_object_unref(process_);
}

Status Reference::start(const std::string& pixel_format, bool one_thread) {
  if (pixel_format.empty())
    return Error{.code = ErrorCode::Unsupported,
                 .call = "",
                 .text = "--check: FFmpeg has no pixel format like this stream's"};
  pixel_format_ = pixel_format;
  // unaligned: FFmpeg rounds odd crops otherwise. passthrough and no autoscale: every frame
  // once, at its own size. The scale filter does not scale: it keeps swscale from converting
  // full range.
  GError* failure = nullptr;
  process_ = g_subprocess_new(static_cast<GSubprocessFlags>(G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                                            G_SUBPROCESS_FLAGS_STDERR_SILENCE),
                              &failure, "ffmpeg", "-nostdin", "-v", "quiet", "-flags",
                              "unaligned", "-threads", one_thread ? "1" : "0", "-i",
                              media_.c_str(), "-map", "0:v:0", "-fps_mode", "passthrough",
                              "-noautoscale", "-vf", "scale=in_range=full:out_range=full",
                              "-pix_fmt", pixel_format.c_str(), "-f", "rawvideo", "-", nullptr);
  if (process_) return Done{};
  const Owned<GError> owned(failure);
  return Error{.code = ErrorCode::Unsupported,
               .call = "",
               .text = std::string("--check needs the program ffmpeg: ") + failure->message};
}

size_t Reference::read(uint8_t* into, size_t bytes) {
  gsize got = 0;
  g_input_stream_read_all(g_subprocess_get_stdout_pipe(process_), into, bytes, &got, nullptr,
                          nullptr);
  return got;
}

void Reference::mismatch(const std::string& text) {
  ++mismatches_;
  if (first_mismatch_.empty()) first_mismatch_ = text;
}

Status Reference::compare(const TightFrame& frame, bool one_thread) {
  if (!process_)
    if (auto started = start(frame.pixel_format, one_thread); !started) return started.error();
  const std::string name = "frame " + std::to_string(compared_);
  ++compared_;
  if (frame.pixel_format != pixel_format_) {
    mismatch(name + " changed from " + pixel_format_ + " to " + frame.pixel_format);
    return Done{};
  }
  bytes_.resize(frame.bytes.size());
  if (read(bytes_.data(), bytes_.size()) != bytes_.size()) {
    mismatch(name + " is not in the reference, which ended before it");
    return Done{};
  }
  const auto [theirs, ours] = std::mismatch(bytes_.begin(), bytes_.end(), frame.bytes.begin());
  if (theirs != bytes_.end())
    mismatch(name + " differs first at byte " + std::to_string(theirs - bytes_.begin()) +
             " of " + std::to_string(bytes_.size()) + ": " + std::to_string(*ours) +
             ", reference " + std::to_string(*theirs));
  return Done{};
}

void Reference::finish() {
  if (!process_ || bytes_.empty()) return;
  uint64_t left = 0;
  while (read(bytes_.data(), bytes_.size()) > 0) ++left;
  if (left == 0) return;
  mismatch("the reference has " + std::to_string(left) + " more frames");
  mismatches_ += left - 1;
}

}  // namespace dxva::play
