// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

namespace dxva::va {

// Keeps a forked child's hands off a display of its parent. Both processes hold one open file:
// what the child told the driver (a surface destroyed, vaTerminate) would happen to the parent.
// So in a child the display is no longer valid to libva: every call on it returns
// VA_STATUS_ERROR_INVALID_DISPLAY without reaching the driver, whoever calls, libavcodec
// included. Thread-safe; in the child there are no locks to wait for.
class ForkGuard {
 public:
  // From here to the destructor. `display` is one that libva or HeadlessDisplay made.
  explicit ForkGuard(VADisplay display);
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  struct Slot;

 private:
  const VADisplay display_;
  Slot* const slot_;
};

}  // namespace dxva::va
