// SPDX-License-Identifier: LGPL-2.1-or-later

// libFuzzer: whatever a client renders as AV1, decoding ends and leaves readable pixels.
// The input is a list of pictures: a byte that chooses one, two of sizes, the length of its
// tile and the tile, then patches of its parameters (offset in two bytes, value) up to an
// offset of 0xffff.

#include <algorithm>

#include "tests/check/support/av1_pictures.hpp"
#include "tests/check/support/pixel_sum.hpp"

using namespace dxva::softva;
using namespace dxva::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto decoder = FrameDecoder::create(VAProfileAV1Profile0);
  if (!decoder) return 0;
  volatile uint64_t sum = 0;
  Av1Map map = av1_map(VA_INVALID_SURFACE);
  size_t at = 0;
  for (int pictures = 0; at + 4 <= size && pictures < 16; ++pictures) {
    const bool key = pictures == 0 || (data[at] & 1);
    const VASurfaceID target = data[at] >> 4;
    const Av1Parameters parameters =
        plain_av1(static_cast<uint16_t>(data[at + 1] + 1),
                  static_cast<uint16_t>(data[at + 2] + 1), key, map);
    const size_t length = std::min<size_t>(data[at + 3] + 1U, size - at - 4);
    at += 4;
    Bytes tile(data + at, data + at + length);
    tile.push_back(0x55);
    at += length;
    Picture picture = av1_picture(parameters, target, tile);
    while (at + 3 <= size && (data[at] != 0xff || data[at + 1] != 0xff)) {
      Bytes& bytes = picture.buffers[0].bytes;
      bytes[(data[at] << 8 | data[at + 1]) % bytes.size()] = data[at + 2];
      at += 3;
    }
    at += 2;
    if (key) map = av1_map(target);
    map[pictures % 8] = target;
    const auto pixels = (*decoder)->decode(picture);
    if (pixels) sum = sum + pixel_sum(*pixels);
    if (const auto shown = (*decoder)->take_shown()) sum = sum + pixel_sum(shown->pixels);
  }
  return 0;
}
