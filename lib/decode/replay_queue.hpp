// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>

namespace dxva::decode {

// The bytes of a packet with the zeros behind it that libavcodec's readers may touch. Shared:
// by the replay queue, and by the decoder for as long as it reads.
struct StoredPacket {
  std::shared_ptr<uint8_t[]> bytes;
  uint32_t size_bytes = 0;
  uint32_t number = 0;
  bool sync_point = false;

  [[nodiscard]] static StoredPacket copy(std::span<const uint8_t> data, uint32_t padding_bytes,
                                         uint32_t number, bool sync_point);
};

// What must be decoded again when the device fails: everything since a sync point. One sync
// point is not enough, for two reasons: leading pictures of an open group of pictures refer to
// the group before it, and pictures from before it may not have come out yet. So the queue
// begins at the last sync point but one, or earlier while an older picture is awaited; where
// there are not two, at the stretch's first packet, whatever that is.
class ReplayQueue {
 public:
  // `oldest_awaited`: the lowest packet number whose picture has not come out.
  void push(const StoredPacket& packet, std::optional<uint32_t> oldest_awaited);
  // Empty when nothing was pushed, or when it grew over the limit: then it begins again with
  // the next sync point.
  [[nodiscard]] const std::deque<StoredPacket>& packets() const { return packets_; }
  void clear();
  // The next packet is the first of a stretch: it needs nothing from before it that could be
  // had.
  void begin();

  static constexpr uint64_t kMaxBytes = 96 * 1024 * 1024;
  static constexpr size_t kMaxPackets = 2000;

 private:
  void trim(std::optional<uint32_t> oldest_awaited);

  std::deque<StoredPacket> packets_;
  uint64_t bytes_ = 0;
  bool begins_ = true;
};

}  // namespace dxva::decode
