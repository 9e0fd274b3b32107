// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/jpeg_scans.hpp"

#include <algorithm>

namespace dxva::decode {

// By the markers alone, wherever they lie: a decoder that resynchronises sees more of them than
// one that goes by the segments' lengths. An SOS inside an application's segment is one too
// many then, which costs a picture its device and nothing else.
bool has_several_jpeg_scans(std::span<const uint8_t> picture) {
  constexpr uint8_t kStartOfScan = 0xda;
  constexpr size_t kFew = 1;
  size_t scans = 0;
  for (auto at = picture.begin(); at != picture.end();) {
    at = std::find(at, picture.end(), 0xff);
    while (at != picture.end() && *at == 0xff) ++at;  // fill bytes
    if (at != picture.end() && *at == kStartOfScan && ++scans > kFew) return true;
  }
  return false;
}

}  // namespace dxva::decode
