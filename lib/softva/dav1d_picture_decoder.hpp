// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>
#include <memory>
#include <span>

#include "lib/base/result.hpp"
#include "lib/softva/frame_decoder.hpp"

struct Dav1dContext;
struct Dav1dPicture;

namespace dxva::softva {

// dav1d as an accelerator: bytes of one frame in, that frame out, at once and in decoding
// order, also when it is not shown. dav1d itself and not libavcodec's wrapper around it, which
// does not give those. Film grain is not put on. Thread rules: reentrant.
class Dav1dPictureDecoder {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Dav1dPictureDecoder>> create();
  ~Dav1dPictureDecoder();
  Dav1dPictureDecoder(const Dav1dPictureDecoder&) = delete;
  Dav1dPictureDecoder& operator=(const Dav1dPictureDecoder&) = delete;

  // Null: none came out.
  [[nodiscard]] std::shared_ptr<const Dav1dPicture> decode(std::span<const uint8_t> unit);
  // The same picture with grain, which check_av1_picture() has seen. Null: out of memory.
  [[nodiscard]] std::shared_ptr<const Dav1dPicture> with_grain(
      const Dav1dPicture& picture, const VAFilmGrainStructAV1& grain);

 private:
  explicit Dav1dPictureDecoder(Dav1dContext* context) : context_(context) {}

  Dav1dContext* context_;
};

// A picture's planes as the driver copies them; it keeps `picture`.
[[nodiscard]] Result<Pixels> pixels_of(std::shared_ptr<const Dav1dPicture> picture);

}  // namespace dxva::softva
