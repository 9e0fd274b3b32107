// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/mpeg2_decoder.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
}

#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

Result<std::unique_ptr<FrameDecoder>> Mpeg2Decoder::create() {
  // References that are missing are made up after the picture's own frame.
  auto decoder =
      AvcodecPictureDecoder::create("mpeg2video", AvcodecPictureDecoder::Match::First);
  if (!decoder) return decoder.error();
  return std::unique_ptr<FrameDecoder>(new Mpeg2Decoder(std::move(*decoder)));
}

Result<Pixels> Mpeg2Decoder::decode(const Picture& picture) {
  const auto unit = stream_.rebuild(picture);
  if (!unit) return unit.error();
  dump_.append(unit->bytes);

  // The second field begins no frame: it lands in the first one's, if that is the same
  // surface's.
  const bool may_land = unit->second && field_frame_ && picture.target == field_target_;
  const std::shared_ptr<AVFrame> begun = decoder_->decode(unit->bytes);
  const std::shared_ptr<AVFrame> first = std::exchange(field_frame_, nullptr);
  // From version 61 on libavcodec makes up missing references for a second field as well, and
  // those are then the first frames that it asks for.
  const bool made_up = may_land && avcodec_version() >= AV_VERSION_INT(61, 0, 0);
  const std::shared_ptr<AVFrame> frame = may_land && (!begun || made_up) ? first : begun;
  if (unit->field && !unit->second) field_frame_ = begun;
  field_target_ = picture.target;
  if (!frame) return bad_input("libavcodec refused the picture");

  if (!unit->field || frame == first) return pixels_of(frame);
  const std::shared_ptr<AVFrame> shown = doubler_.show(*frame, unit->bottom);
  if (!shown)
    return Error{.code = ErrorCode::NoMemory, .call = "vaEndPicture", .text = "out of memory"};
  return pixels_of(shown);
}

}  // namespace dxva::softva
