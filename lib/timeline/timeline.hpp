// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What became of the frames of a run, put together from what each element told
// (lib/base/trace.hpp). A stream is what one decoder gave out, or what came into an uploader
// from a producer that tells nothing. Plain data.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/trace.hpp"

namespace dxva::timeline {

struct Frame {
  uint64_t index = 0;  // in its stream, from 0, in the order in which frames left
  int64_t surface = -1;
  int64_t pts_ns = -1;
  uint64_t memory = 0;
  // Names are literals of the plugins, which are never unloaded.
  const char* left_as = nullptr;  // as the decoder says; null: no decoder told
  const char* left_for = "none";
  const char* went_up = nullptr;  // as the uploader says; null: none told (yet)
  const char* up_for = "none";
  bool damaged = false;
  std::vector<trace::Span> spans;  // in the order in which they ended
  std::optional<trace::Time> home;

  // The worse of both: what a decoder copied can be imported without a second copy, and stays
  // copied. `exported` when no uploader told.
  [[nodiscard]] const char* step() const;
  // Why not a better step; "none".
  [[nodiscard]] const char* reason() const;
};

// 0 is the best.
[[nodiscard]] int step_rank(const char* step);

struct Stream {
  std::string name;          // of the element whose it is
  std::deque<Frame> frames;  // the last ones, in their order
  uint64_t frames_told = 0;  // all there ever were
  // Step and reason of those that are not kept any more.
  std::map<std::pair<std::string, std::string>, uint64_t> gone;
};

using Streams = std::vector<Stream>;

}  // namespace dxva::timeline
