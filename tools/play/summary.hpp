// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/path.hpp"
#include "lib/base/result.hpp"

namespace dxva::play {

// What happened to a stream, for people and for programs.
struct Summary {
  std::string media;
  uint64_t frames = 0;
  std::array<uint64_t, kStepCount> steps{};
  std::map<std::string, uint64_t> reasons;  // as the elements name them
  std::vector<std::string> path_changes;
  uint64_t descriptors = 0;  // open when the stream had ended
  std::string device;
  std::string device_error;  // why there is none; empty: there is one
  std::string device_advice;
  std::string codec;
  std::string profile;
  std::string renderer;
  // Only with --check.
  std::optional<uint64_t> mismatches;
  std::string first_mismatch;
  uint64_t damaged = 0;  // and therefore not compared
  std::string first_damaged;
  std::string sheet;     // empty: none written
  std::string timeline;  // the same
  // An output that could not be written; all the rest of the summary is true nevertheless.
  std::optional<Error> lost_output;

  // Takes the ladder apart from the `stats` of both elements. A frame's step is the uploader's,
  // except where the decoder knows better: the uploader cannot tell a frame that was decoded in
  // software from one that the decoder copied.
  void take_stats(const GstStructure* decoder, const GstStructure* uploader);

  [[nodiscard]] uint64_t copied() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string json() const;
};

}  // namespace dxva::play
