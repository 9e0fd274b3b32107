// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/avcodec_picture_decoder.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
}

#include <climits>
#include <cstring>
#include <utility>

namespace dxva::softva {

namespace {

// Added to the level of each message of a context: an error becomes less than any level anybody
// asks for. The level itself is global to the process and not ours.
constexpr int kQuiet = AV_LOG_TRACE + 1 - AV_LOG_FATAL;

constexpr int64_t kMaxPixels = int64_t{8192} * 8192;

std::shared_ptr<AVFrame> share(const AVFrame* frame) {
  return {av_frame_clone(frame), [](AVFrame* f) { av_frame_free(&f); }};
}

Error no_memory(const char* call) {
  return Error{.code = ErrorCode::NoMemory, .call = call, .text = "out of memory"};
}

}  // namespace

Result<std::unique_ptr<AvcodecPictureDecoder>> AvcodecPictureDecoder::create(const char* name,
                                                                             Match match) {
  const AVCodec* codec = avcodec_find_decoder_by_name(name);
  if (!codec || !(codec->capabilities & AV_CODEC_CAP_DR1))
    return Error{.code = ErrorCode::Unsupported,
                 .call = "avcodec_find_decoder_by_name",
                 .text = std::string("libavcodec has no usable decoder ") + name};
  AVCodecContext* context = avcodec_alloc_context3(codec);
  if (!context) return no_memory("avcodec_alloc_context3");
  // Owns the context from here on.
  std::unique_ptr<AvcodecPictureDecoder> decoder(
      new AvcodecPictureDecoder(context, av_frame_alloc(), av_packet_alloc(), match));
  if (!decoder->output_ || !decoder->packet_) return no_memory("av_frame_alloc");

  context->opaque = decoder.get();
  context->get_buffer2 = &AvcodecPictureDecoder::allocate;
  context->thread_count = 1;
  // Headers of some codecs allow sizes that would take all memory.
  context->max_pixels = kMaxPixels;
  context->log_level_offset = kQuiet;
  // Since FFmpeg 8 the H.265 decoder refuses a picture whose reference is missing or damaged
  // unless it is told to give out what is damaged. What comes out is ours to choose (`begun_`).
  context->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;
  // Error concealment stays at libavcodec's default: damage looks as it does in software.
  if (const int status = avcodec_open2(context, codec, nullptr); status < 0)
    return Error{.code = ErrorCode::Failed,
                 .call = "avcodec_open2",
                 .native = status,
                 .text = std::string("cannot open decoder ") + name};
  return decoder;
}

AvcodecPictureDecoder::AvcodecPictureDecoder(AVCodecContext* context, AVFrame* output,
                                             AVPacket* packet, Match match)
    : context_(context), output_(output), packet_(packet), match_(match) {}

AvcodecPictureDecoder::~AvcodecPictureDecoder() {
  av_packet_free(&packet_);
  av_frame_free(&output_);
  avcodec_free_context(&context_);
}

int AvcodecPictureDecoder::allocate(AVCodecContext* context, AVFrame* frame, int flags) {
  const int status = avcodec_default_get_buffer2(context, frame, flags);
  if (status < 0) return status;
  auto& self = *static_cast<AvcodecPictureDecoder*>(context->opaque);
  if (self.match_ == Match::Last || !self.begun_) self.begun_ = share(frame);
  return 0;
}

std::shared_ptr<AVFrame> AvcodecPictureDecoder::decode(std::span<const uint8_t> packet) {
  begun_.reset();
  if (packet.size() > INT_MAX - AV_INPUT_BUFFER_PADDING_SIZE ||
      av_new_packet(packet_, static_cast<int>(packet.size())) < 0)
    return nullptr;
  std::memcpy(packet_->data, packet.data(), packet.size());
  // An error does not say that there is no picture: a damaged one is concealed and reported.
  avcodec_send_packet(context_, packet_);
  av_packet_unref(packet_);
  while (avcodec_receive_frame(context_, output_) >= 0) av_frame_unref(output_);
  return std::exchange(begun_, nullptr);
}

void AvcodecPictureDecoder::flush() {
  avcodec_flush_buffers(context_);
}

Result<Pixels> pixels_of(std::shared_ptr<const AVFrame> frame) {
  const AVPixFmtDescriptor* format =
      av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format));
  const Error unsupported{.code = ErrorCode::Unsupported,
                          .call = "avcodec_send_packet",
                          .native = frame->format,
                          .text = "decoded to a pixel format that no surface has"};
  if (!format || format->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_BE)) return unsupported;
  const bool gray = format->nb_components == 1;
  const bool three_planes =
      format->nb_components == 3 && (format->flags & AV_PIX_FMT_FLAG_PLANAR) &&
      av_pix_fmt_count_planes(static_cast<AVPixelFormat>(frame->format)) == 3;
  if (!gray && !three_planes) return unsupported;

  Pixels pixels;
  if (gray)
    pixels.layout = Pixels::Layout::Gray;
  else if (format->log2_chroma_w == 1 && format->log2_chroma_h == 1)
    pixels.layout = Pixels::Layout::Yuv420;
  else if (format->log2_chroma_w == 1 && format->log2_chroma_h == 0)
    pixels.layout = Pixels::Layout::Yuv422;
  else if (format->log2_chroma_w == 0 && format->log2_chroma_h == 1)
    pixels.layout = Pixels::Layout::Yuv440;
  else if (format->log2_chroma_w == 0 && format->log2_chroma_h == 0)
    pixels.layout = Pixels::Layout::Yuv444;
  else
    return unsupported;
  pixels.bit_depth = format->comp[0].depth;
  pixels.width = static_cast<uint32_t>(frame->width);
  pixels.height = static_cast<uint32_t>(frame->height);
  for (int i = 0; i < format->nb_components; ++i) {
    if (frame->linesize[i] <= 0) return unsupported;  // upside down
    pixels.planes[i] = frame->data[i];
    pixels.pitches[i] = static_cast<uint32_t>(frame->linesize[i]);
  }
  pixels.owner = std::move(frame);
  return pixels;
}

}  // namespace dxva::softva
