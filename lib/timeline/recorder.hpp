// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>
#include <mutex>
#include <unordered_map>

#include "lib/timeline/timeline.hpp"

namespace dxva::timeline {

// Collects what elements tell about their frames. Of each stream the last `frames_kept` frames
// are kept whole (about 400 bytes each), of those before only how many took which step, so a
// run may be as long as it likes. Thread-safe.
class Recorder {
 public:
  explicit Recorder(size_t frames_kept) : frames_kept_(frames_kept) {}

  void part(const trace::Part& part);
  void fence(uint64_t memory, trace::Time begin, trace::Time end);
  void home(uint64_t memory, trace::Time at);

  // A copy of all of it, as it is now.
  [[nodiscard]] Streams streams() const;

 private:
  using Element = std::pair<const void*, std::string>;
  struct Place {
    size_t stream = 0;
    uint64_t index = 0;
  };

  // Null: not kept.
  [[nodiscard]] Frame* find(uint64_t memory);
  Frame& add(const trace::Part& part);

  const size_t frames_kept_;

  mutable std::mutex lock_;
  Streams streams_;
  std::map<Element, size_t> stream_of_;
  std::unordered_map<uint64_t, Place> last_in_memory_;  // of kept frames
};

}  // namespace dxva::timeline
