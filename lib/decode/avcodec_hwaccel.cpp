// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/avcodec_hwaccel.hpp"

extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/pixdesc.h>
}

#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/decode/avcodec_cuda.hpp"
#include "lib/decode/avcodec_va.hpp"

namespace dxva::decode {

namespace {

uint32_t fourcc_of(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_NV12:
      return format::kNV12;
    case AV_PIX_FMT_P010LE:
      return format::kP010;
    default:
      return 0;
  }
}

bool is_hardware(AVPixelFormat format) {
  const AVPixFmtDescriptor* description = av_pix_fmt_desc_get(format);
  return description && (description->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0;
}

// AV_HWACCEL_FLAG_ALLOW_PROFILE_MISMATCH lets libavcodec give streams to a device of another
// profile even where only the picture's format fits. Tools that have no place in the device's
// parameters would then be left out, without a complaint: H.265's later profiles (range
// extensions, screen content) to a Main device, H.264's lossless macroblocks (High 4:4:4
// Predictive, whatever the chroma format is) and Extended's data partitions to a High device.
bool has_tools_beyond_devices(const AVCodecContext& context) {
  constexpr int kMainStillPicture = 3;  // H.265 A.3: general_profile_idc
  if (context.codec_id == AV_CODEC_ID_HEVC) return context.profile > kMainStillPicture;
  if (context.codec_id != AV_CODEC_ID_H264) return false;
  // H.264 A.2: profile_idc; libavcodec adds flags for constraint sets above it.
  switch (context.profile & 0xff) {
    case 88:   // Extended
    case 144:  // High 4:4:4, withdrawn
    case 244:  // High 4:4:4 Predictive
    case 44:   // CAVLC 4:4:4 Intra
      return true;
    default:
      return false;
  }
}

}  // namespace

Result<std::unique_ptr<Hwaccel>> Hwaccel::create(Codec codec, const Device& device,
                                                 uint32_t surfaces) {
  if (device.va) return VaHwaccel::create(codec, device.va, surfaces);
  return CudaHwaccel::create(codec, device.cuda, surfaces);
}

void Hwaccel::begin_call(bool sync_point) {
  noticed_ = {};
  at_sync_point_ = sync_point;
}

void Hwaccel::attach(AVCodecContext& context) const {
  context.hw_device_ctx = av_buffer_ref(device_.get());
}

AVPixelFormat Hwaccel::get_format(AVCodecContext& context, const AVPixelFormat* list) {
  bool offered = false;
  AVPixelFormat software = AV_PIX_FMT_NONE;
  for (const AVPixelFormat* format = list; *format != AV_PIX_FMT_NONE; ++format) {
    if (*format == pixel_format_) offered = true;
    if (!is_hardware(*format)) software = *format;
  }
  // Not offered a second time: the device's decoder could not be made (vaCreateConfig,
  // vaCreateContext, cuvidCreateDecoder), and libavcodec asks again.
  const Reason not_offered =
      noticed_.agreed ? Reason::ContextNotMade : Reason::ProfileUnsupported;
  const Reason refused = offered ? prepare_surfaces(context, software) : not_offered;
  if (refused == Reason::None) {
    noticed_.agreed = true;
    return pixel_format_;
  }
  // The context could go on in software, but in one thread, and not for AV1. The decoder looks
  // at this mark and starts again with a context made for it. Nor would the packet get to its
  // end: that of H.265 has set itself up for the device by now, and writes its SAO edges to
  // memory that it has not allocated (FFmpeg 5.1).
  noticed_.refused = refused;
  return AV_PIX_FMT_NONE;
}

Result<Hwaccel::Met> Hwaccel::meet(AVCodecContext& context, AVPixelFormat software) const {
  const AVPixFmtDescriptor* stream = av_pix_fmt_desc_get(software);
  // Gray and RGB streams: drivers take their parameters and decode something else.
  if (!stream || (stream->flags & AV_PIX_FMT_FLAG_RGB) || stream->nb_components < 3)
    return refusal(Reason::ProfileUnsupported, "no colour, or RGB");
  if (has_tools_beyond_devices(context))
    return refusal(Reason::ProfileUnsupported, "a profile that devices do not know");

  AVBufferRef* raw = nullptr;
  if (const int rc =
          avcodec_get_hw_frames_parameters(&context, device_.get(), pixel_format_, &raw);
      rc < 0)
    return av_error(ErrorCode::Unsupported, "avcodec_get_hw_frames_parameters", rc,
                    reason_without_parameters(context, rc));
  Met out{.frames = BufferPtr(raw)};
  const auto* description = reinterpret_cast<const AVHWFramesContext*>(raw->data);
  if (description->width <= 0 || description->height <= 0)
    return refusal(Reason::SizeOutOfRange, "no size");
  out.need = {.bit_depth = static_cast<uint32_t>(stream->comp[0].depth),
              .is_420 = stream->log2_chroma_w == 1 && stream->log2_chroma_h == 1,
              .width = static_cast<uint32_t>(description->width),
              .height = static_cast<uint32_t>(description->height),
              .surfaces = surfaces_};
  out.fourcc = fourcc_of(description->sw_format);
  const accel::Reply offered = accel::negotiate(out.need, {.fourcc = out.fourcc,
                                                           .width = out.need.width,
                                                           .height = out.need.height,
                                                           .surfaces = surfaces_});
  if (offered.answer == accel::Answer::No) return refusal(offered.reason, "other pictures");
  return out;
}

void Hwaccel::replace_frames(AVCodecContext& context, BufferPtr frames) const {
  av_buffer_unref(&context.hw_frames_ctx);
  context.hw_frames_ctx = frames.release();
}

void Hwaccel::use_pool(std::shared_ptr<surface::Pool> pool) {
  const std::lock_guard guard(pool_lock_);
  pool_ = std::move(pool);
  trusted_ = true;
  pool_->new_queue();
  pool_->interrupt(interrupted_);
}

void Hwaccel::drop_pool() {
  const std::lock_guard guard(pool_lock_);
  // A packet of several frames (VP9, AV1) may change the size in the middle; those before are
  // through.
  if (pool_) pool_->end_pairs(accel::Severity::None);
  pool_.reset();
}

std::shared_ptr<surface::Pool> Hwaccel::surfaces() const {
  const std::lock_guard guard(pool_lock_);
  return trusted_ ? pool_ : nullptr;
}

void Hwaccel::interrupt(bool on) {
  const std::lock_guard guard(pool_lock_);
  interrupted_ = on;
  if (pool_) pool_->interrupt(on);
}

BitstreamDecoder::Pools Hwaccel::pools() const {
  const std::lock_guard guard(pool_lock_);
  if (!pool_) return {};
  return {.surfaces = pool_->count(), .late_surfaces = pool_->late_surfaces()};
}

}  // namespace dxva::decode
