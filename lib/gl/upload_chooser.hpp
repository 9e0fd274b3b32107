// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace dxva::gl {

// How a picture in the CPU's memory becomes a texture.
enum class UploadWay : uint8_t {
  Direct,       // glTexSubImage2D from where the picture is
  Ring,         // copied into an upload slot, uploaded from there
  RingInPlace,  // its producer wrote it into the slot
};
inline constexpr size_t kUploadWays = 3;
// "direct", "ring", "ring-in-place": ABI, in `stats`.
[[nodiscard]] const char* upload_way_name(UploadWay way);

// Which way is the fastest is a fact of the driver and not known from its name: a slot that is
// written in place takes 0.2 to 0.4 of the direct way's time on an NVIDIA GPU, and the same
// time on llvmpipe; with a copy into the slot it loses on both. So the first pictures go each
// way in turn, and the winner stays. Pure but for its lock; thread-safe.
class UploadChooser {
 public:
  // Of each way. The first is thrown away: it touches fresh memory.
  static constexpr size_t kSamples = 7;
  // The direct way needs no memory of GL's, so another must be faster by more than noise: its
  // time × 100 at most the direct way's × this.
  static constexpr uint64_t kWorthwhilePercent = 80;

  // What the context can do at all: nothing but Direct, that and Ring, or everything.
  explicit UploadChooser(UploadWay best_possible) : best_possible_(best_possible) {}

  // Whether `way` is to be taken for a picture that could go so: the winner of it and Direct,
  // or while that is open, the one of which fewer times are known.
  [[nodiscard]] bool takes(UploadWay way) const;
  // Whether a time of a picture that went `way` is still wanted, and may cost a glFinish.
  [[nodiscard]] bool wants(UploadWay way) const;
  void measured(UploadWay way, std::chrono::nanoseconds time);
  // False while it is open.
  [[nodiscard]] bool is_settled_against(UploadWay way) const;

 private:
  [[nodiscard]] std::optional<bool> beats_direct(UploadWay way) const;
  [[nodiscard]] const std::vector<int64_t>& times(UploadWay way) const {
    return times_[static_cast<size_t>(way)];
  }

  const UploadWay best_possible_;

  mutable std::mutex lock_;
  std::array<std::vector<int64_t>, kUploadWays> times_;
};

// The process's chooser for this renderer and pictures of about this size (within a factor of
// four: what wins depends on whether a picture fits into caches). Thread-safe.
[[nodiscard]] std::shared_ptr<UploadChooser> upload_chooser(const std::string& renderer,
                                                            UploadWay best_possible,
                                                            uint64_t picture_bytes);

}  // namespace dxva::gl
