// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "lib/base/result.hpp"
#include "lib/softva/avcodec_picture_decoder.hpp"
#include "lib/softva/frame_decoder.hpp"
#include "lib/softva/hevc_stream.hpp"
#include "lib/softva/stream_dump.hpp"

namespace dxva::softva {

// H.265 by libavcodec, from a stream rebuilt of what the client renders. The two fields of a
// frame are two pictures, each with a surface of its own. Thread rules: reentrant.
class HevcDecoder final : public FrameDecoder {
 public:
  [[nodiscard]] static Result<std::unique_ptr<FrameDecoder>> create(unsigned max_bit_depth);
  Result<Pixels> decode(const Picture& picture) override;

 private:
  HevcDecoder(std::unique_ptr<AvcodecPictureDecoder> decoder, unsigned max_bit_depth)
      : decoder_(std::move(decoder)), stream_(max_bit_depth) {}

  std::unique_ptr<AvcodecPictureDecoder> decoder_;
  HevcStream stream_;
  StreamDump dump_ = StreamDump::from_environment();
};

}  // namespace dxva::softva
