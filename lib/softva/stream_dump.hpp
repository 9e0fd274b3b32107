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
  // One frame, of a codec whose frames do not tell where they end. `fourcc` names it in the
  // file's header; the size there is the first frame's, in pixels.
  void append_ivf(const char* fourcc, uint32_t width, uint32_t height,
                  std::span<const uint8_t> frame);

 private:
  std::string path_;  // empty: nowhere
  uint64_t ivf_frames_ = 0;
};

}  // namespace dxva::softva
