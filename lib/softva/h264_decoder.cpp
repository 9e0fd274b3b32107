// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/h264_decoder.hpp"

#include <utility>

#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

Result<std::unique_ptr<FrameDecoder>> H264Decoder::create(unsigned max_bit_depth) {
  auto decoder = AvcodecPictureDecoder::create("h264", AvcodecPictureDecoder::Match::Last);
  if (!decoder) return decoder.error();
  return std::unique_ptr<FrameDecoder>(new H264Decoder(std::move(*decoder), max_bit_depth));
}

Result<Pixels> H264Decoder::decode(const Picture& picture) {
  auto unit = stream_.rebuild(picture);
  if (!unit) return unit.error();
  dump_.append(unit->bytes);

  const bool may_be_second_field =
      unit->field && field_frame_ && picture.target == field_target_;
  if (unit->starts_anew && !may_be_second_field) decoder_->flush();

  // The second field begins no frame: it lands in the first one's, if that is the same
  // surface's.
  const std::shared_ptr<AVFrame> begun = decoder_->decode(unit->bytes);
  const std::shared_ptr<AVFrame> frame =
      begun || !may_be_second_field ? begun : std::exchange(field_frame_, nullptr);
  field_frame_ = unit->field ? begun : nullptr;
  field_target_ = picture.target;
  if (!frame) return bad_input("libavcodec refused the picture");

  if (!unit->field || !begun) return pixels_of(frame);
  const std::shared_ptr<AVFrame> shown = doubler_.show(*frame, unit->bottom);
  if (!shown)
    return Error{.code = ErrorCode::NoMemory, .call = "vaEndPicture", .text = "out of memory"};
  return pixels_of(shown);
}

}  // namespace dxva::softva
