// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/frame_decoder.hpp"

#include <algorithm>
#include <array>

#ifdef HAVE_DAV1D
#include "lib/softva/av1_decoder.hpp"
#endif
#include "lib/softva/frame_stream_decoder.hpp"
#include "lib/softva/h264_decoder.hpp"
#include "lib/softva/hevc_decoder.hpp"
#include "lib/softva/mpeg2_decoder.hpp"

namespace dxva::softva {

namespace {

using Create = Result<std::unique_ptr<FrameDecoder>> (*)();

struct Entry {
  VAProfile profile;
  Create create;
};

Result<std::unique_ptr<FrameDecoder>> create_h264() {
  return H264Decoder::create(8);
}

template <const FrameStreamDecoder::Codec& codec>
Result<std::unique_ptr<FrameDecoder>> create_frame_stream() {
  return FrameStreamDecoder::create(codec);
}

constexpr Entry kDecoders[] = {
    {VAProfileH264ConstrainedBaseline, create_h264},
    {VAProfileH264Main, create_h264},
    {VAProfileH264High, create_h264},
#if VA_CHECK_VERSION(1, 18, 0)
    {VAProfileH264High10, [] { return H264Decoder::create(10); }},
#endif
    {VAProfileHEVCMain, [] { return HevcDecoder::create(8); }},
    {VAProfileHEVCMain10, [] { return HevcDecoder::create(10); }},
    {VAProfileMPEG2Simple, Mpeg2Decoder::create},
    {VAProfileMPEG2Main, Mpeg2Decoder::create},
    {VAProfileVP8Version0_3, create_frame_stream<FrameStreamDecoder::kVp8>},
    {VAProfileVP9Profile0, create_frame_stream<FrameStreamDecoder::kVp9>},
    {VAProfileVP9Profile2, create_frame_stream<FrameStreamDecoder::kVp9>},
#ifdef HAVE_DAV1D
    {VAProfileAV1Profile0, Av1Decoder::create},
#endif
    {VAProfileJPEGBaseline, create_frame_stream<FrameStreamDecoder::kJpeg>},
};

constexpr auto kProfiles = [] {
  std::array<VAProfile, std::size(kDecoders)> profiles{};
  std::transform(std::begin(kDecoders), std::end(kDecoders), profiles.begin(),
                 [](const Entry& entry) { return entry.profile; });
  return profiles;
}();

}  // namespace

Result<std::unique_ptr<FrameDecoder>> FrameDecoder::create(VAProfile profile) {
  for (const Entry& entry : kDecoders) {
    if (entry.profile == profile) return entry.create();
  }
  return Error{.code = ErrorCode::Unsupported,
               .call = "vaCreateConfig",
               .native = profile,
               .text = "no decoder for this profile"};
}

std::span<const VAProfile> FrameDecoder::profiles() {
  return kProfiles;
}

}  // namespace dxva::softva
