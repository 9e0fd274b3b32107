// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// AV1 headers (AV1 specification, clause 5) that say what VA's buffers say. A driver does not
// see a stream's reference slots nor what is stored in them, so these have slots of our own:
// who calls keeps them. Whatever a sequence may leave to its frames it leaves to them, and a
// frame says all of it anew: segmentation, loop filter deltas, sizes. Thread rules: reentrant.

#include <va/va.h>

#include <array>
#include <cstdint>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/softva/bits.hpp"

namespace dxva::softva {

inline constexpr unsigned kAv1Slots = 8;
inline constexpr unsigned kAv1References = 7;  // of one frame

using Av1Parameters = VADecPictureParameterBufferAV1;

enum class Av1FrameType : uint8_t { Key, Inter, IntraOnly, Switch };
[[nodiscard]] inline Av1FrameType av1_frame_type(const Av1Parameters& picture) {
  return static_cast<Av1FrameType>(picture.pic_info_fields.bits.frame_type);
}
[[nodiscard]] inline bool av1_is_intra(const Av1Parameters& picture) {
  const Av1FrameType type = av1_frame_type(picture);
  return type == Av1FrameType::Key || type == Av1FrameType::IntraOnly;
}
// A switch frame is written as an inter frame, and is error resilient all the same.
[[nodiscard]] inline bool av1_is_resilient(const Av1Parameters& picture) {
  return !av1_is_intra(picture) && (picture.pic_info_fields.bits.error_resilient_mode ||
                                    av1_frame_type(picture) == Av1FrameType::Switch);
}

// gm_params of one frame, of its seven references.
using Av1Motion = std::array<std::array<int32_t, 6>, kAv1References>;
[[nodiscard]] Av1Motion default_av1_motion();
// The frame's own, as it stores them.
[[nodiscard]] Av1Motion av1_motion(const Av1Parameters& picture);

// What a frame refers to, in our slots.
struct Av1References {
  std::array<uint8_t, kAv1References> slots{};  // of each reference
  std::array<uint8_t, kAv1Slots> order_hints{};
  Av1Motion primary_motion{};  // of the primary reference frame
};

// BadInput for what no stream of Main profile may say: the functions below rely on it.
[[nodiscard]] Status check_av1_picture(const Av1Parameters& picture);

// sequence_header_obu()
[[nodiscard]] std::vector<uint8_t> write_av1_sequence(const Av1Parameters& picture);

// uncompressed_header() of a frame that is not shown and is stored in no slot, and where its
// refresh_frame_flags are: eight bits from `refresh_bit` on.
struct Av1FrameHeader {
  BitWriter bits;
  size_t refresh_bit = 0;
};
[[nodiscard]] Result<Av1FrameHeader> write_av1_frame(const Av1Parameters& picture,
                                                     const Av1References& references);
// tile_info(), into `out`. BadInput: the tiles do not make up the frame.
[[nodiscard]] Status write_av1_tiles(BitWriter& out, const Av1Parameters& picture);

// FrameWidth: after super resolution has taken some of it, pixels.
[[nodiscard]] uint32_t av1_coded_width(const Av1Parameters& picture);

inline constexpr unsigned kAv1TileSizeBytes = 4;

}  // namespace dxva::softva
