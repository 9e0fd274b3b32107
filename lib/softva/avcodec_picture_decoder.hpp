// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "lib/base/result.hpp"
#include "lib/softva/frame_decoder.hpp"

struct AVCodecContext;
struct AVFrame;
struct AVPacket;

namespace dxva::softva {

// Libavcodec as an accelerator: bytes of one picture in, that picture out, at once and in
// decoding order. Frames are matched when the decoder allocates them, not when it outputs them:
// reordering and dropping inside it do not matter, its output is thrown away. The frame is
// complete when `decode` returns, since one thread decodes. Errors of damaged streams stay out
// of the process's log. Thread rules: reentrant.
class AvcodecPictureDecoder {
 public:
  // Which of several frames allocated for one packet is the picture.
  enum class Match {
    First,  // HEVC: missing references are made up afterwards
    Last,   // H.264: gaps in frame_num are filled before
  };

  // `name` picks one decoder: the default for a codec may be a wrapper that never allocates
  // through us. Unsupported: libavcodec was built without it.
  [[nodiscard]] static Result<std::unique_ptr<AvcodecPictureDecoder>> create(const char* name,
                                                                             Match match);
  ~AvcodecPictureDecoder();
  AvcodecPictureDecoder(const AvcodecPictureDecoder&) = delete;
  AvcodecPictureDecoder& operator=(const AvcodecPictureDecoder&) = delete;

  // The frame that was begun with this packet; null when none was (a second field lands in its
  // first field's frame, and so does nothing where a header was refused).
  [[nodiscard]] std::shared_ptr<AVFrame> decode(std::span<const uint8_t> packet);
  // Forgets all pictures, as after a seek. Parameter sets stay.
  void flush();

 private:
  AvcodecPictureDecoder(AVCodecContext* context, AVFrame* output, AVPacket* packet,
                        Match match);
  static int allocate(AVCodecContext* context, AVFrame* frame, int flags);

  AVCodecContext* context_;
  AVFrame* output_;
  AVPacket* packet_;
  Match match_;
  std::shared_ptr<AVFrame> begun_;
};

// A frame's planes as the driver copies them; it keeps `frame`. Unsupported: a pixel format
// without a Layout.
[[nodiscard]] Result<Pixels> pixels_of(std::shared_ptr<const AVFrame> frame);

}  // namespace dxva::softva
