// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A clip without an encoder and without a file: H.264 pictures of I_PCM macroblocks, whose
// samples stand in the stream as they are. So the right answer is known, byte by byte, without
// a second decoder, and every device that decodes the Main profile decodes it.

#include <cstdint>
#include <vector>

namespace dxva::doctor {

// Colour bars over a ramp, NV12 without padding: luma, then chroma in pairs.
struct TestPicture {
  uint32_t width = 0;  // pixels, multiples of 16
  uint32_t height = 0;
  std::vector<uint8_t> luma;
  std::vector<uint8_t> chroma;
};
// `number` moves the ramp, so that no two pictures of the clip are alike.
[[nodiscard]] TestPicture test_picture(uint32_t number);

// One access unit: parameter sets and an IDR picture, byte-stream format (ISO/IEC 14496-10 7.3,
// annex B).
[[nodiscard]] std::vector<uint8_t> test_access_unit(const TestPicture& picture,
                                                    uint32_t number);

}  // namespace dxva::doctor
