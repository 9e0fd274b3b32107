// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace dxva::softva {

// Where calls wait that a hung GPU would never answer (DXVASOFT_FAULT hang-from). Thread-safe.
class Hang {
 public:
  Hang() = default;
  Hang(const Hang&) = delete;
  Hang& operator=(const Hang&) = delete;
  // Nobody is left inside.
  ~Hang() { end(); }

  // Returns after `timeout_ns`, or when end() was called.
  void wait(uint64_t timeout_ns);
  // Lets all go who wait, now and later, and waits until they have left: vaTerminate while
  // another thread is in the driver would else pull the driver from under it.
  void end();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned waiters_ = 0;
  bool ended_ = false;
};

}  // namespace dxva::softva
