// SPDX-License-Identifier: LGPL-2.1-or-later

// libFuzzer: whatever a client renders as H.265, decoding ends and leaves readable pixels.
// The input is a list of pictures: two bytes that choose a well-made picture, then patches of
// its buffers (buffer, offset in two bytes, value) up to a buffer number of 0xff.

#include "tests/check/support/hevc_pictures.hpp"
#include "tests/check/support/pixel_sum.hpp"

using namespace dxva::softva;
using namespace dxva::test;

namespace {

Picture choose_picture(uint8_t choice, uint8_t references, int32_t order_count) {
  PictureParameters parameters = plain_picture(16, 16, choice & 1 ? 10 : 8);
  parameters.CurrPic.pic_order_cnt = order_count;
  parameters.slice_parsing_fields.bits.long_term_ref_pics_present_flag = (choice & 2) != 0;
  parameters.slice_parsing_fields.bits.lists_modification_present_flag = (choice & 4) != 0;
  if (choice & 8) {
    parameters.pic_width_in_luma_samples = 64;
    parameters.pic_fields.bits.tiles_enabled_flag = 1;
    parameters.num_tile_columns_minus1 = 1;
  }
  for (int n = 0; n < 4; ++n) {
    constexpr uint32_t kRoles[] = {
        0, VA_PICTURE_HEVC_RPS_ST_CURR_BEFORE,
        VA_PICTURE_HEVC_RPS_LT_CURR | VA_PICTURE_HEVC_LONG_TERM_REFERENCE};
    const unsigned role = references >> (2 * n) & 3;
    if (role < 3)
      add_reference(parameters, static_cast<VASurfaceID>(1 + n), order_count - 1 - n,
                    kRoles[role]);
  }
  constexpr uint8_t kTypes[] = {kTrailR, kIdrNLp, kCra, kBlaWLp};
  const SliceSyntax syntax{.nal_type = kTypes[choice >> 4 & 3],
                           .own_set = {1},
                           .long_term = {3, 4},
                           .used_references = 2,
                           .entry_points = {5}};
  const auto target = static_cast<VASurfaceID>(1 + (choice >> 6 & 3));
  return references & 1 ? skip_picture(parameters, target, syntax)
                        : pcm_picture(parameters, target, syntax, 50);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto decoder = FrameDecoder::create(VAProfileHEVCMain10);
  if (!decoder) return 0;
  volatile uint64_t sum = 0;
  size_t at = 0;
  for (int32_t order_count = 0; at + 2 <= size && order_count < 16; ++order_count) {
    Picture picture = choose_picture(data[at], data[at + 1], order_count);
    at += 2;
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
