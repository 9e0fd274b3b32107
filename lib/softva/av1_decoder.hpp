// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "lib/base/result.hpp"
#include "lib/softva/av1_stream.hpp"
#include "lib/softva/dav1d_picture_decoder.hpp"
#include "lib/softva/frame_decoder.hpp"
#include "lib/softva/stream_dump.hpp"

namespace dxva::softva {

// AV1 by dav1d, from a stream rebuilt of what the client renders. Thread rules: reentrant.
class Av1Decoder final : public FrameDecoder {
 public:
  [[nodiscard]] static Result<std::unique_ptr<FrameDecoder>> create();
  Result<Pixels> decode(const Picture& picture) override;
  std::optional<ShownPicture> take_shown() override { return std::exchange(shown_, {}); }

 private:
  explicit Av1Decoder(std::unique_ptr<Dav1dPictureDecoder> decoder)
      : decoder_(std::move(decoder)) {}

  std::unique_ptr<Dav1dPictureDecoder> decoder_;
  Av1Stream stream_;
  StreamDump dump_ = StreamDump::from_environment();
  std::optional<ShownPicture> shown_;
};

}  // namespace dxva::softva
