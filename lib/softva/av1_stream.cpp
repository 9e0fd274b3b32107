// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/av1_stream.hpp"

#include <algorithm>
#include <utility>

#include "lib/softva/av1_bits.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

constexpr unsigned kSequenceHeader = 1, kTemporalDelimiter = 2, kFrame = 6;  // obu_type

using Tiles = std::vector<std::span<const uint8_t>>;

// In the order of the stream.
Result<Tiles> collect_tiles(const Picture& picture, const Av1Parameters& parameters) {
  const auto slices = collect_slices<VASliceParameterBufferAV1>(picture);
  if (!slices) return slices.error();
  const size_t count = size_t{parameters.tile_cols} * parameters.tile_rows;
  if (slices->size() != count) return bad_input("AV1 frame without all of its tiles");
  Tiles tiles(count);
  for (const auto& slice : *slices) {
    if (slice.parameters.tile_row >= parameters.tile_rows ||
        slice.parameters.tile_column >= parameters.tile_cols)
      return bad_input("AV1 tile outside the frame");
    auto& tile = tiles[size_t{slice.parameters.tile_row} * parameters.tile_cols +
                       slice.parameters.tile_column];
    if (!tile.empty()) return bad_input("AV1 tile rendered twice");
    tile = slice.data;
  }
  return tiles;
}

// tile_group_obu() of all tiles behind a frame header.
std::vector<uint8_t> frame_obu(BitWriter& header, const Tiles& tiles) {
  header.align(false);
  std::vector<uint8_t> frame = header.bytes();
  if (tiles.size() > 1) frame.push_back(0);  // tile_start_and_end_present_flag, and alignment
  for (const auto& tile : tiles) {
    if (&tile != &tiles.back())
      for (unsigned i = 0; i < kAv1TileSizeBytes; ++i)
        frame.push_back(static_cast<uint8_t>((tile.size() - 1) >> 8 * i));
    frame.insert(frame.end(), tile.begin(), tile.end());
  }
  return frame;
}

void refresh(std::vector<uint8_t>& frame, size_t refresh_bit, size_t slot) {
  const size_t bit = refresh_bit + kAv1Slots - 1 - slot;  // slot 7 comes first
  frame[bit / 8] |= static_cast<uint8_t>(0x80 >> bit % 8);
}

}  // namespace

std::optional<size_t> Av1Stream::find(const Slots& slots, VASurfaceID surface) {
  for (size_t i = 0; i < slots.size(); ++i)
    if (surface != VA_INVALID_SURFACE && slots[i].surface == surface) return i;
  return std::nullopt;
}

std::optional<size_t> Av1Stream::find_free(const Slots& slots,
                                           std::span<const VASurfaceID> live) {
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].surface == VA_INVALID_SURFACE ||
        std::find(live.begin(), live.end(), slots[i].surface) == live.end())
      return i;
  return std::nullopt;
}

Result<Av1References> Av1Stream::find_references(const Av1Parameters& parameters,
                                                 const Slots& slots) {
  Av1References out;
  out.primary_motion = default_av1_motion();
  for (size_t i = 0; i < slots.size(); ++i) out.order_hints[i] = slots[i].order_hint;
  if (av1_is_intra(parameters)) return out;
  for (unsigned i = 0; i < kAv1References; ++i) {
    if (parameters.ref_frame_idx[i] >= kAv1Slots)
      return bad_input("AV1 reference out of range");
    const auto slot = find(slots, parameters.ref_frame_map[parameters.ref_frame_idx[i]]);
    if (!slot) return bad_input("AV1 reference that was not decoded here");
    out.slots[i] = static_cast<uint8_t>(*slot);
  }
  if (!av1_is_resilient(parameters) && parameters.primary_ref_frame < kAv1References)
    out.primary_motion = slots[out.slots[parameters.primary_ref_frame]].motion;
  return out;
}

Result<Av1Unit> Av1Stream::rebuild(const Picture& picture) {
  const auto parameters = find_parameters<Av1Parameters>(picture, VAPictureParameterBufferType);
  if (!parameters) return bad_input("no AV1 picture parameters");
  if (Status sane = check_av1_picture(*parameters); !sane) return sane.error();
  const auto tiles = collect_tiles(picture, *parameters);
  if (!tiles) return tiles.error();

  Slots slots = slots_;
  std::vector<Job> unstored = unstored_;
  std::span<const VASurfaceID> live = parameters->ref_frame_map;
  const bool key = av1_frame_type(*parameters) == Av1FrameType::Key;
  // FFmpeg names no surfaces with a key frame. One that is shown ends the others' lives; after
  // one that is not they may go on, and nothing is known until the next picture.
  const bool knows_live = !key || parameters->pic_info_fields.bits.show_frame;
  if (key && knows_live) slots.fill({});

  Av1Unit unit;
  const auto start = [](std::vector<uint8_t>& bytes) {
    append_obu(bytes, kTemporalDelimiter, {});
  };
  if (knows_live) {
    for (Job& job : unstored) {
      if (std::find(live.begin(), live.end(), job.slot.surface) == live.end()) continue;
      // There is one: the eight named surfaces include this one, which no slot has.
      const auto slot = find_free(slots, live);
      if (!slot) break;
      refresh(job.frame, job.refresh_bit, *slot);
      start(unit.replays.emplace_back());
      append_obu(unit.replays.back(), kFrame, job.frame);
      slots[*slot] = job.slot;
    }
    unstored.clear();
  }

  const auto references = find_references(*parameters, slots);
  if (!references) return references.error();
  auto header = write_av1_frame(*parameters, *references);
  if (!header) return header.error();
  Job job{.slot = {.surface = picture.target,
                   .order_hint = parameters->order_hint,
                   .motion = av1_motion(*parameters)},
          .frame = frame_obu(header->bits, *tiles),
          .refresh_bit = header->refresh_bit};

  // A surface that is drawn into again is no reference any more.
  std::erase_if(unstored, [&](const Job& old) { return old.slot.surface == picture.target; });
  for (Slot& slot : slots)
    if (slot.surface == picture.target) slot = {};
  std::array<VASurfaceID, kAv1Slots> all;
  if (!knows_live) {
    for (size_t i = 0; i < slots.size(); ++i) all[i] = slots[i].surface;
    live = all;
  }
  std::vector<uint8_t> sequence = write_av1_sequence(*parameters);
  start(unit.bytes);
  if (sequence != sequence_) append_obu(unit.bytes, kSequenceHeader, sequence);
  if (const auto slot = find_free(slots, live)) {
    refresh(job.frame, job.refresh_bit, *slot);
    append_obu(unit.bytes, kFrame, job.frame);
    slots[*slot] = job.slot;
  } else {
    append_obu(unit.bytes, kFrame, job.frame);
    unstored.push_back(std::move(job));
    // More than two can only be a client that never says what lives.
    if (unstored.size() > kAv1Slots) unstored.erase(unstored.begin());
  }

  sequence_ = std::move(sequence);
  slots_ = slots;
  unstored_ = std::move(unstored);
  return unit;
}

}  // namespace dxva::softva
