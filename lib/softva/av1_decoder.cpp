// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/av1_decoder.hpp"

#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

Result<std::unique_ptr<FrameDecoder>> Av1Decoder::create() {
  auto decoder = Dav1dPictureDecoder::create();
  if (!decoder) return decoder.error();
  return std::unique_ptr<FrameDecoder>(new Av1Decoder(std::move(*decoder)));
}

Result<Pixels> Av1Decoder::decode(const Picture& picture) {
  shown_.reset();
  const auto unit = stream_.rebuild(picture);
  if (!unit) return unit.error();
  for (const auto& replay : unit->replays) {
    dump_.append(replay);
    (void)decoder_->decode(replay);
  }
  dump_.append(unit->bytes);
  const std::shared_ptr<const Dav1dPicture> decoded = decoder_->decode(unit->bytes);
  if (!decoded) return bad_input("dav1d refused the picture");

  const auto parameters = find_parameters<Av1Parameters>(picture, VAPictureParameterBufferType);
  const VAFilmGrainStructAV1& grain = parameters->film_grain_info;
  if (!grain.film_grain_info_fields.bits.apply_grain) return pixels_of(decoded);
  auto grained = decoder_->with_grain(*decoded, grain);
  if (!grained)
    return Error{.code = ErrorCode::NoMemory, .call = "vaEndPicture", .text = "out of memory"};
  auto shown = pixels_of(std::move(grained));
  // The reference stays without grain, in a surface of its own where the client has one for it.
  if (!shown || parameters->current_display_picture == picture.target ||
      parameters->current_display_picture == VA_INVALID_SURFACE)
    return shown;
  shown_ =
      ShownPicture{.surface = parameters->current_display_picture, .pixels = std::move(*shown)};
  return pixels_of(decoded);
}

}  // namespace dxva::softva
