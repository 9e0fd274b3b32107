// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/refused_buffers.hpp"

#include <algorithm>
#include <cstring>

namespace dxva::gst {

namespace {
constexpr uint32_t kBackOffPictures = 64;  // of one buffer; a pool of 20 makes that a minute
constexpr size_t kMaxRefusals = 256;       // more than any pool has; hostile events stop here
}  // namespace

void RefusedBuffers::add(const BufferIdentity& identity, Reason reason) {
  const std::lock_guard guard(lock_);
  if (refusals_.size() >= kMaxRefusals) refusals_.clear();
  refusals_[identity] = {.reason = reason, .pictures_left = kBackOffPictures};
}

RefusedBuffers::Answer RefusedBuffers::ask(const BufferIdentity& identity) {
  const std::lock_guard guard(lock_);
  const auto found = refusals_.find(identity);
  if (found == refusals_.end()) return {};
  const Answer answer{.reason = found->second.reason,
                      .news = found->second.pictures_left == kBackOffPictures};
  if (--found->second.pictures_left == 0) refusals_.erase(found);
  return answer;
}

bool RefusedBuffers::any_of(const std::set<BufferIdentity>& buffers,
                            bool (*kind)(Reason)) const {
  const std::lock_guard guard(lock_);
  return std::any_of(refusals_.begin(), refusals_.end(), [&](const auto& refusal) {
    return kind(refusal.second.reason) && buffers.contains(refusal.first);
  });
}

void RefusedBuffers::clear() {
  const std::lock_guard guard(lock_);
  refusals_.clear();
}

Reason reason_of_name(const char* name) {
  for (size_t i = 1; name && i < kReasonCount; ++i)
    if (std::strcmp(name, reason_name(static_cast<Reason>(i))) == 0)
      return static_cast<Reason>(i);
  return Reason::ImportDisabled;
}

}  // namespace dxva::gst
