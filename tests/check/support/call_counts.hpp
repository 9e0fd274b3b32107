// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dxva::test {

// Calls that must not grow with the number of pictures, as the process made them, whoever of
// it: us, GStreamer, GstGL, drivers. Linking count_calls.cpp into a test program puts it
// between all of them and the libraries, like LD_PRELOAD would; the program must be linked with
// export_dynamic.
struct CallCounts {
  uint64_t images = 0;       // eglCreateImage, eglCreateImageKHR
  uint64_t textures = 0;     // names from glGenTextures and glCreateTextures
  uint64_t buffers = 0;      // names from glGenBuffers and glCreateBuffers
  uint64_t exports = 0;      // vaExportSurfaceHandle
  uint64_t descriptors = 0;  // open, openat, dup…, fcntl(F_DUPFD…), memfd_create: successes
  uint64_t driver_starts = 0;   // vaInitialize
  uint64_t surfaces_made = 0;   // by vaCreateSurfaces
  uint64_t surfaces_freed = 0;  // by vaDestroySurfaces
  uint64_t pixel_reads = 0;     // vaDeriveImage, vaGetImage, vaMapBuffer: the CPU wants pixels
  uint64_t memory_maps = 0;     // mmap of a descriptor
};
[[nodiscard]] CallCounts call_counts();

// Memory that pixels are in, as it is mapped and unmapped.
enum class PixelMemory {
  Picture,  // images of surfaces (vaMapBuffer), and shared memory of descriptors (mmap)
  Slot,     // buffers of OpenGL that stay mapped (glMapBufferRange)
};
struct PixelMapping {
  PixelMemory kind = PixelMemory::Picture;
  void* data = nullptr;
  size_t size_bytes = 0;  // when it begins
  bool begins = true;     // else it ends, right after this
  const void* caller = nullptr;
};
// Who is told of each; null: nobody. On the thread that maps.
void watch_mappings(void (*watcher)(const PixelMapping& mapping));

// What /proc/self/fd shows, as "3 -> /dev/null", in order of numbers.
[[nodiscard]] std::vector<std::string> open_descriptors();

}  // namespace dxva::test
