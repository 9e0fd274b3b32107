// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/avcodec_context.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace dxva::decode {

namespace {

// libavcodec prints what it thinks of a stream to stderr, through a callback that the whole
// process shares and that is therefore not ours to replace. The offset is per context: its
// errors (16) arrive as debug (48), which the default callback swallows.
constexpr int kQuieter = 32;

// A context with all that follows from the stream and from where it is decoded, not yet opened.
Result<ContextPtr> make_context(const StreamParams& params, bool on_device) {
  const CodecTraits names = traits(params.codec);
  const AVCodec* codec = nullptr;
  if (on_device) {
    codec = avcodec_find_decoder_by_name(names.hardware);
  } else {
    for (const char* name : names.software)
      if (name && !codec) codec = avcodec_find_decoder_by_name(name);
  }
  if (!codec)
    return Error{
        .code = ErrorCode::Unsupported,
        .call = "avcodec_find_decoder_by_name",
        .text = std::string("this libavcodec has no decoder for ") + codec_name(params.codec),
        .reason = Reason::ProfileUnsupported};

  ContextPtr context(avcodec_alloc_context3(codec));
  context->log_level_offset = kQuieter;
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
  // Without it the H.264 decoder guesses the reorder depth and drops pictures until it has
  // learnt (41 of 43 in one conformance stream); the price is that the first picture comes
  // some packets later.
  if (params.codec == Codec::H264 && !params.low_latency)
    context->strict_std_compliance = FF_COMPLIANCE_STRICT;
  if (!params.codec_data.empty()) {
    const size_t size = params.codec_data.size();
    context->extradata = static_cast<uint8_t*>(av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE));
    std::memcpy(context->extradata, params.codec_data.data(), size);
    context->extradata_size = static_cast<int>(size);
  }
  if (on_device) {
    context->thread_count = 1;
    // Plain Baseline has no VA profile of its own, and nearly every stream that says so decodes
    // as Constrained Baseline. It must be set before opening. Levels are written wrongly more
    // often than they matter.
    context->hwaccel_flags =
        AV_HWACCEL_FLAG_ALLOW_PROFILE_MISMATCH | AV_HWACCEL_FLAG_IGNORE_LEVEL;
  } else {
    context->thread_count = 0;  // one per processor
    context->thread_type =
        params.low_latency ? FF_THREAD_SLICE : FF_THREAD_SLICE | FF_THREAD_FRAME;
    // dav1d's threads are its own, and hold pictures back; for H.264 this would mean that
    // nothing is reordered.
    if (params.low_latency && params.codec == Codec::Av1)
      context->flags |= AV_CODEC_FLAG_LOW_DELAY;
  }
  return context;
}

}  // namespace

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

AvcodecContext::AvcodecContext(Callbacks callbacks)
    : callbacks_(std::move(callbacks)), frame_(av_frame_alloc()), packet_(av_packet_alloc()) {}

Status AvcodecContext::open(const StreamParams& params, Hwaccel* device) {
  context_.reset();
  device_ = device;
  if (device) device->begin_call(true);
  auto context = make_context(params, device != nullptr);
  if (!context) return context.error();
  AVCodecContext& made = **context;
  made.opaque = this;
  made.get_buffer2 = [](AVCodecContext* c, AVFrame* frame, int flags) {
    return static_cast<AvcodecContext*>(c->opaque)->lend_buffer(*c, *frame, flags);
  };
  if (device) {
    device->attach(made);
    made.get_format = [](AVCodecContext* c, const AVPixelFormat* list) {
      return static_cast<AvcodecContext*>(c->opaque)->device_->get_format(*c, list);
    };
  }
  if (const int rc = avcodec_open2(&made, nullptr, nullptr); rc < 0) {
    // AV1 asks for the surfaces in here when the headers come with the caps.
    if (noticed().refused != Reason::None)
      return av_error(ErrorCode::Unsupported, "avcodec_open2", rc, noticed().refused);
    // Only headers that make no sense are the stream's fault. Threads or memory that cannot be
    // had are an error of this process: taken for broken packets, all that follow would be lost
    // in silence.
    const bool stream =
        rc == AVERROR_INVALIDDATA || rc == AVERROR(EINVAL) || rc == AVERROR_PATCHWELCOME;
    return av_error(stream ? ErrorCode::BadInput : ErrorCode::Unsupported, "avcodec_open2", rc);
  }
  context_ = std::move(*context);
  refused_ = false;
  show_unrecovered(shows_unrecovered_);
  return Done{};
}

// Off at first, unlike in gst-libav: with it a stream that lost its first IDR picture begins
// with pictures predicted from nothing. Every packet looks at the flag, in its worker thread as
// well.
void AvcodecContext::show_unrecovered(bool on) {
  shows_unrecovered_ = on;
  if (!context_) return;
  if (on)
    context_->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;
  else
    context_->flags &= ~AV_CODEC_FLAG_OUTPUT_CORRUPT;
}

Hwaccel::Noticed AvcodecContext::noticed() const {
  return device_ ? device_->noticed() : Hwaccel::Noticed{};
}

int AvcodecContext::submit(const StoredPacket& packet) {
  if (device_) device_->begin_call(packet.sync_point);
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
  const int answer = sent < 0 ? sent : received;
  if (device_) {
    device_->end_call(*context_, answer);
    refused_ = device_->noticed().refused != Reason::None;
  }
  return answer;
}

int AvcodecContext::collect() {
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
    if (frame_->pts >= 0 && frame_->pts <= UINT32_MAX)
      callbacks_.output(*frame_, static_cast<uint32_t>(frame_->pts));
    av_frame_unref(frame_.get());
  }
  return first_error;
}

void AvcodecContext::drain() {
  if (!context_) return;
  if (device_) device_->begin_call(false);
  avcodec_send_packet(context_.get(), nullptr);
  const int answer = collect();
  if (device_) device_->end_drain(answer);
  avcodec_flush_buffers(context_.get());
}

void AvcodecContext::flush() {
  if (context_) avcodec_flush_buffers(context_.get());
}

int AvcodecContext::lend_buffer(AVCodecContext& context, AVFrame& frame, int flags) {
  // Set from the packet before it calls us, in hardware and software.
  if (frame.pts >= 0 && frame.pts <= UINT32_MAX)
    callbacks_.began(static_cast<uint32_t>(frame.pts));
  if (device_ && frame.format == device_->pixel_format())
    return device_->get_buffer(context, frame, flags);
  return avcodec_default_get_buffer2(&context, &frame, flags);
}

uint32_t AvcodecContext::delay() const {
  if (!context_) return 0;
  const bool frame_threads = context_->active_thread_type == FF_THREAD_FRAME;
  const int threads = frame_threads ? context_->thread_count - 1 : 0;
  return static_cast<uint32_t>(std::max(0, context_->has_b_frames + threads));
}

std::string AvcodecContext::profile() const {
  if (!context_) return {};
  const char* name = avcodec_profile_name(context_->codec_id, context_->profile);
  return name ? name : "";
}

}  // namespace dxva::decode
