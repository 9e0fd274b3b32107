// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/upload_chooser.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "lib/base/log.hpp"

namespace dxva::gl {
namespace {

// Of what came after the first.
int64_t median(std::vector<int64_t> times) {
  const auto middle = times.begin() + 1 + static_cast<ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin() + 1, middle, times.end());
  return *middle;
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

std::optional<bool> UploadChooser::beats_direct(UploadWay way) const {
  if (way > best_possible_) return false;
  const auto& direct = times(UploadWay::Direct);
  const auto& other = times(way);
  if (direct.size() < kSamples || other.size() < kSamples) return std::nullopt;
  return static_cast<uint64_t>(median(other)) * 100 <=
         static_cast<uint64_t>(median(direct)) * kWorthwhilePercent;
}

bool UploadChooser::takes(UploadWay way) const {
  const std::lock_guard guard(lock_);
  if (way == UploadWay::Direct) return true;
  const auto known = beats_direct(way);
  return known ? *known : times(way).size() <= times(UploadWay::Direct).size();
}

bool UploadChooser::wants(UploadWay way) const {
  const std::lock_guard guard(lock_);
  return best_possible_ != UploadWay::Direct && way <= best_possible_ &&
         times(way).size() < kSamples;
}

void UploadChooser::measured(UploadWay way, std::chrono::nanoseconds time) {
  const std::lock_guard guard(lock_);
  auto& known = times_[static_cast<size_t>(way)];
  if (known.size() >= kSamples || way > best_possible_) return;
  known.push_back(std::max<int64_t>(time.count(), 0));
  if (known.size() < kSamples) return;
  for (const UploadWay other : {UploadWay::Ring, UploadWay::RingInPlace}) {
    if (way != UploadWay::Direct && way != other) continue;
    if (const auto wins = beats_direct(other); wins && other <= best_possible_)
      DXVA_INFO(Gl, "uploads: %s takes %lld us, direct %lld us: %s", upload_way_name(other),
                static_cast<long long>(median(times(other)) / 1000),
                static_cast<long long>(median(times(UploadWay::Direct)) / 1000),
                *wins ? "it is used" : "it is not used");
  }
}

bool UploadChooser::is_settled_against(UploadWay way) const {
  const std::lock_guard guard(lock_);
  return beats_direct(way) == false;
}

std::shared_ptr<UploadChooser> upload_chooser(const std::string& renderer,
                                              UploadWay best_possible, uint64_t picture_bytes) {
  using Key = std::tuple<std::string, UploadWay, int>;
  static std::mutex lock;
  static std::map<Key, std::shared_ptr<UploadChooser>> known;
  const std::lock_guard guard(lock);
  auto& chooser = known[{renderer, best_possible, std::bit_width(picture_bytes) / 2}];
  if (!chooser) chooser = std::make_shared<UploadChooser>(best_possible);
  return chooser;
}

}  // namespace dxva::gl
