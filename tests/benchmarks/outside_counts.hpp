// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace dxva::bench {

// What libbench_counts.so, preloaded, has seen the process ask its libraries for. It is found
// by name, so that a program runs with and without it.
struct OutsideCounts {
  uint64_t copied_bytes = 0;    // by memcpy and its like, whoever called but drivers
  uint64_t decoder_bytes = 0;   // … the driver that decodes, libavcodec included
  uint64_t renderer_bytes = 0;  // … the driver that draws
  uint64_t large_mallocs = 0;   // of more than 4 KiB, for neither driver
  uint64_t decoder_mallocs = 0;
  uint64_t renderer_mallocs = 0;
  uint64_t renderer_malloc_bytes = 0;
  uint64_t images = 0;
  uint64_t textures = 0;
  uint64_t buffers = 0;
  uint64_t exports = 0;
  uint64_t descriptors = 0;
  uint64_t memory_maps = 0;
  uint64_t driver_starts = 0;
};

// Each count under the name that it has in JSON.
template <typename Counts, typename Visit>
void for_each_count(Counts& counts, Visit visit) {
  visit("copied_bytes", counts.copied_bytes);
  visit("decoder_bytes", counts.decoder_bytes);
  visit("renderer_bytes", counts.renderer_bytes);
  visit("large_mallocs", counts.large_mallocs);
  visit("decoder_mallocs", counts.decoder_mallocs);
  visit("renderer_mallocs", counts.renderer_mallocs);
  visit("renderer_malloc_bytes", counts.renderer_malloc_bytes);
  visit("images", counts.images);
  visit("textures", counts.textures);
  visit("buffers", counts.buffers);
  visit("exports", counts.exports);
  visit("descriptors", counts.descriptors);
  visit("memory_maps", counts.memory_maps);
  visit("driver_starts", counts.driver_starts);
}

using TakeOutsideCounts = void (*)(OutsideCounts*);
inline constexpr const char* kTakeOutsideCounts = "dxva_bench_take_counts";

}  // namespace dxva::bench
