// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gio/gio.h>

#include <cstdint>
#include <string>

#include "tools/play/readback.hpp"

namespace dxva::play {

// What libavcodec's software decoder makes of the same file, frame by frame. It runs in a
// process of its own (the program ffmpeg), so that nothing that it shares with the decoder
// under test, not even a crash, can make both agree. Thread rules: reentrant.
class Reference {
 public:
  explicit Reference(std::string media) : media_(std::move(media)) {}
  ~Reference();
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  // Reads the next reference frame and counts it as equal or not. Starts the decoder at the
  // first call, in that frame's pixel format.
  // `one_thread`: libavcodec conceals damage differently with frame threads, so the reference
  // has as many as the decoder under test; that one has a single thread with a device.
  Status compare(const TightFrame& frame, bool one_thread);
  // Frames that the reference still had count as mismatches. Call once, after the last frame.
  void finish();

  [[nodiscard]] uint64_t compared() const { return compared_; }
  [[nodiscard]] uint64_t mismatches() const { return mismatches_; }
  // The first difference in words; empty when there was none.
  [[nodiscard]] const std::string& first_mismatch() const { return first_mismatch_; }

 private:
  Status start(const std::string& pixel_format, bool one_thread);
  size_t read(uint8_t* into, size_t bytes);
  void mismatch(const std::string& text);

  std::string media_;
  GSubprocess* process_ = nullptr;
  std::string pixel_format_;
  std::vector<uint8_t> bytes_;
  uint64_t compared_ = 0;
  uint64_t mismatches_ = 0;
  std::string first_mismatch_;
};

}  // namespace dxva::play
