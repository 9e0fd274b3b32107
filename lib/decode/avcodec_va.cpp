// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/avcodec_va.hpp"

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

// Of one picture, in a packet each.
bool has_field_pairs(AVCodecID codec) {
  return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_MPEG2VIDEO;
}

// What libavcodec's pictures need to the end, which outlive the decoder.
struct DeviceOwner {
  std::shared_ptr<va::Display> display;
  std::shared_ptr<va::WatchedDisplay> watched;
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

VaHwaccel::VaHwaccel(Codec codec, std::shared_ptr<va::Display> display,
                     std::shared_ptr<va::WatchedDisplay> watched, uint32_t surfaces,
                     BufferPtr device)
    : Hwaccel(AV_PIX_FMT_VAAPI, surfaces, std::move(device)),
      codec_(codec),
      display_(std::move(display)),
      watched_(std::move(watched)) {}

Result<std::unique_ptr<Hwaccel>> VaHwaccel::create(Codec codec,
                                                   std::shared_ptr<va::Display> display,
                                                   uint32_t surfaces) {
  BufferPtr device(av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_VAAPI));
  if (!device)
    return Error{.code = ErrorCode::Unsupported,
                 .call = "av_hwdevice_ctx_alloc",
                 .text = "this libavcodec was built without VA-API",
                 .reason = Reason::NoDevice};
  auto watched = std::make_shared<va::WatchedDisplay>(display->get());
  auto* context = reinterpret_cast<AVHWDeviceContext*>(device->data);
  static_cast<AVVAAPIDeviceContext*>(context->hwctx)->display = watched->get();
  context->user_opaque = new DeviceOwner{.display = display, .watched = watched};
  context->free = [](AVHWDeviceContext* dying) {
    delete static_cast<DeviceOwner*>(dying->user_opaque);
  };
  if (const int rc = av_hwdevice_ctx_init(device.get()); rc < 0)
    return av_error(ErrorCode::Unsupported, "av_hwdevice_ctx_init", rc, Reason::NoDevice);
  // make_unique cannot reach the private constructor.
  return std::unique_ptr<Hwaccel>(new VaHwaccel(codec, std::move(display), std::move(watched),
                                                surfaces, std::move(device)));
}

// libavcodec asks after each flush, and at each change of the stream. The surfaces that are
// there do again where they are large enough, and everybody downstream knows them already;
// those of a device that failed meanwhile are not trusted.
bool VaHwaccel::serves(const accel::Need& need, const std::vector<uint64_t>& modifiers) const {
  const auto pool = own_pool();
  if (!pool || !trusted_) return false;
  const va::SurfacePool::Config& has = pool->config();
  if (has.modifiers != modifiers) return false;
  const accel::Reply reply = accel::negotiate(
      need,
      {.fourcc = has.fourcc, .width = has.width, .height = has.height, .surfaces = has.count});
  if (reply.answer != accel::Answer::YesBut) return reply.answer == accel::Answer::Yes;
  // nvidia-vaapi-driver finds the decoded chroma by the surface's height, not the picture's.
  if (display_->vendor().find("NVDEC") != std::string::npos) return false;
  return uint64_t{has.width} * has.height <= kMostWaste * need.width * need.height;
}

// EIO is vaCreateConfig's failure; a profile that the driver does not list is EINVAL or ENOSYS,
// and so is a size that it does not take (vaapi_decode.c, FFmpeg 5.1 and 7.1).
Reason VaHwaccel::reason_without_parameters(const AVCodecContext& context, int rc) const {
  if (rc == AVERROR(EIO)) return Reason::ContextNotMade;
  const bool takes_size =
      context.coded_width > 0 && context.coded_height > 0 &&
      device_takes_size(*display_, codec_, static_cast<uint32_t>(context.coded_width),
                        static_cast<uint32_t>(context.coded_height));
  return takes_size ? Reason::ProfileUnsupported : Reason::SizeOutOfRange;
}

Reason VaHwaccel::prepare_surfaces(AVCodecContext& context, AVPixelFormat software) {
  auto met = meet(context, software);
  if (!met) return met.error().reason;
  const accel::Need& need = met->need;
  BufferPtr frames = std::move(met->frames);
  auto* description = reinterpret_cast<AVHWFramesContext*>(frames->data);

  va::SurfacePool::Config wanted{.fourcc = met->fourcc,
                                 .width = need.width,
                                 .height = need.height,
                                 .count = surfaces_,
                                 .modifiers = modifiers_};
  const bool reuse = serves(need, wanted.modifiers);
  if (!reuse) drop_pool();
  auto pool = reuse ? Result(own_pool()) : va::SurfacePool::create(display_, wanted);
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

  DXVA_DEBUG(Decode, "%zu surfaces of %dx%d %s", ids.size(), description->width,
             description->height, fourcc_text(met->fourcc).c_str());
  replace_frames(context, std::move(frames));
  use_pool(*pool);
  return Reason::None;
}

// Called where a picture begins: there is nothing to copy yet and every error loses the
// picture, so errors are for what cannot be helped.
int VaHwaccel::get_buffer(AVCodecContext& context, AVFrame& frame, int) {
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

void VaHwaccel::end_call(const AVCodecContext& context, int answer) {
  if (!pool_) return;
  // EIO is vaBeginPicture, vaRenderPicture or vaEndPicture failing, and nothing else is.
  accel::Severity severity = severity_of(answer, AVERROR(EIO));
  if (watched_->take_refused_buffers() > 0)
    severity = std::max(severity, accel::Severity::Severe);
  noticed_.unstarted = watched_->take_unstarted_pictures() > 0;
  if (accel::stops(severity) && pool_->device_is_lost()) severity = accel::Severity::Fatal;
  noticed_.severity = severity;
  pool_->end_pairs(severity);
  // A packet that needed no surface belongs to the picture before it: its second field, or
  // nothing but headers, which does no harm.
  if (!noticed_.lent && has_field_pairs(context.codec_id)) pool_->second_field(severity);
}

surface::Lease VaHwaccel::surface_of(AVFrame& frame) {
  return *static_cast<va::SurfaceLease*>(av_buffer_get_opaque(frame.buf[0]));
}

// Every pool in here is one of ours: prepare_surfaces() and take_over() see to that.
std::shared_ptr<va::SurfacePool> VaHwaccel::own_pool() const {
  return std::static_pointer_cast<va::SurfacePool>(pool_);
}

void VaHwaccel::take_over(std::shared_ptr<surface::Pool> spare) {
  auto pool = std::dynamic_pointer_cast<va::SurfacePool>(std::move(spare));
  if (!pool || pool->display() != display_) return;
  const std::lock_guard guard(pool_lock_);
  pool_ = std::move(pool);
}

}  // namespace dxva::decode
