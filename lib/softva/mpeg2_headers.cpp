// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/mpeg2_headers.hpp"

#include "lib/softva/bits.hpp"
#include "lib/softva/picture_buffers.hpp"

namespace dxva::softva {

namespace {

// Table 6-1.
constexpr uint8_t kPictureStart = 0x00;
constexpr uint8_t kSequenceHeader = 0xb3;
constexpr uint8_t kExtensionStart = 0xb5;
constexpr uint8_t kGroupStart = 0xb8;
// Table 6-2.
constexpr uint32_t kSequenceExtension = 1;
constexpr uint32_t kQuantMatrixExtension = 3;
constexpr uint32_t kPictureCodingExtension = 8;

constexpr uint32_t kMaxSide = (1 << 14) - 1;

BitWriter start(uint8_t code) {
  BitWriter out;
  out.put(1, 24);
  out.put(code, 8);
  return out;
}

BitWriter start_extension(uint32_t id) {
  BitWriter out = start(kExtensionStart);
  out.put(id, 4);
  return out;
}

void append(std::vector<uint8_t>& stream, BitWriter& header) {
  header.align(false);
  stream.insert(stream.end(), header.bytes().begin(), header.bytes().end());
}

constexpr std::array<uint8_t, 64> kDefaultIntra = {
    8,  16, 16, 19, 16, 19, 22, 22, 22, 22, 22, 22, 26, 24, 26, 27, 27, 27, 26, 26, 26, 26,
    27, 27, 27, 29, 29, 29, 34, 34, 34, 29, 29, 29, 27, 27, 29, 29, 32, 32, 34, 34, 37, 38,
    37, 35, 35, 34, 35, 38, 38, 40, 40, 40, 48, 48, 46, 46, 56, 56, 58, 69, 69, 83};

constexpr std::array<uint8_t, 64> filled(uint8_t value) {
  std::array<uint8_t, 64> out{};
  for (uint8_t& entry : out) entry = value;
  return out;
}

}  // namespace

const Mpeg2Matrices& default_mpeg2_matrices() {
  static constexpr Mpeg2Matrices kDefault{.intra = kDefaultIntra, .non_intra = filled(16)};
  return kDefault;
}

Status check_mpeg2_picture(const VAPictureParameterBufferMPEG2& picture) {
  const auto& bits = picture.picture_coding_extension.bits;
  for (const uint32_t side : {picture.horizontal_size, picture.vertical_size}) {
    // The sequence header has the lower 12 bits of a size, which must not be 0.
    if (side > kMaxSide || side % 4096 == 0) return bad_input("MPEG-2 size out of range");
  }
  if (picture.picture_coding_type < 1 || picture.picture_coding_type > 3)
    return bad_input("MPEG-2 picture type out of range");
  if (bits.picture_structure == 0) return bad_input("MPEG-2 picture structure out of range");
  if (bits.picture_structure != kMpeg2FramePicture && bits.progressive_frame)
    return bad_input("a field picture of a progressive frame");
  return Done{};
}

std::vector<uint8_t> write_mpeg2_sequence(uint32_t width, uint32_t height, bool progressive) {
  std::vector<uint8_t> stream;
  BitWriter header = start(kSequenceHeader);
  header.put(width & 0xfff, 12);
  header.put(height & 0xfff, 12);
  header.put(1, 4);         // square samples
  header.put(3, 4);         // 25 frames a second
  header.put(0x3ffff, 18);  // bit_rate
  header.flag(true);        // marker
  header.put(0x3ff, 10);    // vbv_buffer_size
  header.flag(false);       // constrained_parameters_flag
  header.put(0, 2);         // no matrices
  append(stream, header);

  BitWriter extension = start_extension(kSequenceExtension);
  extension.put(0x44, 8);  // Main profile at High level
  extension.flag(progressive);
  extension.put(1, 2);  // 4:2:0
  extension.put(width >> 12, 2);
  extension.put(height >> 12, 2);
  extension.put(0, 12);   // bit_rate
  extension.flag(true);   // marker
  extension.put(0, 8);    // vbv_buffer_size
  extension.flag(false);  // low_delay
  extension.put(0, 7);    // frame rate as above
  append(stream, extension);

  BitWriter group = start(kGroupStart);
  group.put(0, 12);
  group.flag(true);  // marker in the middle of the time code
  group.put(0, 12);
  group.flag(true);   // closed_gop
  group.flag(false);  // broken_link
  append(stream, group);
  return stream;
}

std::vector<uint8_t> write_mpeg2_picture(const VAPictureParameterBufferMPEG2& picture) {
  std::vector<uint8_t> stream;
  const auto type = static_cast<Mpeg2PictureType>(picture.picture_coding_type);
  BitWriter header = start(kPictureStart);
  header.put(0, 10);  // temporal_reference: nobody waits for the order of display
  header.put(static_cast<uint32_t>(picture.picture_coding_type), 3);
  header.put(0xffff, 16);  // vbv_delay
  // full_pel and f_code of MPEG-1: 0 and 7 say that the extension has them.
  if (type != Mpeg2PictureType::I) header.put(7, 4);
  if (type == Mpeg2PictureType::B) header.put(7, 4);
  header.flag(false);  // extra_bit_picture
  append(stream, header);

  const auto& bits = picture.picture_coding_extension.bits;
  BitWriter extension = start_extension(kPictureCodingExtension);
  extension.put(static_cast<uint32_t>(picture.f_code) & 0xffff, 16);
  extension.put(bits.intra_dc_precision, 2);
  extension.put(bits.picture_structure, 2);
  extension.flag(bits.top_field_first);
  extension.flag(bits.frame_pred_frame_dct);
  extension.flag(bits.concealment_motion_vectors);
  extension.flag(bits.q_scale_type);
  extension.flag(bits.intra_vlc_format);
  extension.flag(bits.alternate_scan);
  extension.flag(bits.repeat_first_field);
  extension.flag(bits.progressive_frame);  // chroma_420_type is the same
  extension.flag(bits.progressive_frame);
  extension.flag(false);  // composite_display_flag
  append(stream, extension);
  return stream;
}

std::vector<uint8_t> write_mpeg2_matrices(const Mpeg2Matrices& matrices) {
  std::vector<uint8_t> stream;
  BitWriter extension = start_extension(kQuantMatrixExtension);
  for (const auto& matrix : {matrices.intra, matrices.non_intra}) {
    extension.flag(true);
    for (const uint8_t entry : matrix) extension.put(entry, 8);
  }
  extension.put(0, 2);  // 4:2:0 has no chroma matrices
  append(stream, extension);
  return stream;
}

}  // namespace dxva::softva
