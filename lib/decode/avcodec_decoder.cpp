// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/avcodec_decoder.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_vaapi.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/decode/device_support.hpp"
#include "lib/decode/pending_pictures.hpp"
#include "lib/decode/replay_queue.hpp"
#include "lib/decode/sync_point.hpp"

namespace dxva::decode {

namespace {

template <auto Function>
struct FreeWith {
  template <typename T>
  void operator()(T* pointer) const {
    Function(&pointer);
  }
};
using ContextPtr = std::unique_ptr<AVCodecContext, FreeWith<avcodec_free_context>>;
using FramePtr = std::unique_ptr<AVFrame, FreeWith<av_frame_free>>;
using PacketPtr = std::unique_ptr<AVPacket, FreeWith<av_packet_free>>;
using BufferPtr = std::unique_ptr<AVBufferRef, FreeWith<av_buffer_unref>>;

struct CodecTraits {
  // By name, because the preferred decoder of an id may be a wrapper (libdav1d for AV1), which
  // knows no hwaccel.
  const char* hardware;
  std::array<const char*, 2> software;  // in order of preference; the second may be null
  uint32_t dpb;                         // pictures the codec may keep
  bool reorders;
};

CodecTraits traits(Codec codec) {
  switch (codec) {
    case Codec::H264:
      return {"h264", {"h264", nullptr}, 16, true};
    case Codec::H265:
      return {"hevc", {"hevc", nullptr}, 16, true};
    case Codec::Vp8:
      return {"vp8", {"vp8", nullptr}, 3, false};
    case Codec::Vp9:
      return {"vp9", {"vp9", nullptr}, 8, false};
    case Codec::Av1:
      // The native decoder has no software half at all.
      return {"av1", {"libdav1d", "libaom-av1"}, 8, false};
    case Codec::Mpeg2:
      return {"mpeg2video", {"mpeg2video", nullptr}, 2, true};
    case Codec::Jpeg:
      return {"mjpeg", {"mjpeg", nullptr}, 0, false};
  }
  return {};
}

// Above the codec's own count: the picture being written, and what libavcodec keeps beside the
// DPB (a delayed output, the missing-reference stand-in, the previous picture for concealment).
// Its own suggestion cannot be used: FFmpeg 7.1 says 0.
constexpr uint32_t kBeyondDpb = 1 + 3;

// A device that fails again and again is left alone for the rest of this stream.
constexpr uint32_t kMaxDeviceFailures = 3;

// libavcodec prints what it thinks of a stream to stderr, through a callback that the whole
// process shares and that is therefore not ours to replace. The offset is per context: its
// errors (16) arrive as debug (48), which the default callback swallows.
constexpr int kQuieter = 32;

std::string error_text(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  return text;
}

Error av_error(ErrorCode code, const char* call, int native, Reason reason = Reason::None) {
  return Error{.code = code,
               .call = call,
               .native = native,
               .text = error_text(native),
               .reason = reason};
}

bool is_device_failure(Reason reason) {
  return reason == Reason::DecodeErrors || reason == Reason::SyncFailed;
}

Error refused_in_software(Reason reason) {
  const bool failed = is_device_failure(reason);
  return Error{.code = failed ? ErrorCode::DeviceLost : ErrorCode::Unsupported,
               .call = "decode",
               .text = failed ? "the device failed while decoding"
                              : "the device cannot decode this stream",
               .reason = reason};
}

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

Chroma chroma_of(const AVPixFmtDescriptor& description) {
  if (description.flags & AV_PIX_FMT_FLAG_RGB) return Chroma::Rgb;
  if (description.nb_components < 3) return Chroma::Gray;
  const int w = description.log2_chroma_w;
  const int h = description.log2_chroma_h;
  if (w == 1 && h == 1) return Chroma::Yuv420;
  if (w == 2 && h == 0) return Chroma::Yuv411;
  if (w == 1 && h == 0) return Chroma::Yuv422;
  if (w == 0 && h == 1) return Chroma::Yuv440;
  return Chroma::Yuv444;
}

// What a software picture may look like to be described by SoftwarePicture.
bool is_describable(const AVPixFmtDescriptor& description) {
  const uint64_t wanted = description.nb_components > 1 ? AV_PIX_FMT_FLAG_PLANAR : 0;
  constexpr uint64_t kRefused = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL |
                                AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL |
                                AV_PIX_FMT_FLAG_FLOAT;
  return (description.flags & (wanted | kRefused)) == wanted &&
         description.comp[0].shift == 0 && description.nb_components != 2;
}

Colour colour_of(const AVFrame& frame) {
  Colour out;
  out.primaries = static_cast<uint8_t>(frame.color_primaries);
  out.transfer = static_cast<uint8_t>(frame.color_trc);
  out.matrix = static_cast<uint8_t>(frame.colorspace);
  if (frame.color_range == AVCOL_RANGE_JPEG) out.range = Colour::Range::Full;
  if (frame.color_range == AVCOL_RANGE_MPEG) out.range = Colour::Range::Limited;
  switch (frame.chroma_location) {
    case AVCHROMA_LOC_UNSPECIFIED:
      break;
    case AVCHROMA_LOC_LEFT:
      out.site = Colour::Site::Left;
      break;
    case AVCHROMA_LOC_CENTER:
      out.site = Colour::Site::Centre;
      break;
    case AVCHROMA_LOC_TOPLEFT:
      out.site = Colour::Site::TopLeft;
      break;
    default:
      out.site = Colour::Site::Other;
  }
  return out;
}

uint32_t scaled(AVRational value, int64_t units) {
  if (value.den <= 0 || value.num < 0) return 0;
  return static_cast<uint32_t>(
      std::min<int64_t>(av_rescale(value.num, units, value.den), UINT32_MAX));
}

std::optional<MasteringDisplay> mastering_of(const AVFrame& frame) {
  const AVFrameSideData* side =
      av_frame_get_side_data(&frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
  if (!side) return std::nullopt;
  const auto* data = reinterpret_cast<const AVMasteringDisplayMetadata*>(side->data);
  if (!data->has_primaries || !data->has_luminance) return std::nullopt;
  const auto point = [](const AVRational(&xy)[2]) {
    return std::array<uint16_t, 2>{
        static_cast<uint16_t>(std::min(scaled(xy[0], 50000), 65535u)),
        static_cast<uint16_t>(std::min(scaled(xy[1], 50000), 65535u))};
  };
  return MasteringDisplay{.red = point(data->display_primaries[0]),
                          .green = point(data->display_primaries[1]),
                          .blue = point(data->display_primaries[2]),
                          .white = point(data->white_point),
                          .max_luminance = scaled(data->max_luminance, 10000),
                          .min_luminance = scaled(data->min_luminance, 10000)};
}

std::optional<ContentLight> light_of(const AVFrame& frame) {
  const AVFrameSideData* side =
      av_frame_get_side_data(&frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
  if (!side) return std::nullopt;
  const auto* data = reinterpret_cast<const AVContentLightMetadata*>(side->data);
  return ContentLight{
      .max_content = static_cast<uint16_t>(std::min(data->MaxCLL, 65535u)),
      .max_frame_average = static_cast<uint16_t>(std::min(data->MaxFALL, 65535u))};
}

void describe_fields(const AVFrame& frame, DecodedFrame& out) {
#ifdef AV_FRAME_FLAG_INTERLACED  // FFmpeg 6.1; the old members are deprecated there
  out.interlaced = (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
  out.top_field_first = (frame.flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
  out.interlaced = frame.interlaced_frame != 0;
  out.top_field_first = frame.top_field_first != 0;
#endif
  // 1: one field more; 2 and 4: whole frames more, which GStreamer has no flag for.
  out.repeat_first_field = frame.repeat_pict == 1;
}

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

class AvcodecDecoder final : public BitstreamDecoder {
 public:
  AvcodecDecoder(const StreamParams& params, std::shared_ptr<va::Display> display,
                 SoftwareFallback fallback)
      : params_(params),
        traits_(traits(params.codec)),
        display_(std::move(display)),
        software_allowed_(fallback == SoftwareFallback::Allowed),
        pending_(traits_.reorders),
        frame_(av_frame_alloc()),
        packet_(av_packet_alloc()) {}

  ~AvcodecDecoder() override = default;

  [[nodiscard]] Status open();

  Status send(const Packet& packet) override;
  std::optional<DecodedFrame> receive() override;
  Status decode_again(const DecodedFrame& picture, Reason reason) override;
  std::vector<uint32_t> take_abandoned() override { return pending_.take_abandoned(); }
  void drain() override;
  void flush() override;
  void interrupt(bool on) override;
  Mode mode() const override { return mode_; }
  uint32_t delay() const override;
  Pools pools() const override;
  std::string profile() const override;

 private:
  [[nodiscard]] Status open_device();
  [[nodiscard]] Status open_context(bool hardware);
  [[nodiscard]] Status decode(const StoredPacket& packet, bool may_restart);
  [[nodiscard]] int submit(const StoredPacket& packet);
  int collect();
  void empty_context();
  [[nodiscard]] Status go_software(Reason reason, const StoredPacket& current);
  [[nodiscard]] Status restart_larger(const StoredPacket& packet);
  void output();

  AVPixelFormat choose_format(AVCodecContext& context, const AVPixelFormat* list);
  [[nodiscard]] Reason prepare_surfaces(AVCodecContext& context, AVPixelFormat software);
  int lend_buffer(AVCodecContext& context, AVFrame& frame, int flags);
  int lend_surface(AVCodecContext& context, AVFrame& frame);

  const StreamParams params_;
  const CodecTraits traits_;
  const std::shared_ptr<va::Display> display_;
  const bool software_allowed_;

  PendingPictures pending_;
  ReplayQueue replay_;
  std::deque<DecodedFrame> ready_;
  Mode mode_;
  uint32_t device_failures_ = 0;
  uint32_t pool_failures_ = 0;  // of those, when the pool was chosen
  bool corrupt_ = false;        // since the last sync point
  bool drained_ = false;        // and nothing sent since

  // What our callbacks noticed during one call of libavcodec. The error code that comes back
  // does not tell: H.264 turns everything into INVALIDDATA. Only written in hardware mode,
  // which has one thread.
  struct Noticed {
    Reason refused = Reason::None;
    bool too_large = false;
    bool interrupted = false;
    bool no_surface = false;
  } noticed_;

  // Other threads interrupt the wait for a surface.
  mutable std::mutex pool_lock_;
  std::shared_ptr<va::SurfacePool> pool_;  // the newest; older ones live on their pictures
  bool interrupted_ = false;

  BufferPtr device_;
  FramePtr frame_;      // scratch, one picture at a time
  PacketPtr packet_;    // scratch
  ContextPtr context_;  // last: its worker threads call into the members above
};

Status AvcodecDecoder::open() {
  if (!display_) {
    mode_ = {.hardware = false, .reason = Reason::NoDevice};
    return open_context(false);
  }
  Status opened = Done{};
  // Nothing of libavcodec is asked before: its AV1 decoder prints errors to stderr from within
  // the opening where the device has no AV1.
  if (!device_decodes(*display_, params_.codec))
    opened =
        Error{.code = ErrorCode::Unsupported,
              .call = "open",
              .text = std::string("the device does not decode ") + codec_name(params_.codec),
              .reason = Reason::ProfileUnsupported};
  if (opened) opened = open_device();
  if (opened) opened = open_context(true);
  if (opened) {
    mode_ = {.hardware = true};
    return opened;
  }
  if (!software_allowed_) return opened;
  DXVA_INFO(Decode, "%s in software: %s", codec_name(params_.codec),
            opened.error().describe().c_str());
  const Reason reason = opened.error().reason;
  mode_ = {.hardware = false,
           .reason = reason != Reason::None ? reason : Reason::ProfileUnsupported};
  return open_context(false);
}

Status AvcodecDecoder::open_device() {
  BufferPtr device(av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_VAAPI));
  if (!device)
    return Error{.code = ErrorCode::Unsupported,
                 .call = "av_hwdevice_ctx_alloc",
                 .text = "this libavcodec was built without VA-API",
                 .reason = Reason::NoDevice};
  auto* context = reinterpret_cast<AVHWDeviceContext*>(device->data);
  static_cast<AVVAAPIDeviceContext*>(context->hwctx)->display = display_->get();
  // A picture outlives the decoder and needs the display to the end.
  context->user_opaque = new std::shared_ptr<va::Display>(display_);
  context->free = [](AVHWDeviceContext* dying) {
    delete static_cast<std::shared_ptr<va::Display>*>(dying->user_opaque);
  };
  if (const int rc = av_hwdevice_ctx_init(device.get()); rc < 0)
    return av_error(ErrorCode::Unsupported, "av_hwdevice_ctx_init", rc, Reason::NoDevice);
  device_ = std::move(device);
  return Done{};
}

Status AvcodecDecoder::open_context(bool hardware) {
  context_.reset();
  const AVCodec* codec = nullptr;
  if (hardware) {
    codec = avcodec_find_decoder_by_name(traits_.hardware);
  } else {
    for (const char* name : traits_.software)
      if (name && !codec) codec = avcodec_find_decoder_by_name(name);
  }
  if (!codec)
    return Error{
        .code = ErrorCode::Unsupported,
        .call = "avcodec_find_decoder_by_name",
        .text = std::string("this libavcodec has no decoder for ") + codec_name(params_.codec),
        .reason = Reason::ProfileUnsupported};

  ContextPtr context(avcodec_alloc_context3(codec));
  context->opaque = this;
  context->log_level_offset = kQuieter;
  context->get_buffer2 = [](AVCodecContext* c, AVFrame* frame, int flags) {
    return static_cast<AvcodecDecoder*>(c->opaque)->lend_buffer(*c, *frame, flags);
  };
#if LIBAVCODEC_VERSION_MAJOR < 60
  // Later versions take it for granted; here frame threads would be serialised without it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  context->thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#endif
  // Surfaces are cropped by whoever shows them; libavcodec would only move pointers, which a
  // surface has not.
  context->apply_cropping = 0;
  // AV_CODEC_FLAG_OUTPUT_CORRUPT stays off, unlike in gst-libav: with it a stream that lost its
  // first IDR picture begins with pictures predicted from nothing.
  // Without it the H.264 decoder guesses the reorder depth and drops pictures until it has
  // learnt (41 of 43 in one conformance stream); the price is that the first picture comes
  // some packets later.
  if (params_.codec == Codec::H264 && !params_.low_latency)
    context->strict_std_compliance = FF_COMPLIANCE_STRICT;
  if (!params_.codec_data.empty()) {
    const size_t size = params_.codec_data.size();
    context->extradata = static_cast<uint8_t*>(av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE));
    std::memcpy(context->extradata, params_.codec_data.data(), size);
    context->extradata_size = static_cast<int>(size);
  }
  if (hardware) {
    context->thread_count = 1;
    context->hw_device_ctx = av_buffer_ref(device_.get());
    context->get_format = [](AVCodecContext* c, const AVPixelFormat* list) {
      return static_cast<AvcodecDecoder*>(c->opaque)->choose_format(*c, list);
    };
    // Plain Baseline has no VA profile of its own, and nearly every stream that says so decodes
    // as Constrained Baseline. It must be set before opening. Levels are written wrongly more
    // often than they matter.
    context->hwaccel_flags =
        AV_HWACCEL_FLAG_ALLOW_PROFILE_MISMATCH | AV_HWACCEL_FLAG_IGNORE_LEVEL;
  } else {
    context->thread_count = 0;  // one per processor
    context->thread_type =
        params_.low_latency ? FF_THREAD_SLICE : FF_THREAD_SLICE | FF_THREAD_FRAME;
  }
  noticed_ = {};
  if (const int rc = avcodec_open2(context.get(), codec, nullptr); rc < 0) {
    // AV1 asks for the surfaces in here when the headers come with the caps.
    if (noticed_.refused != Reason::None)
      return av_error(ErrorCode::Unsupported, "avcodec_open2", rc, noticed_.refused);
    return av_error(rc == AVERROR(ENOMEM) ? ErrorCode::NoMemory : ErrorCode::BadInput,
                    "avcodec_open2", rc);
  }
  context_ = std::move(context);
  return Done{};
}

// --- packets in, pictures out

Status AvcodecDecoder::send(const Packet& packet) {
  {
    const std::lock_guard guard(pool_lock_);
    if (interrupted_) return Error{.code = ErrorCode::Busy, .call = "send"};
  }
  if (packet.data.empty()) {
    // libavcodec takes an empty packet for the end of the stream.
    pending_.sent(packet.number, {});
    pending_.failed(packet.number);
    return Done{};
  }
  if (packet.data.size() > INT32_MAX - AV_INPUT_BUFFER_PADDING_SIZE)
    return Error{.code = ErrorCode::BadInput, .call = "send", .text = "packet too large"};

  if (std::exchange(drained_, false)) {
    pending_.drained();
    replay_.clear();
  }
  const StoredPacket stored =
      StoredPacket::copy(packet.data, AV_INPUT_BUFFER_PADDING_SIZE, packet.number,
                         starts_decoding(params_.codec, packet));
  if (stored.sync_point) corrupt_ = false;
  pending_.sent(stored.number, {.sync_point = stored.sync_point, .corrupt = corrupt_});
  if (!context_) {
    // A restart failed earlier.
    if (auto opened = open_context(mode_.hardware); !opened) return opened;
  }
  if (mode_.hardware) replay_.push(stored, pending_.oldest());
  return decode(stored, true);
}

Status AvcodecDecoder::decode(const StoredPacket& packet, bool may_restart) {
  noticed_ = {};
  const int rc = submit(packet);
  if (noticed_.refused != Reason::None) return go_software(noticed_.refused, packet);
  if (noticed_.too_large)
    return may_restart ? restart_larger(packet) : go_software(Reason::SizeOutOfRange, packet);
  if (noticed_.interrupted) return Error{.code = ErrorCode::Busy, .call = "get_buffer2"};
  if (noticed_.no_surface) {
    corrupt_ = true;
    pending_.failed(packet.number);
    return av_error(ErrorCode::NoMemory, "get_buffer2", rc, Reason::SurfacePoolEmpty);
  }
  if (rc >= 0) return Done{};
  // vaBeginPicture and vaEndPicture failing, and nothing else.
  if (mode_.hardware && rc == AVERROR(EIO)) {
    ++device_failures_;
    DXVA_DEBUG(Decode, "the device failed at packet %u", packet.number);
    return go_software(Reason::DecodeErrors, packet);
  }
  corrupt_ = true;
  // With frame threads the error may be an earlier packet's.
  if (mode_.hardware) pending_.failed(packet.number);
  return av_error(ErrorCode::BadInput, "avcodec_send_packet", rc);
}

// Sends the packet and collects what is ready; the first error of both.
int AvcodecDecoder::submit(const StoredPacket& packet) {
  // The bytes are shared, not copied: libavcodec frees this reference when it has read them.
  auto* held = new std::shared_ptr<uint8_t[]>(packet.bytes);
  packet_->buf = av_buffer_create(
      packet.bytes.get(), packet.size_bytes + AV_INPUT_BUFFER_PADDING_SIZE,
      [](void* opaque, uint8_t*) { delete static_cast<std::shared_ptr<uint8_t[]>*>(opaque); },
      held, AV_BUFFER_FLAG_READONLY);
  if (!packet_->buf) {
    delete held;
    return AVERROR(ENOMEM);
  }
  packet_->data = packet.bytes.get();
  packet_->size = static_cast<int>(packet.size_bytes);
  // The number travels as a time stamp, the only thing that every version carries through
  // reordering, fields and frame threads. libavcodec needs no real time stamps.
  packet_->pts = packet.number;
  packet_->dts = AV_NOPTS_VALUE;
  packet_->flags = packet.sync_point ? AV_PKT_FLAG_KEY : 0;
  const int sent = avcodec_send_packet(context_.get(), packet_.get());
  av_packet_unref(packet_.get());
  const int received = collect();
  return sent < 0 ? sent : received;
}

int AvcodecDecoder::collect() {
  // An error ends one picture, not the stretch; but a decoder that only errs must not hold us.
  constexpr int kMaxErrors = 64;
  int first_error = 0;
  for (int errors = 0; errors < kMaxErrors;) {
    const int rc = avcodec_receive_frame(context_.get(), frame_.get());
    if (rc == AVERROR(EAGAIN) || rc == AVERROR_EOF) break;
    if (rc < 0) {
      ++errors;
      if (first_error == 0) first_error = rc;
      continue;
    }
    output();
    av_frame_unref(frame_.get());
  }
  return first_error;
}

void AvcodecDecoder::output() {
  AVFrame& frame = *frame_;
  if (frame.pts < 0 || frame.pts > UINT32_MAX) return;
  const auto number = static_cast<uint32_t>(frame.pts);
  // A replay shows pictures again; they are not awaited any more.
  const auto marks = pending_.output(number);
  if (!marks) return;

  DecodedFrame out{.number = number,
                   .width = static_cast<uint32_t>(frame.width),
                   .height = static_cast<uint32_t>(frame.height)};
  out.sync_point = marks->sync_point;
  // libavcodec sets its own mark only in software.
  out.corrupt = marks->corrupt || (frame.flags & AV_FRAME_FLAG_CORRUPT) != 0;
  const size_t crop_x = frame.crop_left + frame.crop_right;
  const size_t crop_y = frame.crop_top + frame.crop_bottom;
  const bool crops = crop_x < out.width && crop_y < out.height;
  out.visible = {.width = out.width, .height = out.height};
  if (crops)
    out.visible = {.x = static_cast<uint32_t>(frame.crop_left),
                   .y = static_cast<uint32_t>(frame.crop_top),
                   .width = static_cast<uint32_t>(out.width - crop_x),
                   .height = static_cast<uint32_t>(out.height - crop_y)};
  describe_fields(frame, out);
  if (frame.sample_aspect_ratio.num > 0 && frame.sample_aspect_ratio.den > 0) {
    out.aspect_num = static_cast<uint32_t>(frame.sample_aspect_ratio.num);
    out.aspect_den = static_cast<uint32_t>(frame.sample_aspect_ratio.den);
  }
  out.colour = colour_of(frame);
  out.mastering = mastering_of(frame);
  out.light = light_of(frame);

  if (frame.format == AV_PIX_FMT_VAAPI) {
    out.surface = *static_cast<va::SurfaceLease*>(av_buffer_get_opaque(frame.buf[0]));
    out.chroma = Chroma::Yuv420;
    out.bit_depth = out.surface->fourcc() == format::kP010 ? 10 : 8;
  } else {
    const auto* description = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
    if (!description || !is_describable(*description)) {
      DXVA_WARNING(Decode, "pictures of format %s cannot be shown",
                   description ? description->name : "unknown");
      return;
    }
    out.chroma = chroma_of(*description);
    out.bit_depth = static_cast<uint32_t>(description->comp[0].depth);
    out.software.plane_count = static_cast<uint32_t>(
        av_pix_fmt_count_planes(static_cast<AVPixelFormat>(frame.format)));
    for (uint32_t i = 0; i < out.software.plane_count; ++i) {
      if (frame.linesize[i] <= 0) return;  // upside down: no decoder of ours does it
      out.software.planes[i] = {.data = frame.data[i],
                                .pitch_bytes = static_cast<uint32_t>(frame.linesize[i])};
    }
    // The J formats say full range by their name.
    if (std::strncmp(description->name, "yuvj", 4) == 0) out.colour.range = Colour::Range::Full;
    AVFrame* kept = av_frame_alloc();
    av_frame_move_ref(kept, &frame);
    out.software.owner =
        std::shared_ptr<const void>(kept, [](AVFrame* dying) { av_frame_free(&dying); });
  }
  ready_.push_back(std::move(out));
}

std::optional<DecodedFrame> AvcodecDecoder::receive() {
  if (ready_.empty()) return std::nullopt;
  std::optional<DecodedFrame> out(std::move(ready_.front()));
  ready_.pop_front();
  return out;
}

// Gets everything out and leaves the context ready for a new start.
void AvcodecDecoder::empty_context() {
  if (!context_) return;
  noticed_ = {};
  avcodec_send_packet(context_.get(), nullptr);
  collect();
  avcodec_flush_buffers(context_.get());
}

void AvcodecDecoder::drain() {
  empty_context();
  // The books stay until the next packet: a surface may yet turn out to be unreadable.
  drained_ = true;
}

void AvcodecDecoder::flush() {
  if (context_) avcodec_flush_buffers(context_.get());
  ready_.clear();
  pending_.clear();
  replay_.clear();
  corrupt_ = false;
  drained_ = false;
  // A new start is a chance for a device that failed, but not for ever.
  if (is_device_failure(mode_.reason) && device_failures_ < kMaxDeviceFailures) {
    if (open_context(true)) mode_ = {.hardware = true};
  }
}

void AvcodecDecoder::interrupt(bool on) {
  const std::lock_guard guard(pool_lock_);
  interrupted_ = on;
  if (pool_) pool_->interrupt(on);
}

// --- from the device to software, and to larger surfaces

Status AvcodecDecoder::decode_again(const DecodedFrame& picture, Reason reason) {
  const auto await = [this](const DecodedFrame& again) {
    pending_.sent(again.number, {.sync_point = again.sync_point, .corrupt = again.corrupt});
  };
  await(picture);
  for (const DecodedFrame& later : ready_) await(later);
  ready_.clear();
  if (mode_.hardware) ++device_failures_;
  return go_software(reason, {});
}

// `current` is the packet at hand; without bytes, there is none.
Status AvcodecDecoder::go_software(Reason reason, const StoredPacket& current) {
  if (!software_allowed_) return refused_in_software(reason);
  DXVA_INFO(Decode, "%s in software from packet %u on: %s", codec_name(params_.codec),
            current.number, reason_name(reason));
  mode_ = {.hardware = false, .reason = reason};
  if (auto opened = open_context(false); !opened) {
    replay_.clear();
    return opened;
  }
  // Pictures that are out already find nobody who awaits them and fall away (output()).
  std::deque<StoredPacket> again = replay_.packets();
  replay_.clear();
  if (again.empty() && current.bytes) again.push_back(current);
  Status last = Done{};
  for (const StoredPacket& packet : again) {
    last = decode(packet, false);
    if (!last && last.error().code == ErrorCode::Busy) break;
  }
  if (drained_) empty_context();
  return last;
}

// AV1 may grow without asking get_format again (FFmpeg 5.1 and 7.1): pictures would be written
// into surfaces that are too small.
Status AvcodecDecoder::restart_larger(const StoredPacket& packet) {
  if (!packet.sync_point) return go_software(Reason::SizeOutOfRange, packet);
  DXVA_DEBUG(Decode, "packet %u is larger than the surfaces: a new context", packet.number);
  empty_context();
  if (auto opened = open_context(true); !opened) return opened;
  return decode(packet, false);
}

// --- what libavcodec asks us

AVPixelFormat AvcodecDecoder::choose_format(AVCodecContext& context,
                                            const AVPixelFormat* list) {
  bool offered = false;
  AVPixelFormat software = AV_PIX_FMT_NONE;
  for (const AVPixelFormat* format = list; *format != AV_PIX_FMT_NONE; ++format) {
    if (*format == AV_PIX_FMT_VAAPI) offered = true;
    if (!is_hardware(*format)) software = *format;
  }
  // Not offered a second time: vaCreateContext failed and libavcodec asks again.
  const Reason refused =
      offered ? prepare_surfaces(context, software) : Reason::ProfileUnsupported;
  if (refused == Reason::None) return AV_PIX_FMT_VAAPI;
  // The context could go on in software, but in one thread, and not for AV1. decode() looks at
  // this mark and starts again with a context made for it.
  noticed_.refused = refused;
  return software;
}

// Makes the surfaces for the stream that `context` has just met, or says why not.
Reason AvcodecDecoder::prepare_surfaces(AVCodecContext& context, AVPixelFormat software) {
  const AVPixFmtDescriptor* stream = av_pix_fmt_desc_get(software);
  // Gray and RGB streams: drivers take their parameters and decode something else.
  if (!stream || (stream->flags & AV_PIX_FMT_FLAG_RGB) || stream->nb_components < 3)
    return Reason::ProfileUnsupported;

  AVBufferRef* raw = nullptr;
  if (avcodec_get_hw_frames_parameters(&context, device_.get(), AV_PIX_FMT_VAAPI, &raw) < 0)
    return Reason::ProfileUnsupported;
  BufferPtr frames(raw);
  auto* description = reinterpret_cast<AVHWFramesContext*>(frames->data);

  const uint32_t fourcc = fourcc_of(description->sw_format);
  if (fourcc == 0) return Reason::FormatUnsupported;
  // FFmpeg 7.1 offers High 10 to a driver that then names NV12 surfaces; the pictures were all
  // zero and nobody complained.
  const AVPixFmtDescriptor* surface = av_pix_fmt_desc_get(description->sw_format);
  if (surface->comp[0].depth != stream->comp[0].depth ||
      surface->log2_chroma_w != stream->log2_chroma_w ||
      surface->log2_chroma_h != stream->log2_chroma_h)
    return Reason::FormatUnsupported;
  if (description->width <= 0 || description->height <= 0) return Reason::SizeOutOfRange;

  const va::SurfacePool::Config wanted{
      .fourcc = fourcc,
      .width = static_cast<uint32_t>(description->width),
      .height = static_cast<uint32_t>(description->height),
      .count = traits_.dpb + kBeyondDpb + params_.extra_surfaces};
  // libavcodec comes here after each flush. The surfaces it had do again, and everybody
  // downstream knows them already; those of a device that failed meanwhile are not trusted.
  const bool reuse = pool_ && pool_->config() == wanted && pool_failures_ == device_failures_;
  auto pool = reuse ? Result(pool_) : va::SurfacePool::create(display_, wanted);
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
  pool_failures_ = device_failures_;
  pool_->interrupt(interrupted_);
  return Reason::None;
}

int AvcodecDecoder::lend_buffer(AVCodecContext& context, AVFrame& frame, int flags) {
  // Set from the packet before it calls us, in hardware and software.
  if (frame.pts >= 0 && frame.pts <= UINT32_MAX)
    pending_.allocated(static_cast<uint32_t>(frame.pts));
  if (frame.format == AV_PIX_FMT_VAAPI) return lend_surface(context, frame);
  return avcodec_default_get_buffer2(&context, &frame, flags);
}

// Called where a picture begins: there is nothing to copy yet and every error loses the
// picture, so errors are for what cannot be helped.
int AvcodecDecoder::lend_surface(AVCodecContext& context, AVFrame& frame) {
  if (!context.hw_frames_ctx) return AVERROR(EINVAL);
  va::SurfacePool& pool = *frames_owner(context.hw_frames_ctx).pool;
  if (frame.width <= 0 || frame.height <= 0 ||
      static_cast<uint32_t>(frame.width) > pool.config().width ||
      static_cast<uint32_t>(frame.height) > pool.config().height) {
    noticed_.too_large = true;
    return AVERROR(EINVAL);
  }
  auto lease = pool.acquire();
  if (!lease) {
    const bool interrupted = lease.error().code == ErrorCode::Busy;
    (interrupted ? noticed_.interrupted : noticed_.no_surface) = true;
    return interrupted ? AVERROR_EXIT : AVERROR(ENOMEM);
  }
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

uint32_t AvcodecDecoder::delay() const {
  if (!context_) return 0;
  const bool frame_threads = context_->active_thread_type == FF_THREAD_FRAME;
  const int threads = frame_threads ? context_->thread_count - 1 : 0;
  return static_cast<uint32_t>(std::max(0, context_->has_b_frames + threads));
}

BitstreamDecoder::Pools AvcodecDecoder::pools() const {
  const std::lock_guard guard(pool_lock_);
  if (!pool_) return {};
  return {.surfaces = pool_->config().count, .late_surfaces = pool_->late_surfaces()};
}

std::string AvcodecDecoder::profile() const {
  if (!context_) return {};
  const char* name = avcodec_profile_name(context_->codec_id, context_->profile);
  return name ? name : "";
}

}  // namespace

const char* codec_name(Codec codec) {
  switch (codec) {
    case Codec::H264:
      return "h264";
    case Codec::H265:
      return "h265";
    case Codec::Vp8:
      return "vp8";
    case Codec::Vp9:
      return "vp9";
    case Codec::Av1:
      return "av1";
    case Codec::Mpeg2:
      return "mpeg2";
    case Codec::Jpeg:
      return "jpeg";
  }
  return "unknown";
}

Result<std::unique_ptr<BitstreamDecoder>> make_avcodec_decoder(
    const StreamParams& params, std::shared_ptr<va::Display> display,
    SoftwareFallback fallback) {
  auto decoder = std::make_unique<AvcodecDecoder>(params, std::move(display), fallback);
  if (auto opened = decoder->open(); !opened) return opened.error();
  return std::unique_ptr<BitstreamDecoder>(std::move(decoder));
}

}  // namespace dxva::decode
