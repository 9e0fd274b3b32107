// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace dxva::decode {

// No decoder holds a picture longer than this many packets: 16 frames of reordering in two
// fields each, and a frame in each of 32 threads. A picture that was begun and then dropped
// (libavcodec shows none before the first recovery point) is given up after it.
inline constexpr uint32_t kLongestDelay = 96;  // packets

// Which packets still owe a picture. Not every packet has one: parsers give each field its own
// packet, hidden frames are decoded and not shown, broken ones vanish. The element keeps a
// record per packet and would keep them for ever. Thread-safe: allocated() comes from
// libavcodec's worker threads.
class PendingPictures {
 public:
  // With reordering a picture may come out after later ones; without, it never does.
  explicit PendingPictures(bool reorders) : reorders_(reorders) {}

  struct Marks {
    bool sync_point = false;
    bool corrupt = false;
  };
  void sent(uint32_t number, Marks marks);
  // A picture was begun for this packet.
  void allocated(uint32_t number);
  // A picture came out: its marks, or nothing when it is not awaited (it came out before, and
  // this is a replay). Earlier packets that can no longer have one are abandoned.
  [[nodiscard]] std::optional<Marks> output(uint32_t number);
  // The packet was refused: no picture, unless one was begun already, which is then corrupt.
  void failed(uint32_t number);
  // What was begun for the packet is not shown.
  void lost(uint32_t number);
  // No picture is inside the decoder any more.
  void drained();
  void clear();
  [[nodiscard]] std::vector<uint32_t> take_abandoned();
  [[nodiscard]] std::optional<uint32_t> oldest() const;

 private:
  struct Entry {
    Marks marks;
    bool allocated = false;
  };

  const bool reorders_;

  mutable std::mutex lock_;
  std::map<uint32_t, Entry> entries_;
  std::vector<uint32_t> abandoned_;
};

}  // namespace dxva::decode
