// SPDX-License-Identifier: LGPL-2.1-or-later

// libFuzzer: whatever a client renders as MPEG-2, decoding ends and leaves readable pixels.
// The input is a list of pictures: a byte that chooses a well-made picture, then patches of its
// buffers (buffer, offset in two bytes, value) up to a buffer number of 0xff.

#include "tests/check/support/mpeg2_pictures.hpp"
#include "tests/check/support/pixel_sum.hpp"

using namespace dxva::softva;
using namespace dxva::test;

namespace {

Picture choose_picture(uint8_t choice) {
  Mpeg2Parameters parameters = plain_mpeg2(32, choice & 1 ? 48 : 64, 1 + (choice >> 1 & 3) % 3,
                                           1 + (choice >> 3 & 3) % 3);
  parameters.picture_coding_extension.bits.is_first_field = choice >> 5 & 1;
  const uint32_t rows = mpeg2_rows(parameters, choice >> 6 & 1);
  if (parameters.picture_coding_type == 1 || choice & 0x80)
    return flat_mpeg2(parameters, 1, 200, rows);
  return copied_mpeg2(parameters, 1, rows);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto decoder = FrameDecoder::create(VAProfileMPEG2Main);
  if (!decoder) return 0;
  volatile uint64_t sum = 0;
  size_t at = 0;
  for (int pictures = 0; at < size && pictures < 16; ++pictures) {
    Picture picture = choose_picture(data[at++]);
    while (at + 4 <= size && data[at] != 0xff) {
      Bytes& bytes = picture.buffers[data[at] % picture.buffers.size()].bytes;
      bytes[(data[at + 1] << 8 | data[at + 2]) % bytes.size()] = data[at + 3];
      at += 4;
    }
    ++at;
    const auto pixels = (*decoder)->decode(picture);
    if (pixels) sum = sum + pixel_sum(*pixels);
  }
  return 0;
}
