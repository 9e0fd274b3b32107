// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// MPEG-2 video headers (ISO/IEC 13818-2, 6.2) that say what VA's buffers say. What VA does not
// tell is made up: timing, the level, and the order of display. Thread rules: reentrant.

#include <va/va.h>

#include <array>
#include <cstdint>
#include <vector>

#include "lib/base/result.hpp"

namespace dxva::softva {

enum class Mpeg2PictureType : uint8_t { I = 1, P = 2, B = 3 };

inline constexpr uint32_t kMpeg2FramePicture = 3;  // picture_structure; 1 and 2 are fields

// In zig-zag order, as in the stream and in VA.
struct Mpeg2Matrices {
  std::array<uint8_t, 64> intra;
  std::array<uint8_t, 64> non_intra;
  friend bool operator==(const Mpeg2Matrices&, const Mpeg2Matrices&) = default;
};
// What a sequence header without matrices means (6.3.11).
[[nodiscard]] const Mpeg2Matrices& default_mpeg2_matrices();

// BadInput for what no stream of Main profile may say: the functions below rely on it.
[[nodiscard]] Status check_mpeg2_picture(const VAPictureParameterBufferMPEG2& picture);

// sequence_header(), sequence_extension() and a group_of_pictures_header() that is closed: a
// decoder starts here, with default matrices, and decodes B pictures without a past as well.
[[nodiscard]] std::vector<uint8_t> write_mpeg2_sequence(uint32_t width, uint32_t height,
                                                        bool progressive);
// picture_header() and picture_coding_extension().
[[nodiscard]] std::vector<uint8_t> write_mpeg2_picture(
    const VAPictureParameterBufferMPEG2& picture);
// quant_matrix_extension(): for this picture and those after it. No entry is 0.
[[nodiscard]] std::vector<uint8_t> write_mpeg2_matrices(const Mpeg2Matrices& matrices);

}  // namespace dxva::softva
