// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/hang.hpp"

#include <chrono>

namespace dxva::softva {

void Hang::wait(uint64_t timeout_ns) {
  // Longer than any wait means anything; the sum with the clock must not wrap.
  constexpr uint64_t kForever = uint64_t{1} << 62;
  std::unique_lock lock(mutex_);
  ++waiters_;
  const auto ended = [this] { return ended_; };
  if (timeout_ns >= kForever)
    changed_.wait(lock, ended);
  else
    changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), ended);
  if (--waiters_ == 0) changed_.notify_all();
}

void Hang::end() {
  std::unique_lock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return waiters_ == 0; });
}

}  // namespace dxva::softva
