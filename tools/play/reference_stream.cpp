// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/play/reference_stream.hpp"

#include "tools/play/handles.hpp"

namespace dxva::play {

namespace {

// The scale filters do not scale: they keep swscale from converting full range. Gray becomes
// planar before both chroma planes are one: in one step such a filter sets chroma to 0 (FFmpeg
// 5.1).
std::string keeping_filters(const std::string& pixel_format) {
  const std::string same = "scale=in_range=full:out_range=full";
  if (pixel_format == "nv12") return same + ",format=yuv420p," + same;
  return same;
}

}  // namespace

ReferenceStream::~ReferenceStream() {
  if (!process_) return;
  g_subprocess_force_exit(process_);
  g_object_unref(process_);
}

Status ReferenceStream::start(const std::string& media, const std::string& pixel_format,
                              unsigned threads) {
  if (pixel_format.empty())
    return Error{.code = ErrorCode::Unsupported,
                 .call = "",
                 .text = "--check: FFmpeg has no pixel format like this stream's"};
  // unaligned: FFmpeg rounds odd crops otherwise. passthrough and no autoscale: every frame
  // once, at its own size.
  const std::string filters = keeping_filters(pixel_format);
  GError* failure = nullptr;
  process_ = g_subprocess_new(
      static_cast<GSubprocessFlags>(G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                    G_SUBPROCESS_FLAGS_STDERR_SILENCE),
      &failure, "ffmpeg", "-nostdin", "-v", "quiet", "-flags", "unaligned", "-threads",
      std::to_string(threads).c_str(), "-noautorotate", "-i", media.c_str(), "-map", "0:v:0",
      "-fps_mode", "passthrough", "-noautoscale", "-vf", filters.c_str(), "-pix_fmt",
      pixel_format.c_str(), "-f", "rawvideo", "-", nullptr);
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
