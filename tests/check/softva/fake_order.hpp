// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What tests tell the scripted decoder of the driver "dxvasofttest": the slice data of a
// picture is one FakeOrder. So the driver's VA half is tested with exact pixels and no
// bitstream.

#include <cstdint>

namespace dxva::softva::test {

inline constexpr uint32_t kFakeMagic = 0x44584641;

enum class FakeAction : uint32_t { Decode, BadInput, NoMemory };

struct FakeOrder {
  uint32_t magic = kFakeMagic;
  FakeAction action = FakeAction::Decode;
  uint32_t width = 64;  // of the decoded picture, pixels
  uint32_t height = 48;
  uint32_t gray = 0;
  uint32_t bit_depth = 8;
  uint32_t seed = 0;
  // The pictures that the decoder drew before this one are added to the seed: shows whether two
  // pictures come from one decoder.
  uint32_t counts = 0;
  uint32_t reference = 0;  // a surface that this picture refers to; 0: none
  // Rendezvous of the tests about parallel work: a byte is written when decoding has begun, and
  // decoding ends when one could be read. Negative: neither.
  int32_t began_fd = -1;
  int32_t go_fd = -1;
};

// The picture of an order: plane 0 is Y, 1 U, 2 V; x and y in the plane's own samples.
constexpr uint32_t fake_sample(const FakeOrder& order, uint32_t plane, uint32_t x, uint32_t y) {
  const uint32_t mask = (1u << order.bit_depth) - 1;
  return (x * 3 + y * 7 + plane * 50 + order.seed * 11 + (x * y) / 5) & mask;
}

}  // namespace dxva::softva::test
