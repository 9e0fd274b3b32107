// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace dxva::bench {

// All in nanoseconds. CPU times are user and system.
[[nodiscard]] uint64_t wall_ns();  // CLOCK_MONOTONIC
[[nodiscard]] uint64_t process_cpu_ns();
[[nodiscard]] uint64_t thread_cpu_ns();  // of the caller

// CPU time of the process's threads by their names, which several may share: "llvmpipe-0" and
// its like count as "llvmpipe"; the first one is "main". Threads that have ended are in
// nobody's figure but the process's.
using ThreadTimes = std::map<std::string, uint64_t>;
[[nodiscard]] ThreadTimes thread_times_ns();

}  // namespace dxva::bench
