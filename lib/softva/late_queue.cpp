// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/late_queue.hpp"

#include <utility>

namespace dxva::softva {

LateQueue::LateQueue(std::chrono::milliseconds delay)
    : delay_(delay), worker_([this] { work(); }) {}

LateQueue::~LateQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  worker_.join();
}

void LateQueue::post(std::function<void()> job) {
  const auto due = std::chrono::steady_clock::now() + delay_;
  const std::lock_guard lock(mutex_);
  entries_.push_back({.due = due, .job = std::move(job)});
  changed_.notify_one();
}

void LateQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !entries_.empty(); });
    if (entries_.empty()) return;
    changed_.wait_until(lock, entries_.front().due, [this] { return stopping_; });
    {
      const Entry entry = std::move(entries_.front());
      entries_.pop_front();
      lock.unlock();
      entry.job();
    }  // what the job held goes before the lock is taken again
    lock.lock();
  }
}

}  // namespace dxva::softva
