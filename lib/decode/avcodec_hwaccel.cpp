// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/avcodec_hwaccel.hpp"

extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_vaapi.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/decode/device_support.hpp"

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

// EIO is vaBeginPicture, vaRenderPicture or vaEndPicture failing, and nothing else is.
accel::Severity severity_of(int answer) {
  if (answer >= 0) return accel::Severity::None;
  return answer == AVERROR(EIO) ? accel::Severity::Severe : accel::Severity::Significant;
}

// Of one picture, in a packet each.
bool has_field_pairs(AVCodecID codec) {
  return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_MPEG2VIDEO;
}

// AV_HWACCEL_FLAG_ALLOW_PROFILE_MISMATCH lets libavcodec give streams to a device of another
// profile even where only the picture's format fits. Tools that have no place in VA's
// parameters would then be left out, without a complaint: H.265's later profiles (range
// extensions, screen content) to a Main device, H.264's lossless macroblocks (High 4:4:4
// Predictive, whatever the chroma format is) and Extended's data partitions to a High device.
bool has_tools_beyond_va(const AVCodecContext& context) {
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

// Whose libavcodec decoder goes on without a slice that the driver had no buffer for, and tells
// nobody. The others return the failure.
bool hides_refused_buffers(Codec codec) {
  return codec == Codec::H264;
}

// What libavcodec's pictures need to the end, which outlive the decoder.
struct DeviceOwner {
  std::shared_ptr<va::Display> display;
  std::shared_ptr<va::WatchedDisplay> watched;  // null: not needed
};

// Surfaces that are larger than a stream needs are used again up to so many times its size.
constexpr uint64_t kMostWaste = 4;

// The pool behind a hw_frames_ctx, which outlives the decoder as long as pictures of it do.
struct FramesOwner {
  std::shared_ptr<va::SurfacePool> pool;
  AVBufferPool* derive_probe = nullptr;
};

FramesOwner& frames_owner(AVBufferRef* frames) {
  return *static_cast<FramesOwner*>(
      reinterpret_cast<AVHWFramesContext*>(frames->data)->user_opaque);
}

// av_hwframe_ctx_init tries vaDeriveImage on one surface, and would make surfaces of its own if
// there were no pool to take that one from. Nothing else ever asks this pool.
AVBufferRef* derive_probe_alloc(void* opaque, size_t) {
  const auto* owner = static_cast<const FramesOwner*>(opaque);
  const VASurfaceID id = owner->pool->ids().front();
  return av_buffer_create(
      reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(id)), sizeof id, [](void*, uint8_t*) {},
      nullptr, AV_BUFFER_FLAG_READONLY);
}

}  // namespace

va::SurfaceLease surface_of(const AVFrame& frame) {
  return *static_cast<va::SurfaceLease*>(av_buffer_get_opaque(frame.buf[0]));
}

Hwaccel::Hwaccel(Codec codec, std::shared_ptr<va::Display> display,
                 std::shared_ptr<va::WatchedDisplay> watched, uint32_t surfaces,
                 BufferPtr device)
    : codec_(codec),
      display_(std::move(display)),
      watched_(std::move(watched)),
      surfaces_(surfaces),
      device_(std::move(device)) {}

Result<std::unique_ptr<Hwaccel>> Hwaccel::create(Codec codec,
                                                 std::shared_ptr<va::Display> display,
                                                 uint32_t surfaces) {
  BufferPtr device(av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_VAAPI));
  if (!device)
    return Error{.code = ErrorCode::Unsupported,
                 .call = "av_hwdevice_ctx_alloc",
                 .text = "this libavcodec was built without VA-API",
                 .reason = Reason::NoDevice};
  auto watched = hides_refused_buffers(codec)
                     ? std::make_shared<va::WatchedDisplay>(display->get())
                     : nullptr;
  auto* context = reinterpret_cast<AVHWDeviceContext*>(device->data);
  static_cast<AVVAAPIDeviceContext*>(context->hwctx)->display =
      watched ? watched->get() : display->get();
  context->user_opaque = new DeviceOwner{.display = display, .watched = watched};
  context->free = [](AVHWDeviceContext* dying) {
    delete static_cast<DeviceOwner*>(dying->user_opaque);
  };
  if (const int rc = av_hwdevice_ctx_init(device.get()); rc < 0)
    return av_error(ErrorCode::Unsupported, "av_hwdevice_ctx_init", rc, Reason::NoDevice);
  // make_unique cannot reach the private constructor.
  return std::unique_ptr<Hwaccel>(
      new Hwaccel(codec, std::move(display), std::move(watched), surfaces, std::move(device)));
}

void Hwaccel::attach(AVCodecContext& context) const {
  context.hw_device_ctx = av_buffer_ref(device_.get());
}

AVPixelFormat Hwaccel::get_format(AVCodecContext& context, const AVPixelFormat* list) {
  bool offered = false;
  AVPixelFormat software = AV_PIX_FMT_NONE;
  for (const AVPixelFormat* format = list; *format != AV_PIX_FMT_NONE; ++format) {
    if (*format == AV_PIX_FMT_VAAPI) offered = true;
    if (!is_hardware(*format)) software = *format;
  }
  // Not offered a second time: vaCreateConfig or vaCreateContext failed, and libavcodec asks
  // again.
  const Reason not_offered =
      noticed_.agreed ? Reason::ContextNotMade : Reason::ProfileUnsupported;
  const Reason refused = offered ? prepare_surfaces(context, software) : not_offered;
  if (refused == Reason::None) {
    noticed_.agreed = true;
    return AV_PIX_FMT_VAAPI;
  }
  // The context could go on in software, but in one thread, and not for AV1. The decoder looks
  // at this mark and starts again with a context made for it.
  noticed_.refused = refused;
  return software;
}

// libavcodec asks after each flush, and at each change of the stream. The surfaces that are
// there do again where they are large enough, and everybody downstream knows them already;
// those of a device that failed meanwhile are not trusted.
bool Hwaccel::serves(const accel::Need& need, const std::vector<uint64_t>& modifiers) const {
  if (!pool_ || !trusted_) return false;
  const va::SurfacePool::Config& has = pool_->config();
  if (has.modifiers != modifiers) return false;
  const accel::Reply reply = accel::negotiate(
      need,
      {.fourcc = has.fourcc, .width = has.width, .height = has.height, .surfaces = has.count});
  if (reply.answer != accel::Answer::YesBut) return reply.answer == accel::Answer::Yes;
  // nvidia-vaapi-driver finds the decoded chroma by the surface's height, not the picture's.
  if (display_->vendor().find("NVDEC") != std::string::npos) return false;
  return uint64_t{has.width} * has.height <= kMostWaste * need.width * need.height;
}

// Before the next one is made: there may not be memory for both. Pictures of it that somebody
// has keep what they need.
void Hwaccel::drop_pool() {
  const std::lock_guard guard(pool_lock_);
  // A packet of several frames (VP9, AV1) may change the size in the middle; those before are
  // through.
  if (pool_) pool_->end_pairs(accel::Severity::None);
  pool_.reset();
}

// EIO is vaCreateConfig's failure; a profile that the driver does not list is EINVAL or ENOSYS,
// and so is a size that it does not take (vaapi_decode.c, FFmpeg 5.1 and 7.1).
Reason Hwaccel::reason_without_parameters(const AVCodecContext& context, int rc) const {
  if (rc == AVERROR(EIO)) return Reason::ContextNotMade;
  const bool takes_size =
      context.coded_width > 0 && context.coded_height > 0 &&
      device_takes_size(*display_, codec_, static_cast<uint32_t>(context.coded_width),
                        static_cast<uint32_t>(context.coded_height));
  return takes_size ? Reason::ProfileUnsupported : Reason::SizeOutOfRange;
}

// Makes the surfaces for the stream that `context` has just met, or says why not.
Reason Hwaccel::prepare_surfaces(AVCodecContext& context, AVPixelFormat software) {
  const AVPixFmtDescriptor* stream = av_pix_fmt_desc_get(software);
  // Gray and RGB streams: drivers take their parameters and decode something else.
  if (!stream || (stream->flags & AV_PIX_FMT_FLAG_RGB) || stream->nb_components < 3)
    return Reason::ProfileUnsupported;
  if (has_tools_beyond_va(context)) return Reason::ProfileUnsupported;

  AVBufferRef* raw = nullptr;
  if (const int rc =
          avcodec_get_hw_frames_parameters(&context, device_.get(), AV_PIX_FMT_VAAPI, &raw);
      rc < 0)
    return reason_without_parameters(context, rc);
  BufferPtr frames(raw);
  auto* description = reinterpret_cast<AVHWFramesContext*>(frames->data);

  if (description->width <= 0 || description->height <= 0) return Reason::SizeOutOfRange;
  const accel::Need need{.bit_depth = static_cast<uint32_t>(stream->comp[0].depth),
                         .is_420 = stream->log2_chroma_w == 1 && stream->log2_chroma_h == 1,
                         .width = static_cast<uint32_t>(description->width),
                         .height = static_cast<uint32_t>(description->height),
                         .surfaces = surfaces_};
  const uint32_t fourcc = fourcc_of(description->sw_format);
  const accel::Reply offered = accel::negotiate(
      need,
      {.fourcc = fourcc, .width = need.width, .height = need.height, .surfaces = surfaces_});
  if (offered.answer == accel::Answer::No) return offered.reason;

  va::SurfacePool::Config wanted{.fourcc = fourcc,
                                 .width = need.width,
                                 .height = need.height,
                                 .count = surfaces_,
                                 .modifiers = modifiers_};
  const bool reuse = serves(need, wanted.modifiers);
  if (!reuse) drop_pool();
  auto pool = reuse ? Result(pool_) : va::SurfacePool::create(display_, wanted);
  if (!pool && !modifiers_.empty()) {
    DXVA_INFO(Decode, "no surfaces with these modifiers: %s", pool.error().describe().c_str());
    modifiers_.clear();
    wanted.modifiers.clear();
    pool = va::SurfacePool::create(display_, wanted);
  }
  if (!pool) {
    DXVA_DEBUG(Decode, "no surfaces: %s", pool.error().describe().c_str());
    return pool.error().reason != Reason::None ? pool.error().reason : Reason::SurfacesNotMade;
  }

  auto* owner = new FramesOwner{.pool = *pool};
  owner->derive_probe =
      av_buffer_pool_init2(sizeof(VASurfaceID), owner, derive_probe_alloc, nullptr);
  description->user_opaque = owner;
  description->free = [](AVHWFramesContext* dying) {
    auto* gone = static_cast<FramesOwner*>(dying->user_opaque);
    av_buffer_pool_uninit(&gone->derive_probe);
    delete gone;
  };
  description->pool = owner->derive_probe;
  description->initial_pool_size = 0;
  if (av_hwframe_ctx_init(frames.get()) < 0) return Reason::ProfileUnsupported;

  // libavcodec gives exactly this list to vaCreateContext. It is set after the init, which
  // would overwrite it; libavutil frees it.
  const std::vector<VASurfaceID> ids = (*pool)->ids();
  auto* hardware = static_cast<AVVAAPIFramesContext*>(description->hwctx);
  hardware->surface_ids =
      static_cast<VASurfaceID*>(av_memdup(ids.data(), ids.size() * sizeof(VASurfaceID)));
  hardware->nb_surfaces = static_cast<int>(ids.size());

  av_buffer_unref(&context.hw_frames_ctx);
  context.hw_frames_ctx = frames.release();
  DXVA_DEBUG(Decode, "%zu surfaces of %dx%d %s", ids.size(), description->width,
             description->height, fourcc_text(fourcc).c_str());

  const std::lock_guard guard(pool_lock_);
  pool_ = *pool;
  trusted_ = true;
  pool_->new_queue();
  pool_->interrupt(interrupted_);
  return Reason::None;
}

// Called where a picture begins: there is nothing to copy yet and every error loses the
// picture, so errors are for what cannot be helped.
int Hwaccel::get_buffer(AVCodecContext& context, AVFrame& frame) {
  if (!context.hw_frames_ctx) return AVERROR(EINVAL);
  va::SurfacePool& pool = *frames_owner(context.hw_frames_ctx).pool;
  // What the driver's context was made for; the surfaces may be larger.
  const auto* agreed = reinterpret_cast<const AVHWFramesContext*>(context.hw_frames_ctx->data);
  if (frame.width <= 0 || frame.height <= 0 || frame.width > agreed->width ||
      frame.height > agreed->height) {
    noticed_.too_large = true;
    return AVERROR(EINVAL);
  }
  auto lease = pool.acquire();
  if (!lease) {
    const bool interrupted = lease.error().code == ErrorCode::Busy;
    (interrupted ? noticed_.interrupted : noticed_.no_surface) = true;
    return interrupted ? AVERROR_EXIT : AVERROR(ENOMEM);
  }
  noticed_.lent = true;
  auto* held = new va::SurfaceLease(std::move(*lease));
  auto* id = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>((*held)->id()));
  frame.buf[0] = av_buffer_create(
      id, sizeof(VASurfaceID),
      [](void* opaque, uint8_t*) { delete static_cast<va::SurfaceLease*>(opaque); }, held, 0);
  if (!frame.buf[0]) {
    delete held;
    return AVERROR(ENOMEM);
  }
  frame.data[3] = id;
  frame.extended_data = frame.data;
  frame.hw_frames_ctx = av_buffer_ref(context.hw_frames_ctx);
  return frame.hw_frames_ctx ? 0 : AVERROR(ENOMEM);
}

void Hwaccel::end_call(const AVCodecContext& context, int answer) {
  if (!pool_) return;
  accel::Severity severity = severity_of(answer);
  if (watched_ && watched_->take_refused_buffers() > 0)
    severity = std::max(severity, accel::Severity::Severe);
  if (accel::stops(severity) && pool_->device_is_lost()) severity = accel::Severity::Fatal;
  noticed_.severity = severity;
  pool_->end_pairs(severity);
  // A packet that needed no surface belongs to the picture before it: its second field, or
  // nothing but headers, which does no harm.
  if (!noticed_.lent && has_field_pairs(context.codec_id)) pool_->second_field(severity);
}

void Hwaccel::take_over(std::shared_ptr<va::SurfacePool> spare) {
  if (!spare || spare->display() != display_) return;
  const std::lock_guard guard(pool_lock_);
  pool_ = std::move(spare);
}

std::shared_ptr<va::SurfacePool> Hwaccel::surfaces() const {
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
  return {.surfaces = pool_->config().count, .late_surfaces = pool_->late_surfaces()};
}

}  // namespace dxva::decode
