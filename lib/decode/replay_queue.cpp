// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/replay_queue.hpp"

#include <cstring>

namespace dxva::decode {

StoredPacket StoredPacket::copy(std::span<const uint8_t> data, uint32_t padding_bytes,
                                uint32_t number, bool sync_point) {
  StoredPacket out{
      .bytes = std::shared_ptr<uint8_t[]>(new uint8_t[data.size() + padding_bytes]),
      .size_bytes = static_cast<uint32_t>(data.size()),
      .number = number,
      .sync_point = sync_point};
  if (!data.empty()) std::memcpy(out.bytes.get(), data.data(), data.size());
  std::memset(out.bytes.get() + data.size(), 0, padding_bytes);
  return out;
}

void ReplayQueue::push(const StoredPacket& packet, std::optional<uint32_t> oldest_awaited) {
  if (packets_.empty() && !packet.sync_point && !begins_) return;
  begins_ = false;
  packets_.push_back(packet);
  bytes_ += packet.size_bytes;
  if (packet.sync_point) trim(oldest_awaited);
  // A stream without sync points (intra refresh) cannot be replayed for ever; it will miss
  // pictures up to its next one instead.
  if (bytes_ > kMaxBytes || packets_.size() > kMaxPackets) clear();
}

void ReplayQueue::trim(std::optional<uint32_t> oldest_awaited) {
  size_t newer_sync_points = 0;
  size_t begin = 0;
  for (size_t i = packets_.size(); i-- > 0;) {
    if (!packets_[i].sync_point) continue;
    ++newer_sync_points;
    if (newer_sync_points < 2 || (oldest_awaited && packets_[i].number > *oldest_awaited))
      continue;
    begin = i;
    break;
  }
  for (; begin > 0; --begin) {
    bytes_ -= packets_.front().size_bytes;
    packets_.pop_front();
  }
}

void ReplayQueue::clear() {
  packets_.clear();
  bytes_ = 0;
  begins_ = false;
}

void ReplayQueue::begin() {
  clear();
  begins_ = true;
}

}  // namespace dxva::decode
