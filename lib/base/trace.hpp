// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Where the time of each frame goes, for somebody who wants to see it. An element opens a
// Recording for the frame that it works on; what is called meanwhile says with a Timed which
// part of that time was its own; the element then hands all of it to the listener. When nobody
// listens this costs two loads for each frame and a look at a thread-local pointer for each
// Timed: no clock is read and nothing is allocated.

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dxva::trace {

// Names are read by programs, as those of steps are.
enum class Stage : uint8_t {
  Decode,  // libavcodec and the driver's calls for the packet
  Wait,    // for a surface, for the device to finish, for a producer's fence
  Export,  // vaExportSurfaceHandle, and the proof of what came out
  Copy,    // dxvadec's, by the device or the CPU
  Import,  // into OpenGL, and the shader pass where one runs
  Upload,  // dxvaglupload's copy
  Fence,   // from the last use downstream until the GPU was done
};
inline constexpr size_t kStages = 7;
[[nodiscard]] const char* stage_name(Stage stage);  // "decode", …

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

struct Span {
  Stage stage;
  Time begin;
  Time end;
};

// Of one frame, in the order in which they ended; may lie inside each other. A frame has about
// five; what is more than fits is left out. Plain data.
class Spans {
 public:
  void add(const Span& span) {
    if (count_ < spans_.size()) spans_[count_++] = span;
  }
  [[nodiscard]] std::span<const Span> list() const { return {spans_.data(), count_}; }

 private:
  std::array<Span, 24> spans_;  // only the first count_ are ever read
  size_t count_ = 0;
};

// What one element did with one frame. Lent for the call; the names are literals.
struct Part {
  enum class Role : uint8_t { Decoder, Uploader };

  Role role = Role::Decoder;
  const void* element = nullptr;  // tells elements apart
  const char* element_name = "";
  // The frame's first memory, for as long as the frame is on its way: it ties a decoder's part
  // to an uploader's. 0: unknown.
  uint64_t memory = 0;
  int64_t surface = -1;  // VASurfaceID; -1: none
  int64_t pts_ns = -1;   // -1: none
  const char* step = "";
  const char* reason = "";  // why no better step; "none"
  bool damaged = false;     // the device or the stream says so
  std::span<const Span> spans;
};

// All are called from any thread.
struct Listener {
  void (*part)(const Part& part);
  // The GPU's fence behind the last use of what is in `memory`.
  void (*fence)(uint64_t memory, Time begin, Time end);
  // A surface is the decoder's again.
  void (*home)(uint64_t memory, Time at);
};

// Null: nobody listens.
[[nodiscard]] const Listener* listener();

// Where the listener is written down. Each plugin has its own copy of lib/ and so its own
// board, until it is told to look at another's; boards are never destroyed.
using Board = std::atomic<const Listener*>;
[[nodiscard]] Board& board();
void use_board(Board& shared);

// While one lives, the Timed of this thread go into `spans`; null: nowhere. Recordings nest.
class Recording {
 public:
  explicit Recording(Spans* spans);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  Spans* outer_;
};

// From here to the end of the block.
class Timed {
 public:
  explicit Timed(Stage stage);
  ~Timed();
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Spans* spans_;
  Stage stage_;
  Time begin_;
};

// A fence that was just made behind the last use of `memory`; it may outlive the listener.
class Fence {
 public:
  explicit Fence(uint64_t memory)
      : memory_(listener() ? memory : 0), begin_(memory_ ? Clock::now() : Time{}) {}
  void signalled() const {
    const Listener* to = memory_ ? listener() : nullptr;
    if (to) to->fence(memory_, begin_, Clock::now());
  }

 private:
  uint64_t memory_;
  Time begin_;
};

inline void tell_home(uint64_t memory) {
  if (const Listener* to = listener()) to->home(memory, Clock::now());
}

}  // namespace dxva::trace
