// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <memory>
#include <optional>
#include <string>

#include "lib/base/result.hpp"
#include "lib/base/unique_fd.hpp"
#include "lib/va/headless_display.hpp"

namespace dxva::va {

// A started VA driver; the destructor stops it. Starting is quiet: whatever libva and the
// driver have to say goes to our log, because a driver that is tried and not used is no news
// for the user's terminal. Reentrant.
class Driver {
 public:
  // On a descriptor of our own: GL's, or the application's, has its own life and its own
  // contexts.
  [[nodiscard]] static Result<Driver> start_on_node(const std::string& render_node);
  // Without any node, e.g. "dxvasoft".
  [[nodiscard]] static Result<Driver> start_headless(const char* driver_name);

  [[nodiscard]] VADisplay get() const { return headless_ ? headless_->get() : display_.get(); }

 private:
  struct Terminate {
    void operator()(void* display) const { vaTerminate(display); }
  };

  Driver() = default;

  UniqueFd fd_;  // first: the driver uses it until it is stopped
  std::unique_ptr<void, Terminate> display_;
  std::optional<HeadlessDisplay> headless_;
};

}  // namespace dxva::va
