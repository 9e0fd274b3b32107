// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/unserved.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "lib/base/translation.hpp"
#include "lib/decode/nal_units.hpp"

namespace dxva::decode {

namespace {

using Bytes = std::span<const uint8_t>;

// --- H.264

// ue(v) of 9.1 at `bit`, which it moves on. Past the end everything is 0.
uint32_t take_ue(Bytes data, size_t& bit) {
  const auto take = [&] {
    const uint32_t out = bit / 8 < data.size() ? data[bit / 8] >> (7 - bit % 8) & 1u : 0;
    ++bit;
    return out;
  };
  unsigned zeros = 0;
  while (take() == 0)
    if (++zeros > 31) return 0;
  uint32_t value = 1;
  for (; zeros > 0; --zeros) value = value << 1 | take();
  return value - 1;
}

struct ParameterSets {
  bool may_have_groups = false;  // a profile of A.2 that has them: Baseline or Extended
  size_t with_groups = 0;        // picture parameter sets
  size_t others = 0;

  void look_at(Bytes unit) {
    constexpr int kSps = 7, kPps = 8;  // table 7-1
    constexpr uint8_t kBaseline = 66, kExtended = 88;
    const int type = unit[0] & 0x1f;
    if (type == kSps && unit.size() > 1)
      may_have_groups |= unit[1] == kBaseline || unit[1] == kExtended;
    if (type != kPps) return;
    // 7.3.2.2: two numbers, two flags, num_slice_groups_minus1.
    const Bytes payload = unit.subspan(1);
    size_t bit = 0;
    take_ue(payload, bit);
    take_ue(payload, bit);
    bit += 2;
    ++(take_ue(payload, bit) > 0 ? with_groups : others);
  }
};

// avcC, ISO/IEC 14496-15 5.3.3.1.2: sequence parameter sets behind a byte with their number in
// its low five bits, and picture parameter sets behind a byte with theirs.
void look_at_avcc(Bytes avcc, ParameterSets& sets) {
  size_t at = 5;
  for (const uint8_t mask : {0x1f, 0xff}) {
    if (at >= avcc.size()) return;
    for (unsigned left = avcc[at++] & mask; left > 0; --left) {
      if (at + 2 > avcc.size()) return;
      const size_t length = size_t{avcc[at]} << 8 | avcc[at + 1];
      at += 2;
      if (length == 0 || length > avcc.size() - at) return;
      sets.look_at(avcc.subspan(at, length));
      at += length;
    }
  }
}

bool has_only_slice_groups(Bytes packet, Bytes codec_data) {
  ParameterSets sets;
  look_at_avcc(codec_data, sets);
  ask_nal_units(packet, length_bytes_of(codec_data, 4), [&](Bytes unit) -> std::optional<bool> {
    sets.look_at(unit);
    return std::nullopt;
  });
  return sets.may_have_groups && sets.with_groups > 0 && sets.others == 0;
}

// --- JPEG

// Of T.81's headers up to the first scan.
struct JpegHeader {
  std::optional<uint8_t> adobe_transform;
  std::array<uint8_t, 4> sampling{};  // of the first components: high and low half, B.2.2
  unsigned components = 0;
  unsigned bits = 0;
};

JpegHeader jpeg_header(Bytes data) {
  // Table B.1.
  constexpr uint8_t kSof0 = 0xc0, kDht = 0xc4, kJpg = 0xc8, kDac = 0xcc, kSof15 = 0xcf,
                    kRst0 = 0xd0, kSoi = 0xd8, kSos = 0xda, kAdobe = 0xee, kTem = 0x01;
  JpegHeader out;
  while (data.size() >= 4) {
    const uint8_t marker = data[1];
    if (data[0] != 0xff || marker == 0xff) {
      data = data.subspan(1);
      continue;
    }
    if (marker == kTem || (marker >= kRst0 && marker <= kSoi)) {
      data = data.subspan(2);
      continue;
    }
    const size_t length = size_t{data[2]} << 8 | data[3];
    if (marker == kSos || length < 2 || length > data.size() - 2) break;
    const Bytes body = data.subspan(4, length - 2);
    const bool frame = marker >= kSof0 && marker <= kSof15 && marker != kDht &&
                       marker != kJpg && marker != kDac;
    if (frame && body.size() >= 6) {
      out.bits = body[0];
      out.components = body[5];
      for (size_t i = 0; i < out.sampling.size() && 8 + 3 * i < body.size(); ++i)
        out.sampling[i] = body[7 + 3 * i];
    }
    // "Adobe", a version and two words of flags, then the colours.
    constexpr std::array<uint8_t, 5> kName = {'A', 'd', 'o', 'b', 'e'};
    if (marker == kAdobe && body.size() >= 12 &&
        std::equal(kName.begin(), kName.end(), body.begin()))
      out.adobe_transform = body[11];
    data = data.subspan(2 + length);
  }
  return out;
}

// libavcodec 5.1 to 8: 0 is CMYK, 2 YCCK, and of both it makes pictures without black.
bool is_served_cmyk(const JpegHeader& header) {
  using Sampling = std::array<uint8_t, 4>;
  return header.adobe_transform && *header.adobe_transform % 2 == 0 &&
         *header.adobe_transform <= 2 && header.bits == 8 &&
         (header.sampling == Sampling{0x11, 0x11, 0x11, 0x11} ||
          header.sampling == Sampling{0x22, 0x11, 0x11, 0x22});
}

}  // namespace

std::string unserved(Codec codec, Bytes packet, Bytes codec_data) {
  if (codec == Codec::H264 && has_only_slice_groups(packet, codec_data))
    return _(
        "H.264 with slice groups (FMO), which neither libavcodec nor a device's driver "
        "decodes; another decoder may, such as openh264dec");
  if (codec == Codec::Jpeg) {
    const JpegHeader header = jpeg_header(packet);
    if (header.components == 4 && !is_served_cmyk(header))
      return _(
          "JPEG with four components (CMYK) that does not say its colours as Adobe's "
          "programs do; save it as RGB or YCbCr");
  }
  return {};
}

}  // namespace dxva::decode
