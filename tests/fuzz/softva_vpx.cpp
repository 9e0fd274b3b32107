// SPDX-License-Identifier: LGPL-2.1-or-later

// libFuzzer: whatever a client renders as VP8 or VP9, decoding ends and leaves readable pixels.
// The input is a list of pictures: a byte that chooses one, two of sizes, the length of its
// bytes and the bytes, which the arithmetic decoder takes whatever they are.

#include <algorithm>

#include "tests/check/support/pixel_sum.hpp"
#include "tests/check/support/vpx_pictures.hpp"

using namespace dxva::softva;
using namespace dxva::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr VAProfile kProfiles[] = {VAProfileVP8Version0_3, VAProfileVP9Profile0,
                                     VAProfileVP9Profile2};
  const VAProfile profile = kProfiles[data[0] % 3];
  auto decoder = FrameDecoder::create(profile);
  if (!decoder) return 0;
  volatile uint64_t sum = 0;
  size_t at = 1;
  for (int pictures = 0; at + 4 <= size && pictures < 16; ++pictures) {
    const uint8_t choice = data[at];
    const uint32_t width = data[at + 1] + 1U, height = data[at + 2] + 1U;
    const size_t length = std::min<size_t>(data[at + 3] * 4U + 1, size - at - 4);
    at += 4;
    Bytes bytes(data + at, data + at + length);
    at += length;
    Picture picture;
    if (profile == VAProfileVP8Version0_3) {
      bytes.resize(std::max<size_t>(bytes.size(), 16));
      const auto first = static_cast<uint32_t>(bytes.size() / 2);
      picture = vp8_picture(choice & 1, width, height, bytes, first, choice >> 2, choice >> 1);
    } else {
      bytes.push_back(0);
      picture = vp9_picture(width, height,
                            {.key = (choice & 1) != 0,
                             .profile = profile == VAProfileVP9Profile2 ? 2u : 0u,
                             .refresh = choice,
                             .size_of_reference = (choice & 2) != 0,
                             .tiles = bytes});
    }
    const auto pixels = (*decoder)->decode(picture);
    if (pixels) sum = sum + pixel_sum(*pixels);
  }
  return 0;
}
