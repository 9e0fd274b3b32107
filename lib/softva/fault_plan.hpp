// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace dxva::softva {

// The calls a test can make fail.
enum class Call : uint8_t {
  CreateConfig,
  CreateContext,
  CreateSurfaces,
  CreateBuffer,
  CreateImage,
  BeginPicture,
  RenderPicture,
  EndPicture,
  Sync,
  Export,
  DeriveImage,
  GetImage,
  PutImage,
  MapBuffer,
  Vpp,   // vaEndPicture of a video processor; EndPicture counts a decoder's
  Copy,  // vaCopy
};
inline constexpr size_t kCallCount = static_cast<size_t>(Call::Copy) + 1;
[[nodiscard]] std::string_view call_name(Call call);

// Failures to order, DXVASOFT_FAULT: real drivers fail rarely and never when a test looks. A
// comma-separated list of `call:rule`:
//   every=N    calls N, 2N, 3N, … of this driver's life fail
//   at=N       call N fails
//   from=N     call N and all later ones fail
//   surface=N  calls on the Nth surface created fail, and a call that would create it
//   lost=N     call N fails, and from then on every call of any kind: the GPU is gone
//   hang-from=N  call N and all later ones do not come back (sync only)
// Calls and surfaces are counted from 1. Thread-safe.
class FaultPlan {
 public:
  FaultPlan() = default;
  // Plans are moved before they are used.
  FaultPlan(FaultPlan&& other) noexcept : rules_(std::move(other.rules_)) {}
  FaultPlan& operator=(FaultPlan&& other) noexcept {
    rules_ = std::move(other.rules_);
    return *this;
  }

  // BadInput names the word it does not know: a mistyped fault would be a test that proves
  // nothing.
  [[nodiscard]] static Result<FaultPlan> parse(std::string_view list);

  // Counts this call; true when it must fail. `surface` is the number of its surface, or of the
  // first of `surface_count`.
  [[nodiscard]] bool fails(Call call, uint64_t surface, uint64_t surface_count);
  // Whether this call, which fails() has counted, must not come back.
  [[nodiscard]] bool hangs(Call call) const;
  // Whether a `lost` rule has struck.
  [[nodiscard]] bool lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  enum class Rule { Every, At, From, Surface, Lost, HangFrom };
  struct Entry {
    Call call;
    Rule rule;
    uint64_t number;
  };

  std::vector<Entry> rules_;
  std::array<std::atomic<uint64_t>, kCallCount> counts_{};
  std::atomic<bool> lost_{false};
};

}  // namespace dxva::softva
