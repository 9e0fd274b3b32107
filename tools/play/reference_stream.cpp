// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/play/reference_stream.hpp"

#include "tools/play/handles.hpp"

namespace dxva::play {

ReferenceStream::~ReferenceStream() {
  if (!process_) return;
  g_subprocess_force_exit(process_);
  g_object_unref(process_);
}

Status ReferenceStream::start(const std::string& media, const std::string& pixel_format,
                              bool one_thread) {
  if (pixel_format.empty())
    return Error{.code = ErrorCode::Unsupported,
                 .call = "",
                 .text = "--check: FFmpeg has no pixel format like this stream's"};
  // unaligned: FFmpeg rounds odd crops otherwise. passthrough and no autoscale: every frame
  // once, at its own size. The scale filter does not scale: it keeps swscale from converting
  // full range.
  GError* failure = nullptr;
  process_ = g_subprocess_new(static_cast<GSubprocessFlags>(G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                                            G_SUBPROCESS_FLAGS_STDERR_SILENCE),
                              &failure, "ffmpeg", "-nostdin", "-v", "quiet", "-flags",
                              "unaligned", "-threads", one_thread ? "1" : "0", "-noautorotate",
                              "-i", media.c_str(), "-map", "0:v:0", "-fps_mode", "passthrough",
                              "-noautoscale", "-vf", "scale=in_range=full:out_range=full",
                              "-pix_fmt", pixel_format.c_str(), "-f", "rawvideo", "-", nullptr);
  if (process_) return Done{};
  const Owned<GError> owned(failure);
  return Error{.code = ErrorCode::Unsupported,
               .call = "",
               .text = std::string("--check needs the program ffmpeg: ") + failure->message};
}

size_t ReferenceStream::read(uint8_t* into, size_t bytes) {
  gsize got = 0;
  g_input_stream_read_all(g_subprocess_get_stdout_pipe(process_), into, bytes, &got, nullptr,
                          nullptr);
  return got;
}

}  // namespace dxva::play
