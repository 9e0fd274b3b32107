// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/base/result.hpp"
#include "lib/softva/call_log.hpp"
#include "lib/softva/fault_plan.hpp"
#include "lib/softva/layout.hpp"
#include "lib/softva/memory.hpp"
#include "lib/softva/parameter_log.hpp"

namespace dxva::softva {

// What exports say of their objects' sizes. Clients that believe it read too little, or too
// much.
enum class DescriptorSize : uint8_t { Right, Zero, Short };

// How a client's list of modifiers is answered. Drivers that do not list the attribute either
// refuse it or take it for one they need not know, and make what they always make.
enum class ModifierLists : uint8_t {
  Honoured,    // one of the list, or none of it can be had
  NotDecoded,  // honoured but for surfaces that a decoder might draw into: it has one layout
  Ignored,     // listed, taken, and ignored
  Refused,     // listed and refused
  Unlisted,    // not listed, taken, and ignored
};

// What tests may ask of the driver, read from the environment once per vaInitialize. README.md
// beside this file has the list for people. (DXVASOFT_DUMP is stream_dump.hpp's: decoders see
// no driver.)
struct Knobs {
  std::optional<MemoryKind> memory;       // DXVASOFT_MEMORY; else the first that works
  uint32_t pitch_align = 64;              // DXVASOFT_PITCH_ALIGN, bytes
  LayoutKind layout = LayoutKind::Tight;  // DXVASOFT_LAYOUT
  std::string vendor;                     // DXVASOFT_VENDOR; empty = our own
  uint32_t tiled_from_export = 0;         // DXVASOFT_TILED_FROM; 0 = tiled from the start
  ModifierLists modifier_lists = ModifierLists::Honoured;  // DXVASOFT_MODIFIERS
  bool modifier_untold = false;                            // DXVASOFT_DESCRIPTOR_MODIFIER=none
  bool exports = true;                                     // DXVASOFT_EXPORT=missing: false
  DescriptorSize descriptor_size = DescriptorSize::Right;  // DXVASOFT_DESCRIPTOR_SIZE
  FaultPlan faults;                                        // DXVASOFT_FAULT
  CallLog log;                                             // DXVASOFT_LOG
  ParameterLog parameters;                                 // DXVASOFT_PARAMETERS
  uint32_t decode_delay_ms = 0;  // DXVASOFT_DECODE_DELAY_MS, in every vaEndPicture
  uint32_t late_ms = 0;          // DXVASOFT_LATE_MS, after it
  bool vgem_fences = false;      // DXVASOFT_FENCES, until then

  // BadInput names the variable whose value makes no sense, or that has a name like ours and is
  // none of them.
  [[nodiscard]] static Result<Knobs> from_environment();
};

}  // namespace dxva::softva
