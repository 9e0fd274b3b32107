// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/choices.hpp"

namespace dxva::gl {

// How a picture in the CPU's memory becomes a texture.
enum class UploadWay : uint8_t {
  Direct,       // glTexSubImage2D from where the picture is
  Ring,         // copied into an upload slot, uploaded from there
  RingInPlace,  // its producer wrote it into the slot
};
inline constexpr std::array kUploadWays = {UploadWay::Direct, UploadWay::Ring,
                                           UploadWay::RingInPlace};
// "direct", "ring", "ring-in-place": ABI, in `stats`.
[[nodiscard]] const char* upload_way_name(UploadWay way);

// Which way is the fastest is a fact of the driver and not known from its name: a slot that is
// written in place takes 0.2 to 0.4 of the direct way's time on an NVIDIA GPU, and the same
// time on llvmpipe; with a copy into the slot it loses on both. So the first pictures go each
// way in turn, and the winner stays, for the process: for this renderer and pictures of about
// this size (within a factor of four: what wins depends on whether a picture fits into caches).
// A picture has one other way at most beside Direct, which needs no memory of GL's: so it is
// asked whether that one is taken, and it must be a fifth faster. Thread-safe.
class UploadChoice {
 public:
  // Each slot of a ring is fresh memory once, and two turns more.
  static constexpr Fastest::Rules kRules{
      .ways = kUploadWays.size(), .turns = 7, .worthwhile_percent = 80};

  // `best_possible`: what the context can do at all. Nothing but Direct, that and Ring, or
  // everything.
  UploadChoice(const std::string& renderer, UploadWay best_possible, uint64_t picture_bytes);

  // Whether this OpenGL has `way`, as far as is known.
  [[nodiscard]] bool can(UploadWay way) const;
  // Whether `way` is to be taken for a picture that could go so.
  [[nodiscard]] bool takes(UploadWay way) const;
  // Whether a time of a picture that went `way` is still wanted, and may cost a glFinish.
  [[nodiscard]] bool wants(UploadWay way) const;
  void measured(UploadWay way, std::chrono::nanoseconds time) const;
  // OpenGL refused it. Direct stays.
  void rule_out(UploadWay way, const std::string& why) const;
  // False while it is open.
  [[nodiscard]] bool is_settled_against(UploadWay way) const;
  [[nodiscard]] std::vector<NamedStanding> standings() const;

 private:
  struct Key {
    std::string renderer;
    UploadWay best_possible;
    uint32_t magnitude;  // of the picture's size
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  [[nodiscard]] static Choices<Key>& choices();
  [[nodiscard]] Fastest::Ways with_direct(UploadWay way) const;
  [[nodiscard]] bool wins(UploadWay way) const;

  const Key key_;
};

}  // namespace dxva::gl
