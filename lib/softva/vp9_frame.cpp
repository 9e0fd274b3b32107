// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/vp9_frame.hpp"

#include <optional>

#include "lib/softva/bits.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

using Parameters = VADecPictureParameterBufferVP9;

// The start of VP9's uncompressed_header(): VP9 bitstream specification, clause 6.2.
struct FrameStart {
  unsigned profile = 0;
  bool shows_existing = false;
  bool key = false;
};

std::optional<FrameStart> parse_frame_start(std::span<const uint8_t> frame) {
  constexpr uint32_t kFrameMarker = 2;
  BitReader in(frame);
  if (in.read(2) != kFrameMarker) return std::nullopt;
  FrameStart start;
  start.profile = in.read(1);
  start.profile |= in.read(1) << 1;
  if (start.profile == 3) in.skip(1);
  start.shows_existing = in.flag();
  if (!start.shows_existing) start.key = in.read(1) == 0;
  if (!in.ok()) return std::nullopt;
  return start;
}

// Annex B: the last byte of a superframe.
bool is_superframe(std::span<const uint8_t> bytes) {
  const uint8_t marker = bytes.back();
  if (marker >> 5 != 6) return false;
  const size_t frames = (marker & 7) + 1U;
  const size_t size_bytes = (marker >> 3 & 3) + 1U;
  const size_t index = 2 + frames * size_bytes;
  return bytes.size() >= index && bytes[bytes.size() - index] == marker;
}

}  // namespace

Result<std::vector<uint8_t>> rebuild_vp9_frame(const Picture& picture) {
  const auto parameters = find_parameters<Parameters>(picture, VAPictureParameterBufferType);
  if (!parameters) return bad_input("no VP9 picture parameters");
  const auto slices = collect_slices<VASliceParameterBufferVP9>(picture);
  if (!slices) return slices.error();
  if (slices->size() != 1) return bad_input("a VP9 frame is one slice");
  const std::span<const uint8_t> frame = slices->front().data;
  const auto start = parse_frame_start(frame);
  if (!start) return bad_input("no VP9 frame header");
  if (start->profile != parameters->profile)
    return bad_input("not the VP9 profile that VA says");
  if (start->shows_existing) return bad_input("a VP9 frame without pixels");
  if (start->key != (parameters->pic_fields.bits.frame_type == 0))
    return bad_input("not the VP9 frame type that VA says");
  // libavcodec would decode the last frame in it, and the others before.
  if (is_superframe(frame)) return bad_input("a VP9 superframe");
  return std::vector<uint8_t>(frame.begin(), frame.end());
}

std::vector<VASurfaceID> vp9_references(const Picture& picture) {
  std::vector<VASurfaceID> surfaces;
  const auto parameters = find_parameters<Parameters>(picture, VAPictureParameterBufferType);
  if (!parameters || parameters->pic_fields.bits.frame_type == 0) return surfaces;
  for (const VASurfaceID surface : parameters->reference_frames)
    if (surface != VA_INVALID_SURFACE) surfaces.push_back(surface);
  return surfaces;
}

}  // namespace dxva::softva
