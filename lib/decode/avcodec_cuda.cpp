// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/avcodec_cuda.hpp"

// Of CUDA's header libavutil's needs two names, and we have no CUDA.
#define CUDA_VERSION 0
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_cuda.h>
}

#include <algorithm>
#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/decode/device_support.hpp"

namespace dxva::decode {

namespace {

// NVDEC's pictures that are not the codec's: those whose copy is still being made. libavcodec
// has as many to spare when it makes the pool itself.
constexpr int kToSpare = 3;
constexpr int kMostPictures = 32;  // NVDEC's own limit

constexpr int even(int pixels) {
  return (pixels + 1) & ~1;
}

// What a hw_frames_ctx of libavcodec's keeps, and our slots for its pictures: those of the size
// before still come out when there is a new one.
struct FramesOwner {
  std::shared_ptr<cuda::SlotPool> pool;
  AVBufferPool* nothing = nullptr;
};

FramesOwner& frames_owner(AVBufferRef* frames) {
  return *static_cast<FramesOwner*>(
      reinterpret_cast<AVHWFramesContext*>(frames->data)->user_opaque);
}

// Pictures have no memory before they come out: then they are NVDEC's. libavutil would allocate
// device memory for all of them.
AVBufferRef* allocate_nothing(size_t) {
  static uint8_t nowhere = 0;
  return av_buffer_create(
      &nowhere, 0, [](void*, uint8_t*) {}, nullptr, 0);
}

// What must be seen by sync(): the picture is lost, and the stream goes on in software with it.
class LostPicture final : public surface::Surface {
 public:
  LostPicture(cuda::SlotPool& pool, Error why)
      : Surface(pool, 0, pool.layout().fourcc, pool.layout().width, pool.layout().height),
        why_(std::move(why)) {
    if (why_.reason == Reason::None) why_.reason = Reason::SurfacesNotMade;
  }
  uint32_t id() const override { return 0; }
  Result<accel::Severity> sync() override { return why_; }
  Result<Export> exported() override { return why_; }
  Result<std::unique_ptr<surface::Mapping>> map(
      surface::Reads, std::shared_ptr<const dmabuf::ExternalFrame>) const override {
    return why_;
  }

 private:
  Error why_;
};

}  // namespace

Result<std::unique_ptr<Hwaccel>> CudaHwaccel::create(Codec codec,
                                                     std::shared_ptr<cuda::Device> device,
                                                     uint32_t surfaces) {
  auto stream = cuda::Stream::create(device);
  if (!stream) {
    if (device->look_for_loss()) stream.error().reason = Reason::DeviceLost;
    return stream.error();
  }
  BufferPtr hardware(av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA));
  if (!hardware)
    return Error{.code = ErrorCode::Unsupported,
                 .call = "av_hwdevice_ctx_alloc",
                 .text = "this libavcodec was built without CUDA",
                 .reason = Reason::NoDevice};
  auto* context = reinterpret_cast<AVHWDeviceContext*>(hardware->data);
  auto* cuda = static_cast<AVCUDADeviceContext*>(context->hwctx);
  cuda->cuda_ctx = device->context();
  cuda->stream = (*stream)->get();
  // Pictures outlive the decoder and need both to the end.
  context->user_opaque = new std::shared_ptr<cuda::Stream>(*stream);
  context->free = [](AVHWDeviceContext* dying) {
    delete static_cast<std::shared_ptr<cuda::Stream>*>(dying->user_opaque);
  };
  if (const int rc = av_hwdevice_ctx_init(hardware.get()); rc < 0)
    return av_error(ErrorCode::Unsupported, "av_hwdevice_ctx_init", rc, Reason::NoDevice);
  // make_unique cannot reach the private constructor.
  return std::unique_ptr<Hwaccel>(
      new CudaHwaccel(std::move(*stream), codec, surfaces, std::move(hardware)));
}

Reason CudaHwaccel::refusal_of(const accel::Need& need) const {
  const auto caps = stream_->device()->decode_caps(cuda_codec(codec_), need.bit_depth);
  if (!caps) return Reason::ProfileUnsupported;
  constexpr uint32_t kMacroblockPixels = 256;
  const bool fits =
      need.width >= caps->min_width && need.height >= caps->min_height &&
      need.width <= caps->max_width && need.height <= caps->max_height &&
      uint64_t{need.width} * need.height / kMacroblockPixels <= caps->max_macroblocks;
  return fits ? Reason::None : Reason::SizeOutOfRange;
}

std::shared_ptr<cuda::SlotPool> CudaHwaccel::pool_for(const Met& met) {
  const auto has = std::static_pointer_cast<cuda::SlotPool>(surfaces());
  const auto wanted = cuda::SlotLayout::of(met.fourcc, met.need.width, met.need.height);
  if (has && has->layout() == wanted) return has;
  drop_pool();
  return cuda::SlotPool::create(stream_, {.fourcc = met.fourcc,
                                          .width = met.need.width,
                                          .height = met.need.height,
                                          .count = surfaces_});
}

Reason CudaHwaccel::prepare_surfaces(AVCodecContext& context, AVPixelFormat software) {
  auto met = meet(context, software);
  if (!met) return met.error().reason;
  // libavcodec makes a new NVDEC decoder now, and that has none of the pictures of the one
  // before. A stream that changes its size and goes on predicting would be shown wrong.
  const Coded coded{.width = context.coded_width, .height = context.coded_height};
  if (scales_references() && decoding_ && !at_sync_point_ && coded != coded_)
    return Reason::SizeOutOfRange;
  if (const Reason refused = refusal_of(met->need); refused != Reason::None) return refused;

  // libavcodec makes NVDEC's decoder of this size in a moment. For JPEG one of an odd height
  // has no room for the last row of chroma. libavcodec's own JPEG half looks at neither again.
  if (codec_ == Codec::Jpeg) {
    context.coded_width = even(context.coded_width);
    context.coded_height = even(context.coded_height);
  }
  auto pool = pool_for(*met);
  coded_ = coded;
  auto* description = reinterpret_cast<AVHWFramesContext*>(met->frames->data);
  description->initial_pool_size =
      std::min(description->initial_pool_size + kToSpare,
               std::max(kMostPictures, description->initial_pool_size));
  auto* owner =
      new FramesOwner{.pool = pool, .nothing = av_buffer_pool_init(0, allocate_nothing)};
  description->user_opaque = owner;
  description->pool = owner->nothing;
  description->free = [](AVHWFramesContext* dying) {
    auto* gone = static_cast<FramesOwner*>(dying->user_opaque);
    av_buffer_pool_uninit(&gone->nothing);
    delete gone;
  };
  if (av_hwframe_ctx_init(met->frames.get()) < 0) return Reason::SurfacesNotMade;
#ifdef AV_HWACCEL_FLAG_UNSAFE_OUTPUT  // FFmpeg 6.1
  // Else each picture is copied once more, into one that may be kept for ever.
  context.hwaccel_flags |= AV_HWACCEL_FLAG_UNSAFE_OUTPUT;
#endif
  DXVA_DEBUG(Decode, "NVDEC with %d pictures of %dx%d %s", description->initial_pool_size,
             description->width, description->height, fourcc_text(met->fourcc).c_str());
  replace_frames(context, std::move(met->frames));
  use_pool(std::move(pool));
  return Reason::None;
}

int CudaHwaccel::get_buffer(AVCodecContext& context, AVFrame& frame, int flags) {
  if (!context.hw_frames_ctx) return AVERROR(EINVAL);
  // NVDEC stretches every picture to the size that its decoder was made for, so one of another
  // size (AV1 changes it without get_format) needs another decoder, not only a larger one.
  const auto* agreed = reinterpret_cast<const AVHWFramesContext*>(context.hw_frames_ctx->data);
  const bool fits =
      even(frame.width) == even(agreed->width) && even(frame.height) == even(agreed->height);
  // By a single column as well, where a picture may be of any size.
  const bool stretched =
      scales_references() && coded_ != Coded{.width = frame.width, .height = frame.height};
  if (!fits || stretched) {
    noticed_.too_large = true;
    return AVERROR(EINVAL);
  }
  noticed_.lent = true;
  decoding_ = true;
  return avcodec_default_get_buffer2(&context, &frame, flags);
}

surface::Lease CudaHwaccel::surface_of(AVFrame& frame) {
  FramesOwner& owner = frames_owner(frame.hw_frames_ctx);
  const auto* frames = reinterpret_cast<const AVHWFramesContext*>(frame.hw_frames_ctx->data);
  cuda::Slot::Source source{.planes = {}, .stream = stream_->get(), .owner = nullptr};
  for (size_t plane = 0; plane < source.planes.size(); ++plane)
    source.planes[plane] = {.address = reinterpret_cast<uintptr_t>(frame.data[plane]),
                            .pitch_bytes = static_cast<uint32_t>(frame.linesize[plane])};
  // NVDEC's pictures have an even number of rows; libavcodec counts the frame's.
  if (frame.height % 2 != 0 && frame.linesize[0] == frame.linesize[1] &&
      frame.data[1] == frame.data[0] + ptrdiff_t{frame.linesize[0]} * frame.height)
    source.planes[1].address += static_cast<uint64_t>(frame.linesize[0]) *
                                static_cast<uint64_t>(even(frames->height) - frame.height);
  AVFrame* kept = av_frame_alloc();
  av_frame_move_ref(kept, &frame);
  source.owner =
      std::shared_ptr<const void>(kept, [](AVFrame* dying) { av_frame_free(&dying); });

  auto lease = owner.pool->copy(std::move(source));
  if (lease) return *lease;
  if (lease.error().code == ErrorCode::Busy) {
    noticed_.interrupted = true;
    return nullptr;
  }
  DXVA_INFO(Decode, "no place for a picture: %s", lease.error().describe().c_str());
  if (owner.pool->device_is_lost()) lease.error().reason = Reason::DeviceLost;
  return std::shared_ptr<surface::Surface>(
      new LostPicture(*owner.pool, lease.error()),
      [pool = owner.pool](surface::Surface* dying) { delete dying; });
}

// A call into CUDA or NVDEC that failed is EXTERNAL, and nothing else is.
void CudaHwaccel::judge(int answer) {
  noticed_.severity = severity_of(answer, AVERROR_EXTERNAL);
  if (accel::stops(noticed_.severity) && stream_->device()->look_for_loss())
    noticed_.severity = accel::Severity::Fatal;
}

void CudaHwaccel::end_call(const AVCodecContext&, int answer) {
  judge(answer);
}

void CudaHwaccel::end_drain(int answer) {
  judge(answer);
}

void CudaHwaccel::take_over(std::shared_ptr<surface::Pool> spare) {
  auto pool = std::dynamic_pointer_cast<cuda::SlotPool>(std::move(spare));
  if (!pool || pool->stream()->device() != stream_->device()) return;
  const std::lock_guard guard(pool_lock_);
  pool_ = std::move(pool);
}

}  // namespace dxva::decode
