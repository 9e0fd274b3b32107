// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// libavcodec's VA-API half with our surfaces under it: the device it sees, and the surfaces it
// decodes into. It never makes a surface itself.

#include "lib/decode/avcodec_hwaccel.hpp"
#include "lib/va/surface_pool.hpp"
#include "lib/va/watched_display.hpp"

namespace dxva::decode {

// Thread rules: as Hwaccel.
class VaHwaccel final : public Hwaccel {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Hwaccel>> create(
      Codec codec, std::shared_ptr<va::Display> display, uint32_t surfaces);

  void end_call(const AVCodecContext& context, int answer) override;
  // All pictures were begun by packets.
  void end_drain(int) override {}
  [[nodiscard]] int get_buffer(AVCodecContext& context, AVFrame& frame, int flags) override;
  [[nodiscard]] surface::Lease surface_of(AVFrame& frame) override;
  void take_over(std::shared_ptr<surface::Pool> spare) override;

 private:
  VaHwaccel(Codec codec, std::shared_ptr<va::Display> display,
            std::shared_ptr<va::WatchedDisplay> watched, uint32_t surfaces, BufferPtr device);
  [[nodiscard]] std::shared_ptr<va::SurfacePool> own_pool() const;
  [[nodiscard]] bool serves(const accel::Need& need,
                            const std::vector<uint64_t>& modifiers) const;
  [[nodiscard]] Reason reason_without_parameters(const AVCodecContext& context,
                                                 int rc) const override;
  [[nodiscard]] Reason prepare_surfaces(AVCodecContext& context,
                                        AVPixelFormat software) override;

  const Codec codec_;
  const std::shared_ptr<va::Display> display_;
  const std::shared_ptr<va::WatchedDisplay> watched_;
};

}  // namespace dxva::decode
