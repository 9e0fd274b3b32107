// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/device_support.hpp"

#include <algorithm>
#include <optional>

namespace dxva::decode {

namespace {

// Of the profiles whose surfaces we can pass on.
std::optional<Codec> codec_of(VAProfile profile) {
  switch (profile) {
    case VAProfileH264ConstrainedBaseline:
    case VAProfileH264Main:
    case VAProfileH264High:
      return Codec::H264;
    case VAProfileHEVCMain:
    case VAProfileHEVCMain10:
      return Codec::H265;
    case VAProfileVP8Version0_3:
      return Codec::Vp8;
    case VAProfileVP9Profile0:
    case VAProfileVP9Profile2:
      return Codec::Vp9;
    case VAProfileAV1Profile0:
      return Codec::Av1;
    case VAProfileMPEG2Simple:
    case VAProfileMPEG2Main:
      return Codec::Mpeg2;
    case VAProfileJPEGBaseline:
      return Codec::Jpeg;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool device_decodes(const va::Display& display, Codec codec) {
  return std::ranges::any_of(display.profiles(),
                             [codec](VAProfile profile) { return codec_of(profile) == codec; });
}

bool device_takes_size(const va::Display& display, Codec codec, uint32_t width,
                       uint32_t height) {
  return std::ranges::any_of(display.profiles(), [&](VAProfile profile) {
    if (codec_of(profile) != codec) return false;
    const auto caps = display.decode_caps(profile);
    const auto fits = [](uint32_t side, uint32_t least, uint32_t most) {
      return side >= least && (most == 0 || side <= most);
    };
    return caps && fits(width, caps->min_width, caps->max_width) &&
           fits(height, caps->min_height, caps->max_height);
  });
}

bool device_decodes(const cuda::Device& device, Codec codec) {
  return device.decode_caps(cuda_codec(codec), 8).has_value();
}

bool device_decodes(const Device& device, Codec codec) {
  if (device.va) return device_decodes(*device.va, codec);
  return device.cuda && device_decodes(*device.cuda, codec);
}

cuda::VideoCodec cuda_codec(Codec codec) {
  switch (codec) {
    case Codec::H264:
      return cuda::VideoCodec::H264;
    case Codec::H265:
      return cuda::VideoCodec::Hevc;
    case Codec::Vp8:
      return cuda::VideoCodec::Vp8;
    case Codec::Vp9:
      return cuda::VideoCodec::Vp9;
    case Codec::Av1:
      return cuda::VideoCodec::Av1;
    case Codec::Mpeg2:
      return cuda::VideoCodec::Mpeg2;
    case Codec::Jpeg:
      return cuda::VideoCodec::Jpeg;
  }
  return cuda::VideoCodec::H264;
}

bool device_takes_modifiers(const va::Display& display, Codec codec) {
  return std::ranges::any_of(display.profiles(), [&](VAProfile profile) {
    if (codec_of(profile) != codec) return false;
    const auto caps = display.decode_caps(profile);
    return caps && caps->takes_modifiers;
  });
}

}  // namespace dxva::decode
