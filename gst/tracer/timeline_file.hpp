// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "lib/timeline/recorder.hpp"

namespace dxva::gst {

// Listens to every element of ours in the process, from its making to its end, and writes what
// it heard into a file. Several may listen at once. Thread-safe.
class TimelineFile {
 public:
  // `frames` of each stream are drawn, the last ones.
  TimelineFile(std::string path, size_t frames);
  ~TimelineFile();
  TimelineFile(const TimelineFile&) = delete;
  TimelineFile& operator=(const TimelineFile&) = delete;

  // Could the file be written? It is left there, empty, as a sign that it will be.
  [[nodiscard]] Status check() const;
  // What there is so far; replaces what was written before.
  [[nodiscard]] Status write() const;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] timeline::Recorder& recorder() { return recorder_; }

 private:
  const std::string path_;
  timeline::Recorder recorder_;
};

}  // namespace dxva::gst
