// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/stream_dump.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace dxva::softva {

StreamDump StreamDump::from_environment() {
  StreamDump dump;
  if (const char* path = std::getenv("DXVASOFT_DUMP")) dump.path_ = path;
  return dump;
}

void StreamDump::append(std::span<const uint8_t> bytes) const {
  if (path_.empty()) return;
  // A debugging aid: a file that cannot be written is no reason to fail a picture.
  if (std::FILE* file = std::fopen(path_.c_str(), "ab")) {
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
  }
}

void StreamDump::append_ivf(const char* fourcc, uint32_t width, uint32_t height,
                            std::span<const uint8_t> frame) {
  if (path_.empty()) return;
  std::vector<uint8_t> bytes;
  const auto put = [&bytes](uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(value >> 8 * i));
  };
  if (ivf_frames_ == 0) {
    constexpr uint64_t kHeaderBytes = 32;
    for (const char letter : {'D', 'K', 'I', 'F'})
      bytes.push_back(static_cast<uint8_t>(letter));
    put(0, 2);
    put(kHeaderBytes, 2);
    bytes.insert(bytes.end(), fourcc, fourcc + 4);
    put(width, 2);
    put(height, 2);
    put(25, 4);  // ticks a second
    put(1, 4);
    put(0, 8);
  }
  put(frame.size(), 4);
  put(ivf_frames_++, 8);
  append(bytes);
  append(frame);
}

}  // namespace dxva::softva
