// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/variables.hpp"

#include <unistd.h>

#include <optional>
#include <string_view>

#include "lib/base/test_switch.hpp"
#include "lib/base/translation.hpp"

namespace dxva {
namespace {

constexpr std::string_view kOurs = "GST_DXVA_";

std::optional<Misunderstood> judge_switch(const std::string& name, const std::string& value) {
  if (value.empty() || value == "0" || value == "1") return std::nullopt;
  const std::string setting = name + "=" + value;
  return Misunderstood{
      .setting = setting,
      .what = fill(_("%s changes nothing: that variable knows 0 and 1."), setting),
      .remedy = fill(_("Set %s=0 to turn off what it is about; else unset it."), name)};
}

std::optional<Misunderstood> judge_words(const std::string& name, const std::string& value) {
  const TestSwitch read = TestSwitch::parse(value.c_str());
  if (read.unknown.empty()) return std::nullopt;
  std::string words;
  for (const std::string& word : read.unknown) words += (words.empty() ? "" : ", ") + word;
  const std::string setting = name + "=" + value;
  return Misunderstood{
      .setting = setting,
      .what = fill(_("%s: these words change nothing: %s."), setting, words),
      .remedy = fill(_("%s knows %s; outside of tests unset it."), name, TestSwitch::words())};
}

std::optional<Misunderstood> judge(const std::string& name, const std::string& value) {
  if (name == "GST_DXVA_ZEROCOPY" || name == "GST_DXVA_SOFTWARE_FALLBACK")
    return judge_switch(name, value);
  if (name == "GST_DXVA_TEST") return judge_words(name, value);
  if (name == "GST_DXVA_DEVICE") return std::nullopt;  // who opens the device knows
  return Misunderstood{
      .setting = name + "=" + value,
      .what = fill(_("Nothing reads the variable %s."), name),
      .remedy = _("There are GST_DXVA_DEVICE, GST_DXVA_ZEROCOPY, GST_DXVA_SOFTWARE_FALLBACK "
                  "and GST_DXVA_TEST.")};
}

}  // namespace

std::vector<Misunderstood> misunderstood(
    const std::map<std::string, std::string>& environment) {
  std::vector<Misunderstood> out;
  for (const auto& [name, value] : environment) {
    if (!name.starts_with(kOurs)) continue;
    if (auto wrong = judge(name, value)) out.push_back(std::move(*wrong));
  }
  return out;
}

std::vector<Misunderstood> misunderstood_variables() {
  std::map<std::string, std::string> ours;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (!text.starts_with(kOurs) || equals == std::string_view::npos) continue;
    ours.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return misunderstood(ours);
}

}  // namespace dxva
