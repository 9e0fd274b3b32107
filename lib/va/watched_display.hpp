// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>
#include <memory>

namespace dxva::va {

// A second handle of an initialised VADisplay, to be given to one caller whose failures are to
// be seen, because it keeps them to itself: libavcodec goes on after a slice of H.264 for which
// the driver made no buffer, and the picture lacks it (h264dec.c, FFmpeg 5.1 and 7.1); of JPEG
// it calls the packet invalid (7.1). Other codecs return the failure, of which this says the
// same. Its messages are a callback of the whole process, and the switch that would make it
// stop (AV_EF_EXPLODE) also makes it drop pictures of every damaged stream.
//
// It also ends pictures of H.264 that it never started, because the references of their first
// slice are missing, with a surface number that it never set: no such number is a good answer,
// and surface 0 is somebody's. They do not get to the driver, and succeed.
//
// Both handles are the same display for libva and for the driver: objects made through one are
// used through the other. The other one outlives this, and so do all calls through this.
// Thread-safe.
class WatchedDisplay {
 public:
  explicit WatchedDisplay(VADisplay of);
  ~WatchedDisplay();
  WatchedDisplay(const WatchedDisplay&) = delete;
  WatchedDisplay& operator=(const WatchedDisplay&) = delete;

  [[nodiscard]] VADisplay get() const;
  // Buffers that were asked for through this handle and not made, since the last call.
  uint32_t take_refused_buffers();
  // Pictures that were begun without parameters, and of which the driver heard nothing.
  uint32_t take_unstarted_pictures();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace dxva::va
