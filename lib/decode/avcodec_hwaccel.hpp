// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// libavcodec's hardware half with our surfaces behind it: what every kind of device has in
// common. avcodec_va and avcodec_cuda are the kinds.

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "lib/accel/negotiation.hpp"
#include "lib/decode/avcodec_handles.hpp"
#include "lib/decode/bitstream_decoder.hpp"
#include "lib/decode/device.hpp"
#include "lib/surface/pool.hpp"

namespace dxva::decode {

// Thread rules: as BitstreamDecoder; interrupt() and pools() come from any thread.
class Hwaccel {
 public:
  // `surfaces` is what the decoder itself needs and what downstream may have.
  // Refusals: NoDevice.
  [[nodiscard]] static Result<std::unique_ptr<Hwaccel>> create(Codec codec,
                                                               const Device& device,
                                                               uint32_t surfaces);
  virtual ~Hwaccel() = default;
  Hwaccel(const Hwaccel&) = delete;
  Hwaccel& operator=(const Hwaccel&) = delete;

  // What the callbacks noticed since begin_call(). The error code that comes back from
  // libavcodec does not tell: H.264 turns everything into INVALIDDATA.
  struct Noticed {
    Reason refused = Reason::None;
    bool too_large = false;
    bool interrupted = false;
    bool no_surface = false;
    bool lent = false;
    bool unstarted = false;  // a picture was lent a surface, and the device never heard of it
    accel::Severity severity = accel::Severity::None;  // of the answer and of what it hides
    bool agreed = false;  // surfaces were made and named to the driver
  };
  // Before libavcodec is called; `sync_point`: of the packet that it gets.
  void begin_call(bool sync_point);
  // libavcodec's answer to a packet. It has been through Execute and EndFrame by now, or given
  // up, with every surface that it was lent for it.
  virtual void end_call(const AVCodecContext& context, int answer) = 0;
  // The same after the last packet.
  virtual void end_drain(int answer) = 0;
  [[nodiscard]] const Noticed& noticed() const { return noticed_; }

  // To be called from these callbacks of a context.
  void attach(AVCodecContext& context) const;
  [[nodiscard]] AVPixelFormat get_format(AVCodecContext& context, const AVPixelFormat* list);
  [[nodiscard]] virtual int get_buffer(AVCodecContext& context, AVFrame& frame, int flags) = 0;
  // The format of pictures that come out on the device.
  [[nodiscard]] AVPixelFormat pixel_format() const { return pixel_format_; }
  // The surface of such a picture. Null: it is lost, and noticed() says why.
  [[nodiscard]] virtual surface::Lease surface_of(AVFrame& frame) = 0;

  // For surfaces made from now on; empty: the driver's own choice.
  void set_modifiers(std::vector<uint64_t> modifiers) { modifiers_ = std::move(modifiers); }
  // Surfaces of the stream before, to be used where they fit.
  virtual void take_over(std::shared_ptr<surface::Pool> spare) = 0;
  [[nodiscard]] std::shared_ptr<surface::Pool> surfaces() const;

  // The device failed: its surfaces are not used again.
  void distrust_surfaces() { trusted_ = false; }
  void interrupt(bool on);
  [[nodiscard]] BitstreamDecoder::Pools pools() const;

 protected:
  Hwaccel(AVPixelFormat pixel_format, uint32_t surfaces, BufferPtr device)
      : pixel_format_(pixel_format), surfaces_(surfaces), device_(std::move(device)) {}
  // What the stream that `context` has just met needs, as far as its parameters tell;
  // `software` is the format that its pictures would have on the CPU. Refusals:
  // ProfileUnsupported, SizeOutOfRange, ContextNotMade.
  struct Met {
    accel::Need need;
    uint32_t fourcc = 0;  // DRM
    BufferPtr frames;     // of libavcodec's making, not initialised
  };
  [[nodiscard]] Result<Met> meet(AVCodecContext& context, AVPixelFormat software) const;
  // Why libavcodec has no parameters for it; `rc` is avcodec_get_hw_frames_parameters' answer.
  [[nodiscard]] virtual Reason reason_without_parameters(const AVCodecContext& context,
                                                         int rc) const = 0;
  // Makes the surfaces for it, or says why not.
  [[nodiscard]] virtual Reason prepare_surfaces(AVCodecContext& context,
                                                AVPixelFormat software) = 0;
  void replace_frames(AVCodecContext& context, BufferPtr frames) const;
  void use_pool(std::shared_ptr<surface::Pool> pool);
  // Before the next one is made: there may not be memory for both. Pictures of it that somebody
  // has keep what they need.
  void drop_pool();

  const AVPixelFormat pixel_format_;
  const uint32_t surfaces_;
  const BufferPtr device_;
  std::vector<uint64_t> modifiers_;
  Noticed noticed_;
  bool at_sync_point_ = true;
  bool trusted_ = true;

  // Other threads interrupt the wait for a surface.
  mutable std::mutex pool_lock_;
  std::shared_ptr<surface::Pool> pool_;  // the newest; older ones live on their pictures
  bool interrupted_ = false;
};

// What libavcodec's answer says of the device, where `severe` is its number for a call into the
// driver that failed.
[[nodiscard]] inline accel::Severity severity_of(int answer, int severe) {
  if (answer >= 0) return accel::Severity::None;
  return answer == severe ? accel::Severity::Severe : accel::Severity::Significant;
}

}  // namespace dxva::decode
