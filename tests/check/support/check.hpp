// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What every test program includes. Tests are GST_START_TEST functions whose name is the
// behaviour;
// `./dev test` reads check's own summary line, and the "# SKIP" lines printed here.

#include <gst/check/gstcheck.h>
#undef fail  // a macro of check's that C++ headers included later have as a function

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
