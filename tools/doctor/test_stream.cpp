// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/doctor/test_stream.hpp"

#include <array>

#include "lib/softva/bits.hpp"

namespace dxva::doctor {
namespace {

using softva::BitWriter;

// Above the smallest size of every driver seen, and not so large that a CPU would notice.
constexpr uint32_t kWidth = 256;
constexpr uint32_t kHeight = 192;

struct Colour {
  uint8_t y, u, v;
};
// The 75 % bars of SMPTE, BT.601 limited range.
constexpr std::array<Colour, 8> kBars = {{{180, 128, 128},
                                          {162, 44, 142},
                                          {131, 156, 44},
                                          {112, 72, 58},
                                          {84, 184, 198},
                                          {65, 100, 212},
                                          {35, 212, 114},
                                          {16, 128, 128}}};

// 7.3.2.1.1, Main profile, level 4.0: an I_PCM picture is large for its size.
std::vector<uint8_t> sequence_parameters(uint32_t width, uint32_t height) {
  BitWriter out;
  out.put(0x67, 8);
  out.put(77, 8);  // profile_idc
  out.put(0, 8);
  out.put(40, 8);  // level_idc
  out.ue(0);       // seq_parameter_set_id
  out.ue(0);       // log2_max_frame_num_minus4
  out.ue(2);       // pic_order_cnt_type: output order is decoding order
  out.ue(1);       // max_num_ref_frames
  out.flag(false);
  out.ue(width / 16 - 1);
  out.ue(height / 16 - 1);
  out.flag(true);   // frame_mbs_only_flag
  out.flag(true);   // direct_8x8_inference_flag
  out.flag(false);  // frame_cropping_flag
  out.flag(false);  // vui_parameters_present_flag
  out.trailing();
  return out.bytes();
}

// 7.3.2.2
std::vector<uint8_t> picture_parameters() {
  BitWriter out;
  out.put(0x68, 8);
  out.ue(0);
  out.ue(0);
  out.flag(false);  // entropy_coding_mode_flag: CAVLC
  out.flag(false);
  out.ue(0);  // num_slice_groups_minus1
  out.ue(0);
  out.ue(0);
  out.flag(false);
  out.put(0, 2);
  out.se(0);
  out.se(0);
  out.se(0);
  out.flag(true);  // deblocking_filter_control_present_flag
  out.flag(false);
  out.flag(false);
  out.trailing();
  return out.bytes();
}

// 7.3.3 and 7.3.5 with mb_type I_PCM
std::vector<uint8_t> slice(const TestPicture& picture, uint32_t number) {
  BitWriter out;
  out.put(0x65, 8);
  out.ue(0);           // first_mb_in_slice
  out.ue(7);           // slice_type: I, all of the picture
  out.ue(0);           // pic_parameter_set_id
  out.put(0, 4);       // frame_num
  out.ue(number % 2);  // idr_pic_id: neighbours differ
  out.put(0, 2);       // no_output_of_prior_pics_flag, long_term_reference_flag
  out.se(0);           // slice_qp_delta
  out.ue(1);           // disable_deblocking_filter_idc
  const uint32_t columns = picture.width / 16;
  const uint32_t rows = picture.height / 16;
  for (uint32_t mb = 0; mb < columns * rows; ++mb) {
    const uint32_t x = mb % columns * 16;
    const uint32_t y = mb / columns * 16;
    out.ue(25);
    out.align(false);
    for (uint32_t row = 0; row < 16; ++row)
      for (uint32_t column = 0; column < 16; ++column)
        out.put(picture.luma[(y + row) * picture.width + x + column], 8);
    for (uint32_t component = 0; component < 2; ++component)
      for (uint32_t row = 0; row < 8; ++row)
        for (uint32_t column = 0; column < 8; ++column)
          out.put(picture.chroma[(y / 2 + row) * picture.width + x + column * 2 + component],
                  8);
  }
  out.trailing();
  return out.bytes();
}

}  // namespace

TestPicture test_picture(uint32_t number) {
  TestPicture out{.width = kWidth, .height = kHeight};
  for (uint32_t y = 0; y < kHeight; ++y)
    for (uint32_t x = 0; x < kWidth; ++x) {
      const bool bars = y < kHeight * 3 / 4;
      const uint32_t ramp = 16 + (x + number * 16) % kWidth * 219 / (kWidth - 1);
      out.luma.push_back(bars ? kBars[x * kBars.size() / kWidth].y
                              : static_cast<uint8_t>(ramp));
    }
  for (uint32_t y = 0; y < kHeight / 2; ++y)
    for (uint32_t x = 0; x < kWidth / 2; ++x) {
      const bool bars = y < kHeight * 3 / 8;
      const Colour& bar = kBars[x * kBars.size() * 2 / kWidth];
      // The ramp's chroma differs from row to row: a wrong pitch shows.
      out.chroma.push_back(bars ? bar.u : static_cast<uint8_t>(96 + y % 64));
      out.chroma.push_back(bars ? bar.v : static_cast<uint8_t>(160 - x % 64));
    }
  return out;
}

std::vector<uint8_t> test_access_unit(const TestPicture& picture, uint32_t number) {
  std::vector<uint8_t> out;
  softva::append_escaped_nal(out, sequence_parameters(picture.width, picture.height));
  softva::append_escaped_nal(out, picture_parameters());
  softva::append_escaped_nal(out, slice(picture, number));
  return out;
}

}  // namespace dxva::doctor
