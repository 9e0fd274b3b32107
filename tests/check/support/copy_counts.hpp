// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string_view>

namespace dxva::test {

// What pictures cost in the CPU's memory, counted from outside: linking count_copies.cpp into a
// program stands in for libc's functions. What drivers do inside (libavcodec and softva decode,
// Mesa draws) is counted apart, by looking at who called. The program must be linked with
// export_dynamic.
struct CopyCounts {
  uint64_t copied_bytes = 0;  // memcpy, memmove and their checked forms, of 64 bytes and more
  uint64_t decoder_bytes = 0;
  uint64_t renderer_bytes = 0;
  uint64_t large_mallocs = 0;  // malloc, calloc, realloc, … of more than 4 KiB
  uint64_t decoder_mallocs = 0;
  uint64_t renderer_mallocs = 0;
  uint64_t renderer_malloc_bytes = 0;
};
[[nodiscard]] CopyCounts copy_counts();

// The file that the code at this address comes from, without its folder; empty: none, it was
// made at run time.
[[nodiscard]] std::string_view library_of(const void* address);
// Whether this is code of those drivers. Signal-safe as far as dladdr() is.
[[nodiscard]] bool is_driver_code(const void* address);
// Who called the copy that this thread is in the middle of; null: none.
[[nodiscard]] const void* copying_for();

// From here on; before, a program starts up, and who called cannot always be told.
void start_counting_copies();

}  // namespace dxva::test
