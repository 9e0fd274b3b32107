// SPDX-License-Identifier: LGPL-2.1-or-later

// libFuzzer: whatever a client renders as H.264, decoding ends and leaves readable pixels.
// The input is a list of pictures: a byte that chooses a well-made picture, then patches of its
// buffers (buffer, offset in two bytes, value) up to a buffer number of 0xff.

#include "tests/check/support/h264_pictures.hpp"

using namespace dxva::softva;
using namespace dxva::test;

namespace {

Picture choose_picture(uint8_t choice, uint16_t frame_num) {
  PictureParameters parameters = plain_picture(2, 2);
  if (choice & 1) {
    parameters.seq_fields.bits.frame_mbs_only_flag = 0;
    parameters.pic_fields.bits.field_pic_flag = (choice & 2) != 0;
    parameters.CurrPic.flags =
        choice & 4 ? VA_PICTURE_H264_BOTTOM_FIELD : VA_PICTURE_H264_TOP_FIELD;
  }
  parameters.frame_num = frame_num % 16;
  parameters.seq_fields.bits.pic_order_cnt_type = choice >> 6 & 3;
  if (choice & 8)
    parameters.ReferenceFrames[0] = {.picture_id = 1,
                                     .flags = VA_PICTURE_H264_SHORT_TERM_REFERENCE};
  const VASurfaceID target = choice & 16 ? 1 : 2;
  if (choice & 32) return skip_picture(parameters, target, {});
  return pcm_picture(parameters, target, {.idr = !(choice & 8)}, 50);
}

unsigned read_all(const Pixels& pixels) {
  unsigned sum = 0;
  for (uint32_t y = 0; y < pixels.height; ++y)
    for (uint32_t x = 0; x < pixels.width; ++x)
      sum += pixels.planes[0][size_t{y} * pixels.pitches[0] + x];
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto decoder = FrameDecoder::create(VAProfileH264High);
  if (!decoder) return 0;
  volatile unsigned sum = 0;
  size_t at = 0;
  for (uint16_t frame_num = 0; at < size && frame_num < 16; ++frame_num) {
    Picture picture = choose_picture(data[at++], frame_num);
    while (at + 4 <= size && data[at] != 0xff) {
      Bytes& bytes = picture.buffers[data[at] % picture.buffers.size()].bytes;
      bytes[(data[at + 1] << 8 | data[at + 2]) % bytes.size()] = data[at + 3];
      at += 4;
    }
    ++at;
    const auto pixels = (*decoder)->decode(picture);
    if (pixels) sum = sum + read_all(*pixels);
  }
  return 0;
}
