// SPDX-License-Identifier: LGPL-2.1-or-later

// The counters of tests/check/support as a library to preload: programs that are not ours
// (ffmpeg) are counted by it, and pipelines with gst-va, whose own preloaded library must come
// before it. At the process's end the counts are written to the file that DXVA_BENCH_COUNTS
// names.

#include "tests/benchmarks/outside_counts.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "tests/check/support/call_counts.hpp"
#include "tests/check/support/copy_counts.hpp"

namespace {

dxva::bench::OutsideCounts take() {
  const dxva::test::CopyCounts copies = dxva::test::copy_counts();
  const dxva::test::CallCounts calls = dxva::test::call_counts();
  return {.copied_bytes = copies.copied_bytes,
          .decoder_bytes = copies.decoder_bytes,
          .renderer_bytes = copies.renderer_bytes,
          .large_mallocs = copies.large_mallocs,
          .decoder_mallocs = copies.decoder_mallocs,
          .renderer_mallocs = copies.renderer_mallocs,
          .renderer_malloc_bytes = copies.renderer_malloc_bytes,
          .images = calls.images,
          .textures = calls.textures,
          .buffers = calls.buffers,
          .exports = calls.exports,
          .descriptors = calls.descriptors,
          .memory_maps = calls.memory_maps,
          .driver_starts = calls.driver_starts};
}

[[gnu::constructor]] void start() {
  dxva::test::start_counting_copies();
}

[[gnu::destructor]] void report() {
  const char* path = std::getenv("DXVA_BENCH_COUNTS");
  std::FILE* file = path ? std::fopen(path, "w") : nullptr;
  if (!file) return;
  const dxva::bench::OutsideCounts counts = take();
  const char* separator = "{";
  dxva::bench::for_each_count(counts, [&](const char* name, uint64_t count) {
    std::fprintf(file, "%s\"%s\": %" PRIu64, separator, name, count);
    separator = ", ";
  });
  std::fprintf(file, "}\n");
  std::fclose(file);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void dxva_bench_take_counts(
    dxva::bench::OutsideCounts* out) {
  *out = take();
}
