// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/softva/avcodec_picture_decoder.hpp"
#include "lib/softva/frame_decoder.hpp"
#include "lib/softva/stream_dump.hpp"

namespace dxva::softva {

// A codec of whole frames, each rebuilt without regard to the others. Thread rules: reentrant.
class FrameStreamDecoder final : public FrameDecoder {
 public:
  struct Codec {
    const char* decoder;  // libavcodec's name
    Result<std::vector<uint8_t>> (*rebuild)(const Picture& picture);
    // Null: no client goes on with another context's pictures.
    std::vector<VASurfaceID> (*references)(const Picture& picture);
    // How the dump tells the frames apart: an IVF file's fourcc. Null: they tell by themselves.
    const char* ivf;
  };
  static const Codec kVp8;
  static const Codec kVp9;
  static const Codec kJpeg;

  [[nodiscard]] static Result<std::unique_ptr<FrameDecoder>> create(const Codec& codec);
  Result<Pixels> decode(const Picture& picture) override;
  bool can_be_taken_over() const override { return codec_.references != nullptr; }
  std::vector<VASurfaceID> references(const Picture& picture) const override;

 private:
  FrameStreamDecoder(const Codec& codec, std::unique_ptr<AvcodecPictureDecoder> decoder)
      : codec_(codec), decoder_(std::move(decoder)) {}

  const Codec& codec_;
  std::unique_ptr<AvcodecPictureDecoder> decoder_;
  StreamDump dump_ = StreamDump::from_environment();
};

}  // namespace dxva::softva
