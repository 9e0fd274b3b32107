// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "lib/base/result.hpp"

namespace dxva::play {

// The command line as the user meant it. Empty text means "not given": the elements have their
// own defaults, and some of those come from the environment.
struct Options {
  std::string media;
  std::string import;
  std::string device;
  std::string zero_copy;
  std::string layout;
  std::string framemd5;  // "-" is stdout
  std::string sheet;     // "none" writes none
  std::string timeline;
  bool check = false;
  bool json = false;
  bool window = false;
  bool hold = false;     // keep every frame to the end, as a sink does that gives none back
  bool version = false;  // nothing else then
};

// BadInput: the command line is wrong, the text says where. `--help` prints and ends the
// program.
[[nodiscard]] Result<Options> parse_options(int argc, char** argv);

}  // namespace dxva::play
