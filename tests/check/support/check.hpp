// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What every test program includes. Tests are GST_START_TEST functions whose name is the
// behaviour;
// `./dev test` reads check's own summary line, and the "# SKIP" lines printed here.

#include <gst/check/gstcheck.h>
#undef fail  // a macro of check's that C++ headers included later have as a function

#include <cstddef>
#include <cstdio>

// Leaves the test without a verdict: the machine lacks what it needs. Never use it for a thing
// the rig must have.
#define DXVA_SKIP(...)                    \
  do {                                    \
    std::printf("# SKIP %s: ", __func__); \
    std::printf(__VA_ARGS__);             \
    std::printf("\n");                    \
    std::fflush(stdout);                  \
    return;                               \
  } while (0)

#ifdef __SANITIZE_ADDRESS__
// GLib starts with a table of 2048 names and gives it away, for good, when it needs a larger
// one. LeakSanitizer reports those 16384 bytes in every program that loads some plugins, with a
// stack that ends in g_malloc: a suppression would hide our own leaks as well. So what GLib
// allocates of that size before main() is remembered here, and with that it is reachable.
inline volatile const void* glib_first_names = nullptr;
inline bool main_is_near = false;

extern "C" {
// sanitizer/allocator_interface.h; called at every malloc.
[[gnu::used, gnu::visibility("default")]] inline void __sanitizer_malloc_hook(
    const volatile void* memory, std::size_t size) {
  if (!main_is_near && size == 2048 * sizeof(char*)) glib_first_names = memory;
}
}
[[gnu::used, gnu::constructor]] inline void constructors_of_libraries_are_done() {
  main_is_near = true;
}
#endif
