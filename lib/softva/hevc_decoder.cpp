// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/hevc_decoder.hpp"

#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

Result<std::unique_ptr<FrameDecoder>> HevcDecoder::create(unsigned max_bit_depth) {
  auto decoder = AvcodecPictureDecoder::create("hevc", AvcodecPictureDecoder::Match::First);
  if (!decoder) return decoder.error();
  return std::unique_ptr<FrameDecoder>(new HevcDecoder(std::move(*decoder), max_bit_depth));
}

Result<Pixels> HevcDecoder::decode(const Picture& picture) {
  const auto unit = stream_.rebuild(picture);
  if (!unit) return unit.error();
  dump_.append(unit->bytes);
  if (unit->starts_in_the_middle) decoder_->flush();
  const std::shared_ptr<AVFrame> frame = decoder_->decode(unit->bytes);
  if (!frame) return bad_input("libavcodec refused the picture");
  return pixels_of(frame);
}

}  // namespace dxva::softva
