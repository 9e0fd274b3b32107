// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace dxva::test {

// What pictures cost in the CPU's memory, counted from outside: linking count_copies.cpp into a
// program stands in for libc's functions. What drivers do inside is theirs (libavcodec, softva,
// Mesa: the ones that decode and draw) and is left out, by looking at who called. The program
// must be linked with export_dynamic.
struct CopyCounts {
  uint64_t copied_bytes = 0;   // memcpy, memmove and their checked forms, of 64 bytes and more
  uint64_t driver_bytes = 0;   // … by drivers
  uint64_t large_mallocs = 0;  // malloc, calloc, realloc, … of more than 4 KiB
};
[[nodiscard]] CopyCounts copy_counts();

// From here on; before, a program starts up, and who called cannot always be told.
void start_counting_copies();

}  // namespace dxva::test
