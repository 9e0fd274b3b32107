// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/upload_choice.hpp"

#include <bit>

#include "lib/base/log.hpp"

namespace dxva::gl {
namespace {

constexpr Fastest::Way number(UploadWay way) {
  return static_cast<Fastest::Way>(way);
}

}  // namespace

const char* upload_way_name(UploadWay way) {
  switch (way) {
    case UploadWay::Direct:
      return "direct";
    case UploadWay::Ring:
      return "ring";
    case UploadWay::RingInPlace:
      return "ring-in-place";
  }
  return "";
}

UploadChoice::UploadChoice(const std::string& renderer, UploadWay best_possible,
                           uint64_t picture_bytes)
    : key_{.renderer = renderer,
           .best_possible = best_possible,
           .magnitude = static_cast<uint32_t>(std::bit_width(picture_bytes)) / 2} {}

Choices<UploadChoice::Key>& UploadChoice::choices() {
  static Choices<Key> of_the_process(kRules);
  return of_the_process;
}

Fastest::Ways UploadChoice::with_direct(UploadWay way) const {
  const Fastest::Ways direct = Fastest::only(number(UploadWay::Direct));
  return way <= key_.best_possible ? direct | Fastest::only(number(way)) : direct;
}

bool UploadChoice::wins(UploadWay way) const {
  return choices().next(key_, with_direct(way)) == number(way);
}

bool UploadChoice::can(UploadWay way) const {
  return way <= key_.best_possible && !choices().standings(key_)[number(way)].out;
}

bool UploadChoice::takes(UploadWay way) const {
  return way == UploadWay::Direct || wins(way);
}

bool UploadChoice::wants(UploadWay way) const {
  return key_.best_possible != UploadWay::Direct && way <= key_.best_possible &&
         choices().wants(key_, number(way));
}

void UploadChoice::measured(UploadWay way, std::chrono::nanoseconds time) const {
  if (!wants(way) || !choices().took(key_, number(way), time)) return;
  const auto standings = choices().standings(key_);
  const auto microseconds = [&](UploadWay one) {
    return static_cast<long long>(standings[number(one)].shortest.count() / 1000);
  };
  for (const UploadWay other : {UploadWay::Ring, UploadWay::RingInPlace}) {
    if ((way != UploadWay::Direct && way != other) || other > key_.best_possible ||
        !choices().decided(key_, with_direct(other)))
      continue;
    DXVA_INFO(Gl, "uploads: %s takes %lld us, direct %lld us: %s", upload_way_name(other),
              microseconds(other), microseconds(UploadWay::Direct),
              wins(other) ? "it is used" : "it is not used");
  }
}

void UploadChoice::rule_out(UploadWay way, const std::string& why) const {
  DXVA_INFO(Gl, "uploads: %s is not used: %s", upload_way_name(way), why.c_str());
  choices().rule_out(key_, number(way), why);
}

bool UploadChoice::is_settled_against(UploadWay way) const {
  return choices().decided(key_, with_direct(way)) && !wins(way);
}

std::vector<NamedStanding> UploadChoice::standings() const {
  std::vector<NamedStanding> out;
  const auto standings = choices().standings(key_);
  for (const UploadWay way : kUploadWays) {
    out.push_back({.name = upload_way_name(way), .standing = standings[number(way)]});
    if (way > key_.best_possible) out.back().standing.out = "this OpenGL has no such buffers";
  }
  return out;
}

}  // namespace dxva::gl
