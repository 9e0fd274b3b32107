// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/fault_plan.hpp"

#include <charconv>
#include <string>

namespace dxva::softva {
namespace {

struct CallName {
  std::string_view name;
  Call call;
};
constexpr CallName kCallNames[] = {
    {"createconfig", Call::CreateConfig},
    {"createcontext", Call::CreateContext},
    {"createsurfaces", Call::CreateSurfaces},
    {"createbuffer", Call::CreateBuffer},
    {"createimage", Call::CreateImage},
    {"beginpicture", Call::BeginPicture},
    {"renderpicture", Call::RenderPicture},
    {"endpicture", Call::EndPicture},
    {"sync", Call::Sync},
    {"export", Call::Export},
    {"deriveimage", Call::DeriveImage},
    {"getimage", Call::GetImage},
    {"putimage", Call::PutImage},
    {"mapbuffer", Call::MapBuffer},
    {"vpp", Call::Vpp},
    {"copy", Call::Copy},
};
static_assert(std::size(kCallNames) == kCallCount);

Error unknown(std::string_view word) {
  return Error{.code = ErrorCode::BadInput,
               .call = "DXVASOFT_FAULT",
               .text = "cannot read \"" + std::string(word) + "\""};
}

}  // namespace

std::string_view call_name(Call call) {
  for (const CallName& candidate : kCallNames)
    if (candidate.call == call) return candidate.name;
  return "unknown";
}

Result<FaultPlan> FaultPlan::parse(std::string_view list) {
  FaultPlan plan;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view word = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);

    const size_t colon = word.find(':');
    const size_t equals = word.find('=');
    if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon)
      return unknown(word);
    Entry entry{};

    bool known = false;
    for (const CallName& candidate : kCallNames) {
      if (candidate.name != word.substr(0, colon)) continue;
      entry.call = candidate.call;
      known = true;
    }
    if (!known) return unknown(word);

    const std::string_view rule = word.substr(colon + 1, equals - colon - 1);
    if (rule == "every") {
      entry.rule = Rule::Every;
    } else if (rule == "at") {
      entry.rule = Rule::At;
    } else if (rule == "from") {
      entry.rule = Rule::From;
    } else if (rule == "surface") {
      entry.rule = Rule::Surface;
    } else if (rule == "lost") {
      entry.rule = Rule::Lost;
    } else if (rule == "hang-from" && entry.call == Call::Sync) {
      entry.rule = Rule::HangFrom;
    } else {
      return unknown(word);
    }

    const char* end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data() + equals + 1, end, entry.number);
    if (parsed.ec != std::errc{} || parsed.ptr != end || entry.number == 0)
      return unknown(word);
    plan.rules_.push_back(entry);
  }
  return plan;
}

bool FaultPlan::fails(Call call, uint64_t surface, uint64_t surface_count) {
  const uint64_t number =
      counts_[static_cast<size_t>(call)].fetch_add(1, std::memory_order_relaxed) + 1;
  if (lost()) return true;
  for (const Entry& entry : rules_) {
    if (entry.call != call) continue;
    switch (entry.rule) {
      case Rule::Every:
        if (number % entry.number == 0) return true;
        break;
      case Rule::At:
        if (number == entry.number) return true;
        break;
      case Rule::From:
        if (number >= entry.number) return true;
        break;
      case Rule::Surface:
        if (entry.number >= surface && entry.number - surface < surface_count) return true;
        break;
      case Rule::Lost:
        if (number >= entry.number) {
          lost_.store(true, std::memory_order_relaxed);
          return true;
        }
        break;
      case Rule::HangFrom:
        break;
    }
  }
  return false;
}

bool FaultPlan::hangs(Call call) const {
  const uint64_t number = counts_[static_cast<size_t>(call)].load(std::memory_order_relaxed);
  for (const Entry& entry : rules_)
    if (entry.call == call && entry.rule == Rule::HangFrom && number >= entry.number)
      return true;
  return false;
}

}  // namespace dxva::softva
