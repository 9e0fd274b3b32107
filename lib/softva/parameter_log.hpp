// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <memory>
#include <string>

#include "lib/base/result.hpp"
#include "lib/softva/frame_decoder.hpp"

namespace dxva::softva {

// DXVASOFT_PARAMETERS: what a client says of its pictures, as text that can be read, and
// compared with what another client says of the same stream. README.md has the format. A
// surface is called by the number of the picture that was last decoded into it, because ids are
// each client's own. Without a file it does nothing. Thread-safe: the lines of a picture stay
// together.
class ParameterLog {
 public:
  ParameterLog();
  ParameterLog(ParameterLog&&) noexcept;
  ParameterLog& operator=(ParameterLog&&) noexcept;
  ~ParameterLog();

  // Appends. BadInput: the file cannot be opened.
  [[nodiscard]] static Result<ParameterLog> open(const std::string& file);

  // To be called in the order in which pictures are decoded, before that may fail.
  void picture(VAProfile profile, const Picture& picture) const;

 private:
  struct State;
  std::unique_ptr<State> state_;  // null: no file
};

}  // namespace dxva::softva
