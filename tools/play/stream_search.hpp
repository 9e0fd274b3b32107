// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <chrono>
#include <mutex>

namespace dxva::play {

// Tells when a bin that looks for streams will find no more. Not always does it say so: a
// stream that nobody takes and that ends before its first frame (a YUV4MPEG file that was cut
// short) gives no error, because no data met an unlinked pad, and no EOS, because no sink saw
// one. Probes tell from their threads, anybody may ask.
class StreamSearch {
 public:
  // Both live as long as this does, and stop before.
  void watch(GstElement* source, GstElement* bin);

  // Nothing has been read and nothing has moved inside for a while; less is waited for once
  // something has come to its end.
  [[nodiscard]] bool is_over() const;

 private:
  using Clock = std::chrono::steady_clock;

  void watch_pad(GstPad* pad);
  void watch_element(GstElement* element);
  void moved(bool to_its_end);

  mutable std::mutex lock_;
  Clock::time_point last_move_ = Clock::now();
  bool ended_ = false;
};

}  // namespace dxva::play
