// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/vp8_frame.hpp"

#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

// RFC 6386 9.1: what the tag's fields can say.
constexpr uint32_t kMaxSide = (1 << 14) - 1;
constexpr uint32_t kMaxFirstPartition = (1 << 19) - 1;
constexpr uint32_t kMaxVersion = 3;
constexpr uint8_t kStartCode[] = {0x9d, 0x01, 0x2a};

void put_little_endian(std::vector<uint8_t>& out, uint32_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) out.push_back(static_cast<uint8_t>(value >> 8 * i));
}

// Bytes of the first partition: the ones that the client has parsed already and the rest.
Result<uint32_t> first_partition_bytes(const Slice<VASliceParameterBufferVP8>& slice) {
  const uint64_t bytes = uint64_t{slice.parameters.partition_size[0]} +
                         (uint64_t{slice.parameters.macroblock_offset} + 7) / 8;
  if (bytes > kMaxFirstPartition || bytes > slice.data.size())
    return bad_input("first partition outside the frame");
  return static_cast<uint32_t>(bytes);
}

}  // namespace

Result<std::vector<uint8_t>> rebuild_vp8_frame(const Picture& picture) {
  const auto parameters =
      find_parameters<VAPictureParameterBufferVP8>(picture, VAPictureParameterBufferType);
  if (!parameters) return bad_input("no VP8 picture parameters");
  // GStreamer's vavp8dec 1.22 renders the frame with its tag, says by the offset that the slice
  // is behind it, and by the size that it is as long as the whole.
  const auto slices = collect_slices<VASliceParameterBufferVP8>(picture, SliceSize::OfBuffer);
  if (!slices) return slices.error();
  if (slices->size() != 1) return bad_input("a VP8 frame is one slice");
  const auto& slice = slices->front();
  const auto first_partition = first_partition_bytes(slice);
  if (!first_partition) return first_partition.error();
  const auto& bits = parameters->pic_fields.bits;
  if (bits.version > kMaxVersion) return bad_input("VP8 version out of range");
  const bool key = bits.key_frame == 0;  // as in the stream: 0 says that it is one
  if (key && (parameters->frame_width == 0 || parameters->frame_width > kMaxSide ||
              parameters->frame_height == 0 || parameters->frame_height > kMaxSide))
    return bad_input("VP8 frame size out of range");

  constexpr uint32_t kShown = 1 << 4;
  std::vector<uint8_t> frame;
  frame.reserve(slice.data.size() + 10);
  put_little_endian(frame, (key ? 0 : 1) | bits.version << 1 | kShown | *first_partition << 5,
                    3);
  if (key) {
    frame.insert(frame.end(), std::begin(kStartCode), std::end(kStartCode));
    // The scale in the upper two bits is a hint to players.
    put_little_endian(frame, parameters->frame_width, 2);
    put_little_endian(frame, parameters->frame_height, 2);
  }
  frame.insert(frame.end(), slice.data.begin(), slice.data.end());
  return frame;
}

}  // namespace dxva::softva
