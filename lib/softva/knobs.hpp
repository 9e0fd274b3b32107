// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/base/result.hpp"
#include "lib/softva/fault_plan.hpp"
#include "lib/softva/layout.hpp"
#include "lib/softva/memory.hpp"

namespace dxva::softva {

// What tests may ask of the driver, read from the environment once per vaInitialize. README.md
// beside this file has the list for people. (DXVASOFT_DUMP is stream_dump.hpp's: decoders see
// no driver.)
struct Knobs {
  std::optional<MemoryKind> memory;       // DXVASOFT_MEMORY; else the first that works
  uint32_t pitch_align = 64;              // DXVASOFT_PITCH_ALIGN, bytes
  LayoutKind layout = LayoutKind::Tight;  // DXVASOFT_LAYOUT
  std::string vendor;                     // DXVASOFT_VENDOR; empty = our own
  FaultPlan faults;                       // DXVASOFT_FAULT
  uint32_t decode_delay_ms = 0;           // DXVASOFT_DECODE_DELAY_MS, in every vaEndPicture

  // BadInput names the variable whose value makes no sense.
  [[nodiscard]] static Result<Knobs> from_environment();
};

}  // namespace dxva::softva
