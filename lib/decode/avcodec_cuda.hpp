// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// libavcodec's NVDEC half. NVDEC decodes into pictures of its own; each one that comes out is
// copied, on the device, into a slot of ours that OpenGL can be given (lib/cuda).

#include "lib/cuda/slot_pool.hpp"
#include "lib/decode/avcodec_hwaccel.hpp"

namespace dxva::decode {

// Thread rules: as Hwaccel.
class CudaHwaccel final : public Hwaccel {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Hwaccel>> create(
      Codec codec, std::shared_ptr<cuda::Device> device, uint32_t surfaces);

  void end_call(const AVCodecContext& context, int answer) override;
  void end_drain(int answer) override;
  [[nodiscard]] int get_buffer(AVCodecContext& context, AVFrame& frame, int flags) override;
  [[nodiscard]] surface::Lease surface_of(AVFrame& frame) override;
  void take_over(std::shared_ptr<surface::Pool> spare) override;

 private:
  CudaHwaccel(std::shared_ptr<cuda::Stream> stream, Codec codec, uint32_t surfaces,
              BufferPtr device)
      : Hwaccel(AV_PIX_FMT_CUDA, surfaces, std::move(device)),
        stream_(std::move(stream)),
        codec_(codec) {}
  [[nodiscard]] Reason refusal_of(const accel::Need& need) const;
  [[nodiscard]] std::shared_ptr<cuda::SlotPool> pool_for(const Met& met);
  // Of the pixel format only: it asks no device.
  [[nodiscard]] Reason reason_without_parameters(const AVCodecContext&, int) const override {
    return Reason::ProfileUnsupported;
  }
  [[nodiscard]] Reason prepare_surfaces(AVCodecContext& context,
                                        AVPixelFormat software) override;
  void judge(int answer);
  // A picture may be of another size than those that it is predicted from.
  [[nodiscard]] bool scales_references() const {
    return codec_ == Codec::Vp9 || codec_ == Codec::Av1;
  }

  struct Coded {  // pixels
    int width = 0;
    int height = 0;
    friend bool operator==(const Coded&, const Coded&) = default;
  };
  const std::shared_ptr<cuda::Stream> stream_;
  const Codec codec_;
  bool decoding_ = false;  // a picture was begun
  Coded coded_;            // as which NVDEC's decoder was made
};

}  // namespace dxva::decode
