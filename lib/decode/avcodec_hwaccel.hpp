// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// libavcodec's VA-API half with our surfaces under it: the device it sees, the surfaces it
// decodes into, and what its callbacks noticed. It never makes a surface itself.

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "lib/accel/negotiation.hpp"
#include "lib/decode/avcodec_handles.hpp"
#include "lib/decode/bitstream_decoder.hpp"
#include "lib/va/display.hpp"
#include "lib/va/surface_pool.hpp"
#include "lib/va/watched_display.hpp"

namespace dxva::decode {

// The surface under a picture of format AV_PIX_FMT_VAAPI that Hwaccel lent.
[[nodiscard]] va::SurfaceLease surface_of(const AVFrame& frame);

// Thread rules: as BitstreamDecoder; interrupt() and pools() come from any thread.
class Hwaccel {
 public:
  // `surfaces` is what the decoder itself needs and what downstream may have.
  // Refusals: NoDevice.
  [[nodiscard]] static Result<std::unique_ptr<Hwaccel>> create(
      Codec codec, std::shared_ptr<va::Display> display, uint32_t surfaces);

  // What the callbacks noticed since begin_call(). The error code that comes back from
  // libavcodec does not tell: H.264 turns everything into INVALIDDATA.
  struct Noticed {
    Reason refused = Reason::None;
    bool too_large = false;
    bool interrupted = false;
    bool no_surface = false;
    bool lent = false;
    accel::Severity severity = accel::Severity::None;  // of the answer and of what it hides
    bool agreed = false;  // surfaces were made and named to the driver
  };
  void begin_call() { noticed_ = {}; }
  // libavcodec's answer to a packet. It has been through Execute and EndFrame by now, or given
  // up, with every surface that it was lent for it.
  void end_call(const AVCodecContext& context, int answer);
  [[nodiscard]] const Noticed& noticed() const { return noticed_; }

  // To be called from these callbacks of a context.
  void attach(AVCodecContext& context) const;
  [[nodiscard]] AVPixelFormat get_format(AVCodecContext& context, const AVPixelFormat* list);
  [[nodiscard]] int get_buffer(AVCodecContext& context, AVFrame& frame);

  // For surfaces made from now on; empty: the driver's own choice.
  void set_modifiers(std::vector<uint64_t> modifiers) { modifiers_ = std::move(modifiers); }
  // Surfaces of the stream before, to be used where they fit.
  void take_over(std::shared_ptr<va::SurfacePool> spare);
  [[nodiscard]] std::shared_ptr<va::SurfacePool> surfaces() const;

  // The device failed: its surfaces are not used again.
  void distrust_surfaces() { trusted_ = false; }
  void interrupt(bool on);
  [[nodiscard]] BitstreamDecoder::Pools pools() const;

 private:
  Hwaccel(Codec codec, std::shared_ptr<va::Display> display,
          std::shared_ptr<va::WatchedDisplay> watched, uint32_t surfaces, BufferPtr device);
  [[nodiscard]] bool serves(const accel::Need& need,
                            const std::vector<uint64_t>& modifiers) const;
  void drop_pool();
  [[nodiscard]] Reason reason_without_parameters(const AVCodecContext& context, int rc) const;
  [[nodiscard]] Reason prepare_surfaces(AVCodecContext& context, AVPixelFormat software);

  const Codec codec_;
  const std::shared_ptr<va::Display> display_;
  const std::shared_ptr<va::WatchedDisplay> watched_;  // null: libavcodec tells of all failures
  const uint32_t surfaces_;
  const BufferPtr device_;
  std::vector<uint64_t> modifiers_;
  Noticed noticed_;
  bool trusted_ = true;

  // Other threads interrupt the wait for a surface.
  mutable std::mutex pool_lock_;
  std::shared_ptr<va::SurfacePool> pool_;  // the newest; older ones live on their pictures
  bool interrupted_ = false;
};

}  // namespace dxva::decode
