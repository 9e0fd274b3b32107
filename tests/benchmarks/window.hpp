// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "tests/benchmarks/cpu_clock.hpp"
#include "tests/benchmarks/outside_counts.hpp"

namespace dxva::bench {

struct Moment {
  uint64_t wall = 0;  // nanoseconds, as below
  uint64_t cpu = 0;
  ThreadTimes threads;
  std::optional<OutsideCounts> counts;  // where the counters are preloaded

  [[nodiscard]] static Moment now();
};

// The part of a run that is measured. It begins when every stream has had its warm-up, and ends
// when every stream has had its last frame; who is early waits, so that all of the work between
// the two moments, and nothing else, is that of the frames in it. Thread-safe: streams call it
// on threads of their own.
class Window {
 public:
  explicit Window(unsigned streams) : streams_(streams), begin_(Moment::now()) {}

  void first_frame();  // of a stream; the earliest counts
  void warmed_up();    // waits for the others
  void finished();     // waits until leave() is called

  // False when it is not over after that time.
  [[nodiscard]] bool wait_until_over(unsigned timeout_ms);
  void leave();

  // Once it is over.
  [[nodiscard]] const Moment& begin() const { return begin_; }
  [[nodiscard]] const Moment& end() const { return end_; }
  [[nodiscard]] const Moment& first() const { return first_; }

 private:
  const unsigned streams_;

  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned warm_ = 0;
  unsigned finished_ = 0;
  bool left_ = false;
  Moment begin_;
  Moment end_;
  Moment first_;
};

}  // namespace dxva::bench
