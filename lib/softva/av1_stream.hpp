// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/softva/av1_headers.hpp"
#include "lib/softva/frame_decoder.hpp"

namespace dxva::softva {

// One frame of an AV1 stream as a decoder reads it: a temporal unit.
struct Av1Unit {
  // Frames decoded before that must be decoded again, to be stored this time.
  std::vector<std::vector<uint8_t>> replays;
  std::vector<uint8_t> bytes;
};

// Turns what a VA client renders back into a stream. VA does not say which of eight slots a
// frame is stored in; it says afterwards which surfaces may be referred to. So the slots here
// are our own, found by surface, and a frame goes into one whose surface is no longer named.
// Where all eight still are, it is decoded without being stored; if the next picture can refer
// to it, there is a free slot by then, and it is decoded again into that. Remembers what the
// decoder has. Thread rules: reentrant.
class Av1Stream {
 public:
  // BadInput: the buffers contradict themselves, or hold what AV1 cannot say.
  [[nodiscard]] Result<Av1Unit> rebuild(const Picture& picture);

 private:
  struct Slot {
    VASurfaceID surface = VA_INVALID_SURFACE;
    uint8_t order_hint = 0;
    Av1Motion motion = default_av1_motion();
  };
  using Slots = std::array<Slot, kAv1Slots>;
  // A frame's OBU and where its refresh_frame_flags are.
  struct Job {
    Slot slot;
    std::vector<uint8_t> frame;
    size_t refresh_bit = 0;
  };

  [[nodiscard]] static std::optional<size_t> find(const Slots& slots, VASurfaceID surface);
  [[nodiscard]] static std::optional<size_t> find_free(const Slots& slots,
                                                       std::span<const VASurfaceID> live);
  [[nodiscard]] static Result<Av1References> find_references(const Av1Parameters& parameters,
                                                             const Slots& slots);

  std::vector<uint8_t> sequence_;
  Slots slots_;
  std::vector<Job> unstored_;
};

}  // namespace dxva::softva
