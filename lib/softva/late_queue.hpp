// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace dxva::softva {

// Runs jobs in the order in which they came, each `delay` after it came, on a thread of its
// own: the GPU that is still working when vaEndPicture has returned (DXVASOFT_LATE_MS).
// Thread-safe.
class LateQueue {
 public:
  explicit LateQueue(std::chrono::milliseconds delay);
  LateQueue(const LateQueue&) = delete;
  LateQueue& operator=(const LateQueue&) = delete;
  // What is left is done at once: nobody waits for a driver that goes away.
  ~LateQueue();

  void post(std::function<void()> job);

 private:
  struct Entry {
    std::chrono::steady_clock::time_point due;
    std::function<void()> job;
  };
  void work();

  const std::chrono::milliseconds delay_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  bool stopping_ = false;

  std::thread worker_;  // last: it uses all of the above
};

}  // namespace dxva::softva
