// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Owners of libavcodec's objects, and its error codes as ours. Only for lib/decode/avcodec_*.

extern "C" {
#include <libavcodec/avcodec.h>
}

#include <memory>

#include "lib/base/result.hpp"

namespace dxva::decode {

template <auto Function>
struct FreeWith {
  template <typename T>
  void operator()(T* pointer) const {
    Function(&pointer);
  }
};
using ContextPtr = std::unique_ptr<AVCodecContext, FreeWith<avcodec_free_context>>;
using FramePtr = std::unique_ptr<AVFrame, FreeWith<av_frame_free>>;
using PacketPtr = std::unique_ptr<AVPacket, FreeWith<av_packet_free>>;
using BufferPtr = std::unique_ptr<AVBufferRef, FreeWith<av_buffer_unref>>;

// `native` is the negative number that `call` returned.
[[nodiscard]] Error av_error(ErrorCode code, const char* call, int native,
                             Reason reason = Reason::None);

}  // namespace dxva::decode
