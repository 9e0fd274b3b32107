// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/play/readback.hpp"
#include "tools/play/reference_stream.hpp"

namespace dxva::play {

// What libavcodec's software decoder makes of the same file, frame by frame. It runs in a
// process of its own (the program ffmpeg), so that nothing that it shares with the decoder
// under test, not even a crash, can make both agree. Thread rules: reentrant.
class Reference {
 public:
  explicit Reference(std::string media) : media_(std::move(media)) {}

  // Reads the next reference frame and counts it as equal or not. A stream that changes between
  // 8 and 10 bits has one decoder for each, started when it is first needed.
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
  // Every frame of the file in one pixel format, of which some are passed over.
  struct Form {
    ReferenceStream stream;
    size_t next = 0;  // frame
  };

  // Puts the frame that is compared now into bytes_; false: there is none.
  bool read(Form& form, const TightFrame& frame);
  void mismatch(const std::string& text);

  std::string media_;
  std::map<std::string, Form> forms_;  // by pixel format
  std::string last_format_;
  std::vector<uint64_t> samples_;  // of each frame so far
  std::vector<uint8_t> bytes_;
  uint64_t compared_ = 0;
  uint64_t mismatches_ = 0;
  std::string first_mismatch_;
};

}  // namespace dxva::play
