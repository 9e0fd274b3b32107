// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <utility>

#include "lib/base/result.hpp"
#include "lib/softva/avcodec_picture_decoder.hpp"
#include "lib/softva/field_doubler.hpp"
#include "lib/softva/frame_decoder.hpp"
#include "lib/softva/mpeg2_stream.hpp"
#include "lib/softva/stream_dump.hpp"

namespace dxva::softva {

// MPEG-2 by libavcodec, from a stream rebuilt of what the client renders.
// Thread rules: reentrant.
class Mpeg2Decoder final : public FrameDecoder {
 public:
  [[nodiscard]] static Result<std::unique_ptr<FrameDecoder>> create();
  Result<Pixels> decode(const Picture& picture) override;

 private:
  explicit Mpeg2Decoder(std::unique_ptr<AvcodecPictureDecoder> decoder)
      : decoder_(std::move(decoder)) {}

  std::unique_ptr<AvcodecPictureDecoder> decoder_;
  Mpeg2Stream stream_;
  StreamDump dump_ = StreamDump::from_environment();
  std::shared_ptr<AVFrame> field_frame_;  // of a field whose other field may follow
  VASurfaceID field_target_ = VA_INVALID_SURFACE;
  FieldDoubler doubler_;
};

}  // namespace dxva::softva
