// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/stream_dump.hpp"

#include <cstdio>
#include <cstdlib>

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

}  // namespace dxva::softva
