// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Which layout surfaces should have: what the driver was seen to make, what it says it would
// make, and what downstream takes. Plain data in, a decision out.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lib/base/path.hpp"

namespace dxva::gst {

struct DrmFormat {
  uint32_t fourcc = 0;  // DRM
  uint64_t modifier = 0;
  friend bool operator==(const DrmFormat&, const DrmFormat&) = default;
};
// "NV12:0x0100000000000002", or "NV12" for linear memory: the values of the caps field
// drm-format. Nothing for other texts.
[[nodiscard]] std::optional<DrmFormat> parse_drm_format(std::string_view text);

// The modifiers that downstream takes for one format, in its order of preference.
struct ModifiersTaken {
  bool any = false;  // it names the memory and no layout
  std::vector<uint64_t> list;
  // What it named, or did not exclude, and could not read when it came.
  std::vector<uint64_t> refused;

  [[nodiscard]] bool take(uint64_t modifier) const;
  // Appends; once is enough.
  void add(uint64_t modifier);
  // Takes it from the rest.
  void refuse(uint64_t modifier);
  // The part of it that a consumer of linear memory only would take.
  [[nodiscard]] ModifiersTaken only_linear() const;
};

enum class SurfaceWay {
  Lend,    // as it is
  Remake,  // ask the driver for surfaces of another layout
  Copy,
};
struct ModifierChoice {
  SurfaceWay way = SurfaceWay::Copy;
  std::vector<uint64_t> ask;  // of Remake, best first
};

// Why a surface with a modifier outside of `taken` is copied.
[[nodiscard]] Reason reason_not_taken(const ModifiersTaken& taken);

// What the driver made by itself is what it decodes into best, so it is lent wherever
// downstream lists it at all, also when something else stands before it in the list. Otherwise
// the driver is asked for what is listed, once: `tried` is what it was asked for before, and
// when a surface is none of that all the same, asking again is no use.
[[nodiscard]] ModifierChoice choose_modifiers(uint64_t seen, const ModifiersTaken& taken,
                                              bool driver_takes_list,
                                              std::span<const uint64_t> tried);

}  // namespace dxva::gst
