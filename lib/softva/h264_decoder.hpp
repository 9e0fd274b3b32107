// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "lib/base/result.hpp"
#include "lib/softva/avcodec_picture_decoder.hpp"
#include "lib/softva/field_doubler.hpp"
#include "lib/softva/frame_decoder.hpp"
#include "lib/softva/h264_stream.hpp"
#include "lib/softva/stream_dump.hpp"

namespace dxva::softva {

// H.264 by libavcodec, from a stream rebuilt of what the client renders.
// Thread rules: reentrant.
class H264Decoder final : public FrameDecoder {
 public:
  [[nodiscard]] static Result<std::unique_ptr<FrameDecoder>> create(unsigned max_bit_depth);
  Result<Pixels> decode(const Picture& picture) override;

 private:
  H264Decoder(std::unique_ptr<AvcodecPictureDecoder> decoder, unsigned max_bit_depth)
      : decoder_(std::move(decoder)), stream_(max_bit_depth) {}

  std::unique_ptr<AvcodecPictureDecoder> decoder_;
  H264Stream stream_;
  StreamDump dump_ = StreamDump::from_environment();
  // A field whose other field may follow.
  std::shared_ptr<AVFrame> field_frame_;
  FieldDoubler doubler_;
  VASurfaceID field_target_ = VA_INVALID_SURFACE;
};

}  // namespace dxva::softva
