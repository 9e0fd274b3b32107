// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "lib/decode/avcodec_handles.hpp"
#include "lib/decode/avcodec_hwaccel.hpp"
#include "lib/decode/bitstream_decoder.hpp"
#include "lib/decode/replay_queue.hpp"

namespace dxva::decode {

struct CodecTraits {
  // By name, because the preferred decoder of an id may be a wrapper (libdav1d for AV1), which
  // knows no hwaccel.
  const char* hardware;
  std::array<const char*, 2> software;  // in order of preference; the second may be null
  uint32_t dpb;                         // pictures the codec may keep
  bool reorders;
};
[[nodiscard]] CodecTraits traits(Codec codec);

// One context of libavcodec: numbered packets in, AVFrames out, for one way of decoding at a
// time. Errors are libavcodec's numbers, because what they mean depends on noticed().
class AvcodecContext {
 public:
  struct Callbacks {
    // A picture was begun for this packet; comes from libavcodec's threads.
    std::function<void(uint32_t number)> began;
    // A picture comes out, lent for the call, which may take its pixels.
    std::function<void(AVFrame& frame, uint32_t number)> output;
  };
  explicit AvcodecContext(Callbacks callbacks);

  // Replaces what was open. A null `device` means software; it outlives the context.
  // Unsupported: this libavcodec has no such decoder, or noticed().refused says why.
  [[nodiscard]] Status open(const StreamParams& params, Hwaccel* device);
  // False as well when it asked for surfaces and was refused: it takes no more packets then.
  [[nodiscard]] bool is_open() const { return context_ != nullptr && !refused_; }
  // Sends the packet and outputs what is ready; the first error of both.
  [[nodiscard]] int submit(const StoredPacket& packet);
  // Gets everything out and leaves the context ready for a new start. The device's errors are
  // in noticed().
  void drain();
  void flush();
  // Whether pictures come out before the first that decoding can start at, marked as corrupt;
  // from the next packet on, and in contexts that are opened later. Off at first.
  void show_unrecovered(bool on);
  [[nodiscard]] bool shows_unrecovered() const { return shows_unrecovered_; }

  // Of the last call. In software there is nothing to notice.
  [[nodiscard]] Hwaccel::Noticed noticed() const;
  // Pictures inside before the first comes out; libavcodec's name of the profile.
  [[nodiscard]] uint32_t delay() const;
  [[nodiscard]] bool knows_size() const { return context_ && context_->coded_width > 0; }
  [[nodiscard]] std::string profile() const;

 private:
  int collect();
  int lend_buffer(AVCodecContext& context, AVFrame& frame, int flags);

  const Callbacks callbacks_;
  Hwaccel* device_ = nullptr;
  bool shows_unrecovered_ = false;
  bool refused_ = false;
  FramePtr frame_;      // scratch, one picture at a time
  PacketPtr packet_;    // scratch
  ContextPtr context_;  // last: its worker threads call into the members above
};

}  // namespace dxva::decode
