// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/benchmarks/window.hpp"

#include <dlfcn.h>

#include <chrono>

namespace dxva::bench {

Moment Moment::now() {
  static const auto take =
      reinterpret_cast<TakeOutsideCounts>(::dlsym(RTLD_DEFAULT, kTakeOutsideCounts));
  Moment moment;
  if (take) take(&moment.counts.emplace());
  moment.threads = thread_times_ns();
  moment.wall = wall_ns();
  moment.cpu = process_cpu_ns();
  return moment;
}

void Window::first_frame() {
  const std::lock_guard lock(mutex_);
  if (first_.wall == 0) first_ = Moment::now();
}

void Window::warmed_up() {
  std::unique_lock lock(mutex_);
  if (++warm_ == streams_) {
    begin_ = Moment::now();
    changed_.notify_all();
  }
  changed_.wait(lock, [this] { return left_ || warm_ == streams_; });
}

void Window::finished() {
  std::unique_lock lock(mutex_);
  if (++finished_ == streams_) {
    end_ = Moment::now();
    changed_.notify_all();
  }
  changed_.wait(lock, [this] { return left_; });
}

bool Window::wait_until_over(unsigned timeout_ms) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                           [this] { return finished_ == streams_; });
}

void Window::leave() {
  const std::lock_guard lock(mutex_);
  left_ = true;
  changed_.notify_all();
}

}  // namespace dxva::bench
