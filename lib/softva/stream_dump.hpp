// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace dxva::softva {

// Appends to the file named by DXVASOFT_DUMP when the decoder was created, if it was set. In it
// is what libavcodec got: playing it answers "is the rebuilt stream wrong, or what became of
// its pixels?"
class StreamDump {
 public:
  [[nodiscard]] static StreamDump from_environment();
  void append(std::span<const uint8_t> bytes) const;

 private:
  std::string path_;  // empty: nowhere
};

}  // namespace dxva::softva
