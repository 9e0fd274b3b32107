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
//
// Of a damaged frame nobody knows what it should be: libavcodec conceals what is missing
// differently with one thread and with several, and sometimes by what its memory held before. A
// frame that differs is then not called wrong, but counted as damaged: where dxvadec says so,
// or where libavcodec with another number of threads differs from itself.
class Reference {
 public:
  explicit Reference(std::string media) : media_(std::move(media)) {}

  // What is known about a frame beside its pixels.
  struct About {
    // The decoder under test has a single thread with a device; so has the reference then.
    bool one_thread = false;
    bool damaged = false;  // it says so (GST_BUFFER_FLAG_CORRUPTED)
  };
  // Reads the next reference frame and counts it as equal or not. A stream that changes between
  // 8 and 10 bits has one decoder for each, started when it is first needed.
  Status compare(const TightFrame& frame, About about);
  // Frames that the reference still had count as mismatches. Call once, after the last frame.
  void finish();

  [[nodiscard]] uint64_t compared() const { return compared_; }
  [[nodiscard]] uint64_t mismatches() const { return mismatches_; }
  // The first difference in words; empty when there was none.
  [[nodiscard]] const std::string& first_mismatch() const { return first_mismatch_; }
  // Frames that differ and are damaged, and the first of them in words.
  [[nodiscard]] uint64_t damaged() const { return damaged_; }
  [[nodiscard]] const std::string& first_damaged() const { return first_damaged_; }

 private:
  // Every frame of the file in one pixel format, of which some are passed over.
  struct Form {
    ReferenceStream stream;
    size_t next = 0;  // frame
    unsigned threads = 0;
  };

  [[nodiscard]] Status start(Form& form, const std::string& pixel_format, unsigned threads);
  // Puts the frame that is compared now into `bytes`; false: there is none.
  bool read(Form& form, const TightFrame& frame, std::vector<uint8_t>& bytes);
  [[nodiscard]] Result<bool> is_told_in_two_ways(const TightFrame& frame);
  void mismatch(const std::string& text);

  std::string media_;
  std::map<std::string, Form> forms_;   // by pixel format
  std::map<std::string, Form> others_;  // the same with another number of threads
  std::string last_format_;
  std::vector<uint64_t> samples_;  // of each frame so far
  std::vector<uint8_t> bytes_;
  uint64_t compared_ = 0;
  uint64_t mismatches_ = 0;
  std::string first_mismatch_;
  uint64_t damaged_ = 0;
  std::string first_damaged_;
};

}  // namespace dxva::play
