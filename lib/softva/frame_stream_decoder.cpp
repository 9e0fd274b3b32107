// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/frame_stream_decoder.hpp"

#include "lib/softva/jpeg_picture.hpp"
#include "lib/softva/picture_buffers.hpp"
#include "lib/softva/vp8_frame.hpp"
#include "lib/softva/vp9_frame.hpp"

namespace dxva::softva {

const FrameStreamDecoder::Codec FrameStreamDecoder::kVp8 = {
    .decoder = "vp8", .rebuild = rebuild_vp8_frame, .references = nullptr, .ivf = "VP80"};
const FrameStreamDecoder::Codec FrameStreamDecoder::kVp9 = {.decoder = "vp9",
                                                            .rebuild = rebuild_vp9_frame,
                                                            .references = vp9_references,
                                                            .ivf = "VP90"};
const FrameStreamDecoder::Codec FrameStreamDecoder::kJpeg = {
    .decoder = "mjpeg", .rebuild = rebuild_jpeg, .references = nullptr, .ivf = nullptr};

Result<std::unique_ptr<FrameDecoder>> FrameStreamDecoder::create(const Codec& codec) {
  auto decoder =
      AvcodecPictureDecoder::create(codec.decoder, AvcodecPictureDecoder::Match::Last);
  if (!decoder) return decoder.error();
  return std::unique_ptr<FrameDecoder>(new FrameStreamDecoder(codec, std::move(*decoder)));
}

Result<Pixels> FrameStreamDecoder::decode(const Picture& picture) {
  const auto frame = codec_.rebuild(picture);
  if (!frame) return frame.error();
  if (codec_.ivf)
    dump_.append_ivf(codec_.ivf, picture.width, picture.height, *frame);
  else
    dump_.append(*frame);
  const std::shared_ptr<AVFrame> decoded = decoder_->decode(*frame);
  if (!decoded) return bad_input("libavcodec refused the picture");
  return pixels_of(decoded);
}

std::vector<VASurfaceID> FrameStreamDecoder::references(const Picture& picture) const {
  return codec_.references ? codec_.references(picture) : std::vector<VASurfaceID>();
}

}  // namespace dxva::softva
