// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/modifier_choice.hpp"

#include <algorithm>
#include <charconv>

#include "lib/base/fourcc.hpp"

namespace dxva::gst {

std::optional<DrmFormat> parse_drm_format(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  DrmFormat out{.fourcc = fourcc(text[0], text[1], text[2], text[3]),
                .modifier = kModifierLinear};
  text.remove_prefix(4);
  if (text.empty()) return out;
  if (!text.starts_with(":0x")) return std::nullopt;
  text.remove_prefix(3);
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out.modifier, 16);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return out;
}

bool ModifiersTaken::take(uint64_t modifier) const {
  if (std::ranges::find(refused, modifier) != refused.end()) return false;
  return any || std::ranges::find(list, modifier) != list.end();
}

void ModifiersTaken::add(uint64_t modifier) {
  if (std::ranges::find(list, modifier) == list.end()) list.push_back(modifier);
}

void ModifiersTaken::refuse(uint64_t modifier) {
  std::erase(list, modifier);
  refused.push_back(modifier);
}

ModifiersTaken ModifiersTaken::only_linear() const {
  ModifiersTaken out{.refused = refused};
  if (take(kModifierLinear)) out.add(kModifierLinear);
  return out;
}

Reason reason_not_taken(const ModifiersTaken& taken) {
  const bool linear_at_most =
      !taken.any && taken.refused.empty() &&
      std::ranges::all_of(taken.list, [](uint64_t one) { return one == kModifierLinear; });
  return linear_at_most ? Reason::ModifierNotLinear : Reason::ModifierNotImportable;
}

ModifierChoice choose_modifiers(uint64_t seen, const ModifiersTaken& taken,
                                bool driver_takes_list, std::span<const uint64_t> tried) {
  if (taken.take(seen)) return {.way = SurfaceWay::Lend};
  if (!driver_takes_list) return {};
  // "The driver knows" is nothing that one could ask for.
  ModifierChoice out{.way = SurfaceWay::Remake, .ask = taken.list};
  std::erase(out.ask, kModifierInvalid);
  if (out.ask.empty() || std::ranges::equal(out.ask, tried)) return {};
  return out;
}

}  // namespace dxva::gst
