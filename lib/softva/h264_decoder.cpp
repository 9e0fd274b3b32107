// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/h264_decoder.hpp"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
}

#include <utility>

#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

// Shows a lone field on all lines until its other field comes, as libavcodec does when none
// comes. No picture is predicted from the lines written here.
void double_field(AVFrame& frame, Pixels& pixels, bool bottom) {
  const int planes = pixels.layout == Pixels::Layout::Gray ? 1 : 3;
  const int chroma_height = static_cast<int>(
      pixels.layout == Pixels::Layout::Yuv420 ? pixels.height / 2 : pixels.height);
  for (int i = 0; i < planes; ++i) {
    const int height = i == 0 ? static_cast<int>(pixels.height) : chroma_height;
    const int pitch = frame.linesize[i];
    uint8_t* const decoded = frame.data[i] + (bottom ? pitch : 0);
    uint8_t* const missing = frame.data[i] + (bottom ? 0 : pitch);
    av_image_copy_plane(missing, 2 * pitch, decoded, 2 * pitch, pitch, height / 2);
  }
}

}  // namespace

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

  const std::shared_ptr<AVFrame> begun = decoder_->decode(unit->bytes);
  if (begun)
    field_frame_ = begun;
  else if (!may_be_second_field)
    field_frame_ = nullptr;
  field_target_ = picture.target;
  if (!field_frame_) return bad_input("libavcodec refused the picture");

  auto pixels = pixels_of(field_frame_);
  if (pixels && unit->field && begun) double_field(*begun, *pixels, unit->bottom);
  // A pair is complete after its second field.
  if (!unit->field || !begun) field_frame_ = nullptr;
  return pixels;
}

}  // namespace dxva::softva
