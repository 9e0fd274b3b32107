// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/knobs.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

namespace dxva::softva {
namespace {

constexpr uint32_t kMaxPitchAlign = 4096;
constexpr uint32_t kMaxDelayMs = 60'000;

constexpr std::string_view kOurs = "DXVASOFT_";
// All that is read, here and in stream_dump.cpp, behind that.
constexpr std::string_view kNames[] = {"DECODE_DELAY_MS", "DESCRIPTOR_MODIFIER",
                                       "DESCRIPTOR_SIZE", "DUMP",
                                       "EXPORT",          "FAULT",
                                       "FENCES",          "LATE_MS",
                                       "LAYOUT",          "LOG",
                                       "MEMORY",          "MODIFIERS",
                                       "PARAMETERS",      "PITCH_ALIGN",
                                       "TILED_FROM",      "VENDOR"};

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Error bad_value(const char* name, std::string_view value) {
  return Error{.code = ErrorCode::BadInput,
               .call = name,
               .text = "cannot read \"" + std::string(value) + "\""};
}

// A mistyped setting would be a test that proves nothing.
Status check_names() {
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with(kOurs)) continue;
    const std::string_view name = text.substr(0, text.find('='));
    const auto* known =
        std::find(std::begin(kNames), std::end(kNames), name.substr(kOurs.size()));
    if (known != std::end(kNames)) continue;
    std::string names;
    for (const std::string_view one : kNames)
      names.append(names.empty() ? "" : ", ").append(one);
    return Error{
        .code = ErrorCode::BadInput,
        .call = "environment",
        .text = std::string(name) + " is no setting; behind DXVASOFT_ can stand " + names};
  }
  return Done{};
}

// Leaves `out` alone when the variable is unset.
Status read_number(const char* name, uint32_t lowest, uint32_t highest, uint32_t& out) {
  const std::string_view text = variable(name);
  if (text.empty()) return Done{};
  uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end || value < lowest || value > highest)
    return bad_value(name, text);
  out = value;
  return Done{};
}

}  // namespace

Result<Knobs> Knobs::from_environment() {
  if (auto known = check_names(); !known) return known.error();
  Knobs knobs;
  if (const auto text = variable("DXVASOFT_MEMORY"); !text.empty()) {
    knobs.memory = memory_kind(text);
    if (!knobs.memory) return bad_value("DXVASOFT_MEMORY", text);
  }
  if (auto read = read_number("DXVASOFT_PITCH_ALIGN", 1, kMaxPitchAlign, knobs.pitch_align);
      !read)
    return read.error();
  if (const auto text = variable("DXVASOFT_LAYOUT"); !text.empty()) {
    const auto kind = layout_kind(text);
    if (!kind) return bad_value("DXVASOFT_LAYOUT", text);
    knobs.layout = *kind;
  }
  constexpr uint32_t kAnyNumber = UINT32_MAX;
  if (auto read = read_number("DXVASOFT_TILED_FROM", 1, kAnyNumber, knobs.tiled_from_export);
      !read)
    return read.error();
  // Only that layout has room for whole tiles.
  if (knobs.tiled_from_export > 0 && knobs.layout != LayoutKind::Tiled)
    return Error{.code = ErrorCode::BadInput,
                 .call = "DXVASOFT_TILED_FROM",
                 .text = "needs DXVASOFT_LAYOUT=tiled"};
  if (const auto text = variable("DXVASOFT_MODIFIERS"); text == "ignored")
    knobs.modifier_lists = ModifierLists::Ignored;
  else if (text == "not-decoded")
    knobs.modifier_lists = ModifierLists::NotDecoded;
  else if (text == "refused")
    knobs.modifier_lists = ModifierLists::Refused;
  else if (text == "unlisted")
    knobs.modifier_lists = ModifierLists::Unlisted;
  else if (!text.empty() && text != "honoured")
    return bad_value("DXVASOFT_MODIFIERS", text);
  if (const auto text = variable("DXVASOFT_DESCRIPTOR_SIZE"); text == "0")
    knobs.descriptor_size = DescriptorSize::Zero;
  else if (text == "short")
    knobs.descriptor_size = DescriptorSize::Short;
  else if (!text.empty())
    return bad_value("DXVASOFT_DESCRIPTOR_SIZE", text);
  if (const auto text = variable("DXVASOFT_DESCRIPTOR_MODIFIER"); text == "none")
    knobs.modifier_untold = true;
  else if (!text.empty())
    return bad_value("DXVASOFT_DESCRIPTOR_MODIFIER", text);
  if (const auto text = variable("DXVASOFT_EXPORT"); text == "missing")
    knobs.exports = false;
  else if (!text.empty())
    return bad_value("DXVASOFT_EXPORT", text);
  knobs.vendor = variable("DXVASOFT_VENDOR");
  auto faults = FaultPlan::parse(variable("DXVASOFT_FAULT"));
  if (!faults) return faults.error();
  knobs.faults = std::move(*faults);
  auto log = CallLog::open(std::string(variable("DXVASOFT_LOG")));
  if (!log) return log.error();
  knobs.log = std::move(*log);
  auto parameters = ParameterLog::open(std::string(variable("DXVASOFT_PARAMETERS")));
  if (!parameters) return parameters.error();
  knobs.parameters = std::move(*parameters);
  if (auto read =
          read_number("DXVASOFT_DECODE_DELAY_MS", 0, kMaxDelayMs, knobs.decode_delay_ms);
      !read)
    return read.error();
  if (auto read = read_number("DXVASOFT_LATE_MS", 0, kMaxDelayMs, knobs.late_ms); !read)
    return read.error();
  if (const auto text = variable("DXVASOFT_FENCES"); text == "vgem")
    knobs.vgem_fences = true;
  else if (!text.empty())
    return bad_value("DXVASOFT_FENCES", text);
  // There is nothing to wait for in a picture that is there.
  if (knobs.vgem_fences && knobs.late_ms == 0)
    return Error{.code = ErrorCode::BadInput,
                 .call = "DXVASOFT_FENCES",
                 .text = "needs DXVASOFT_LATE_MS"};
  return knobs;
}

}  // namespace dxva::softva
