// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <cstdint>
#include <deque>

#include "gst/dxva/decoder_stats.hpp"
#include "lib/base/trace.hpp"
#include "lib/decode/bitstream_decoder.hpp"

namespace dxva::gst {

// What dxvadec tells of its pictures to somebody who draws them (lib/base/trace.hpp). A
// picture's time is spent in two places, when its packet comes and when it leaves; in between
// it may wait for others. Streaming thread only.
class PictureTrace {
 public:
  // Where the time of the picture of packet `number` goes; null: nobody listens. Lent to the
  // next call of another function.
  [[nodiscard]] trace::Spans* open(uint32_t number);
  // The picture is in frame->output_buffer. Tells it to the listener, if there is one.
  void left(GstVideoDecoder& element, const decode::DecodedFrame& picture,
            const GstVideoCodecFrame& frame, Leaving leaving, Reason reason, bool damaged);
  void forget() { open_.clear(); }

 private:
  struct Open {
    uint32_t number = 0;
    trace::Spans spans;
  };
  // More than any codec holds back; hidden frames and lost pictures fall out at the front.
  static constexpr size_t kMostOpen = 64;

  std::deque<Open> open_;
};

}  // namespace dxva::gst
