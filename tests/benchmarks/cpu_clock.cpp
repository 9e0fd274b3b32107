// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/benchmarks/cpu_clock.hpp"

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>

namespace dxva::bench {

namespace {

uint64_t read_clock(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(time.tv_nsec);
}

// What pthread_getcpuclockid gives, for threads of which only the number is known: the
// scheduler's clock of one thread. /proc has the same figure, as old as the thread's last turn.
clockid_t clock_of(int thread) {
  constexpr unsigned kScheduler = 2;
  constexpr unsigned kOneThread = 4;
  return static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | kScheduler |
                                kOneThread);
}

std::string name_of(const char* thread) {
  if (std::atoi(thread) == ::getpid()) return "main";
  std::string name;
  std::getline(std::ifstream(std::string("/proc/self/task/") + thread + "/comm"), name);
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
  if (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

}  // namespace

uint64_t wall_ns() {
  return read_clock(CLOCK_MONOTONIC);
}

uint64_t process_cpu_ns() {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t thread_cpu_ns() {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

ThreadTimes thread_times_ns() {
  ThreadTimes times;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/task"), ::closedir);
  if (!folder) return times;
  while (const dirent* entry = ::readdir(folder.get()))
    if (entry->d_name[0] != '.')
      times[name_of(entry->d_name)] += read_clock(clock_of(std::atoi(entry->d_name)));
  return times;
}

}  // namespace dxva::bench
