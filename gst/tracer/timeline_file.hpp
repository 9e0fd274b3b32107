// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>

#include "lib/base/output_file.hpp"
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

  // Can the file be written? Before the first write().
  [[nodiscard]] Status open();
  // What there is so far; replaces what was written before, but not by a picture of nothing.
  [[nodiscard]] Status write() const;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] timeline::Recorder& recorder() { return recorder_; }

 private:
  const std::string path_;
  std::optional<OutputFile> file_;  // after open()
  timeline::Recorder recorder_;
};

}  // namespace dxva::gst
