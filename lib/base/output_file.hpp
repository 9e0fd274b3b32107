// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/base/unique_fd.hpp"

namespace dxva {

// A file that a person named for a report or a picture. Names are mistyped, and then belong to
// a video; so what was there stays whole until all of the new is on the disk, and is replaced
// only by its like. What is no regular file (a pipe, a device) is written to as it is, and
// symlinks are followed. Thread rules: reentrant.
class OutputFile {
 public:
  enum class Kind { Svg, Png, Html, Md5Lines };

  // BadInput: `path` is the file `input` that is read, or has something else in it than `kind`.
  // Touches nothing. An empty `input` is no file.
  [[nodiscard]] static Status check(const std::string& path, Kind kind,
                                    const std::string& input = {});
  // The same, and can it be written? Opening a FIFO waits for its reader.
  [[nodiscard]] static Result<OutputFile> open(const std::string& path, Kind kind,
                                               const std::string& input = {});

  // All of the file at once. After an error the file has what it had.
  [[nodiscard]] Status write(std::string_view bytes) const;
  // Is there something that write() would replace?
  [[nodiscard]] bool would_replace() const;

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] Status write_in_place(std::string_view bytes) const;

  std::string path_;    // as it was named
  std::string target_;  // behind the symlinks
  UniqueFd opened_;     // of what is no regular file
};

// stdio keeps what it cannot write to itself until somebody asks. `name` is for the error.
[[nodiscard]] Status flush(FILE* file, const std::string& name);

}  // namespace dxva
