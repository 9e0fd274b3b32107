// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A VA driver that says what a test wants it to say: words in the variable FAKE_VA, separated
// by commas, read at every call. It calls itself dxvasoft so that the library takes it for the
// bundled driver. It decodes nothing; all its surfaces are one: 64x48 NV12
// with a known pattern.
//
//   init-fails           vaInitialize fails                    noisy      talks while starting
//   huge-count           claims 100000 profiles                no-decoder only encodes
//   sync-fails           vaSyncSurface fails                   sync-damaged   …says: bad stream
//   derive-fails         vaDeriveImage is not implemented      get-fails  vaGetImage fails
//   derive-p010          derived image is P010                 map-fails  vaMapBuffer fails
//   derive-short         derived image is larger than its buffer
//   images-short         so are all others
//   derive-other         derived image has rows from elsewhere
//   flat                 the picture is one colour, in all ways
//   export-unimplemented, export-fails, export-pipe (descriptor of no buffer)
//   rendering            vaQuerySurfaceStatus: not ready; else it is not implemented
//   export-moved         each export shows another buffer; else there is one

#include <cstdint>

namespace fakeva {

inline constexpr uint32_t kWidth = 64;
inline constexpr uint32_t kHeight = 48;
inline constexpr uint32_t kPitch = 80;  // of images and of the exported memory
inline constexpr uint32_t kSize = kPitch * kHeight * 3 / 2;

// Byte at `offset` of the surface's memory.
inline uint8_t pattern(uint32_t offset) {
  return static_cast<uint8_t>(offset * 7 + offset / 251);
}

struct Counts {
  int starts, stops;
  int live;      // started and not yet stopped
  int overlaps;  // starts while another was live
  int live_images, live_maps, live_configs;
  int derived, copied, exported, synced;
};

}  // namespace fakeva

// Found with dlsym: libva loads drivers into the global scope and leaves them there.
extern "C" fakeva::Counts fake_va_counts;
