// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/mpeg2_stream.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

namespace dxva::softva {

namespace {

using Parameters = VAPictureParameterBufferMPEG2;

constexpr uint32_t kMacroblock = 16;
constexpr size_t kStartCodeBytes = 4;
constexpr uint8_t kLastSliceCode = 0xaf;
// 6.3.16: above that many lines a slice has three more bits of position.
constexpr uint32_t kLongPositionAbove = 2800;

bool is_slice(std::span<const uint8_t> data) {
  return data.size() > kStartCodeBytes && data[0] == 0 && data[1] == 0 && data[2] == 1 &&
         data[3] >= 1 && data[3] <= kLastSliceCode;
}

// Up to the next start code: nothing smuggles another header in.
std::span<const uint8_t> one_slice(std::span<const uint8_t> data) {
  constexpr uint8_t kPrefix[] = {0, 0, 1};
  const auto next = std::search(data.begin() + kStartCodeBytes, data.end(), std::begin(kPrefix),
                                std::end(kPrefix));
  return data.first(static_cast<size_t>(next - data.begin()));
}

uint32_t row_of(std::span<const uint8_t> slice, uint32_t height) {
  const uint32_t row = slice[3] - 1U;
  return height > kLongPositionAbove ? row + (slice[4] >> 5) * 128U : row;
}

Status take_matrix(std::array<uint8_t, 64>& to, int32_t load, const uint8_t (&from)[64]) {
  if (!load) return Done{};
  if (std::find(std::begin(from), std::end(from), 0) != std::end(from))
    return bad_input("zero in a quantiser matrix");
  std::copy(std::begin(from), std::end(from), to.begin());
  return Done{};
}

}  // namespace

// VA does not say whether the whole sequence is progressive. It decides whether the rows of
// macroblocks are rounded up to an even number; where that makes a difference, the slices of a
// picture without references tell. Once told it stays: a decoder that is told otherwise drops
// its references.
bool Mpeg2Stream::is_progressive(const Parameters& parameters, const Slices& slices) const {
  const auto& bits = parameters.picture_coding_extension.bits;
  const uint32_t rows = (parameters.vertical_size + kMacroblock - 1) / kMacroblock;
  if (rows % 2 == 0) return false;
  if (!sequence_.empty() &&
      parameters.picture_coding_type != static_cast<int>(Mpeg2PictureType::I))
    return progressive_;
  // 6.3.10: what a picture of a progressive sequence has to be.
  if (bits.picture_structure != kMpeg2FramePicture || !bits.progressive_frame ||
      !bits.frame_pred_frame_dct)
    return false;
  return std::none_of(slices.begin(), slices.end(), [&](const auto& slice) {
    return row_of(slice.data, parameters.vertical_size) >= rows;
  });
}

Result<Mpeg2Picture> Mpeg2Stream::rebuild(const Picture& picture) {
  const auto parameters = find_parameters<Parameters>(picture, VAPictureParameterBufferType);
  if (!parameters) return bad_input("no MPEG-2 picture parameters");
  if (Status sane = check_mpeg2_picture(*parameters); !sane) return sane.error();
  auto slices = collect_slices<VASliceParameterBufferMPEG2>(picture);
  if (!slices) return slices.error();
  // What is no slice is left out: the decoder conceals it like a lost one.
  std::erase_if(*slices, [](const auto& slice) { return !is_slice(slice.data); });
  if (slices->empty()) return bad_input("no MPEG-2 slices");

  Mpeg2Matrices wanted = wanted_;
  if (const auto matrix =
          find_parameters<VAIQMatrixBufferMPEG2>(picture, VAIQMatrixBufferType)) {
    if (Status taken = take_matrix(wanted.intra, matrix->load_intra_quantiser_matrix,
                                   matrix->intra_quantiser_matrix);
        !taken)
      return taken.error();
    if (Status taken = take_matrix(wanted.non_intra, matrix->load_non_intra_quantiser_matrix,
                                   matrix->non_intra_quantiser_matrix);
        !taken)
      return taken.error();
  }

  Mpeg2Picture unit;
  const auto& bits = parameters->picture_coding_extension.bits;
  unit.field = bits.picture_structure != kMpeg2FramePicture;
  unit.bottom = bits.picture_structure == 2;
  unit.second = unit.field && awaits_second_field_ && !bits.is_first_field;

  const bool progressive = is_progressive(*parameters, *slices);
  std::vector<uint8_t> sequence =
      write_mpeg2_sequence(parameters->horizontal_size, parameters->vertical_size, progressive);
  // Decoders count fields: to one that waits for a second field, a first one is just that. A
  // sequence header makes it forget. It also sets default matrices.
  const bool lost_second_field = unit.field && awaits_second_field_ && !unit.second;
  const bool again = sequence != sequence_ || lost_second_field;
  if (again) unit.bytes = sequence;
  const auto append = [&unit](std::span<const uint8_t> bytes) {
    unit.bytes.insert(unit.bytes.end(), bytes.begin(), bytes.end());
  };
  append(write_mpeg2_picture(*parameters));
  if (wanted != (again ? default_mpeg2_matrices() : sent_))
    append(write_mpeg2_matrices(wanted));
  for (const auto& slice : *slices) append(one_slice(slice.data));

  sequence_ = std::move(sequence);
  progressive_ = progressive;
  sent_ = wanted_ = wanted;
  awaits_second_field_ = unit.field && !unit.second;
  return unit;
}

}  // namespace dxva::softva
