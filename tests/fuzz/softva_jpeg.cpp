// SPDX-License-Identifier: LGPL-2.1-or-later

// libFuzzer: whatever a client renders as JPEG, decoding ends and leaves readable pixels.
// The input is a list of pictures: two bytes of size, one of sampling, then patches of its
// buffers (buffer, offset in two bytes, value) up to a buffer number of 0xff.

#include "tests/check/support/jpeg_pictures.hpp"
#include "tests/check/support/pixel_sum.hpp"

using namespace dxva::softva;
using namespace dxva::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto decoder = FrameDecoder::create(VAProfileJPEGBaseline);
  if (!decoder) return 0;
  volatile uint64_t sum = 0;
  size_t at = 0;
  for (int pictures = 0; at + 3 <= size && pictures < 16; ++pictures) {
    const JpegSampling sampling{static_cast<uint8_t>(1 + (data[at + 2] & 1)),
                                static_cast<uint8_t>(1 + (data[at + 2] >> 1 & 1))};
    Picture picture = flat_jpeg(
        plain_jpeg(static_cast<uint16_t>(data[at] + 1), static_cast<uint16_t>(data[at + 1] + 1),
                   data[at + 2] & 4 ? 1 : 3, sampling),
        200);
    at += 3;
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
