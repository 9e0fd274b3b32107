// SPDX-License-Identifier: LGPL-2.1-or-later
extern "C" {
#include <libavcodec/avcodec.h>
}

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/cuda/api.hpp"
#include "tests/check/support/fakecuda/fake_cuda.hpp"

namespace {

constexpr int kInvalidValue = 1;
constexpr int kUnknown = 999;
// cudaVideoCodec
constexpr int kH264 = 4, kJpeg = 5, kHevc = 8, kVp8 = 9, kVp9 = 10, kAv1 = 11;
constexpr int kP016 = 1;  // cudaVideoSurfaceFormat

// The beginnings of NVDEC's structures, as far as they are read here.
struct CreateInfo {
  unsigned long width, height, decode_surfaces;
  int codec, chroma_format;
  unsigned long flags, bit_depth_minus_8, intra_only, max_width, max_height, reserved;
  short display_area[4];
  int output_format, deinterlace_mode;
  unsigned long target_width, target_height, output_surfaces;
};

struct H264Picture {
  int sequence[7];
  unsigned char depths[4];
  int picture[14];
  int ref_pic_flag, frame_num, order_count[2];
};

struct Av1Picture {
  unsigned width, height;
};

struct PictureInfo {
  int width_in_mbs, height_in_mbs, index;
  int field_pic_flag, bottom_field_flag, second_field;
  unsigned bytes;
  const unsigned char* data;
  unsigned slices;
  const unsigned* slice_offsets;
  int ref_pic_flag, intra_pic_flag;
  unsigned reserved[30];
  union {
    H264Picture h264;
    Av1Picture av1;
    unsigned all[1024];
  } codec;
};

struct Calls {
  unsigned losing = 0;
  unsigned failing = 0;

  // `name` is "decode" or "map".
  bool fail(const std::string& name) {
    if (fakecuda::fails_from((name + "-loses-at").c_str(), losing)) fakecuda::lose();
    const bool failed = fakecuda::fails_from((name + "-fails-at").c_str(), failing);
    return failed || fakecuda::is_lost();
  }
};
Calls decodes;
Calls maps;

// The picture that libavcodec's own decoder writes into, whether or not it is ever shown.
struct Inner {
  AVCodecContext* context = nullptr;
  AVFrame* written = av_frame_alloc();

  explicit Inner(const char* name) {
    context = avcodec_alloc_context3(avcodec_find_decoder_by_name(name));
    context->thread_count = 1;
    context->log_level_offset = 32;
    context->opaque = this;
    context->get_buffer2 = [](AVCodecContext* c, AVFrame* frame, int flags) {
      const int rc = avcodec_default_get_buffer2(c, frame, flags);
      AVFrame* last = static_cast<Inner*>(c->opaque)->written;
      av_frame_unref(last);
      if (rc == 0) av_frame_ref(last, frame);
      return rc;
    };
    avcodec_open2(context, nullptr, nullptr);
  }
  ~Inner() {
    avcodec_free_context(&context);
    av_frame_free(&written);
  }
  bool decode(const unsigned char* data, unsigned bytes) {
    AVPacket* packet = av_packet_alloc();
    av_new_packet(packet, static_cast<int>(bytes));
    std::memcpy(packet->data, data, bytes);
    av_frame_unref(written);
    const int sent = avcodec_send_packet(context, packet);
    av_packet_free(&packet);
    AVFrame* shown = av_frame_alloc();
    while (avcodec_receive_frame(context, shown) == 0) av_frame_unref(shown);
    av_frame_free(&shown);
    return sent >= 0 && written->data[0];
  }
};

}  // namespace

struct Decoder {
  CreateInfo info{};
  std::unique_ptr<Inner> inner;
  size_t pitch = 0;
  std::vector<std::vector<uint8_t>> pictures;  // by index: NV12 or P016
  std::map<uint64_t, std::shared_ptr<uint8_t[]>> mapped;
  std::vector<std::shared_ptr<uint8_t[]>> unmapped;  // overwritten, and kept for who reads on

  [[nodiscard]] bool is_jpeg() const { return info.codec == kJpeg; }
  [[nodiscard]] size_t sample() const { return info.output_format == kP016 ? 2 : 1; }
  [[nodiscard]] size_t rows() const { return (info.target_height + 1) / 2 * 2; }
  [[nodiscard]] size_t picture_bytes() const { return pitch * rows() / 2 * 3; }

  void store(std::vector<uint8_t>& to, const AVFrame& from) const {
    const auto put = [&](size_t row, size_t column, int plane, size_t x, size_t y) {
      uint8_t* at = to.data() + row * pitch + column * sample();
      const uint8_t* line = from.data[plane] + static_cast<ptrdiff_t>(y) * from.linesize[plane];
      if (sample() == 1) {
        *at = line[x];
      } else {
        uint16_t value = 0;
        std::memcpy(&value, line + 2 * x, 2);
        value = static_cast<uint16_t>(value << 6);
        std::memcpy(at, &value, 2);
      }
    };
    const auto width = static_cast<size_t>(from.width),
               height = static_cast<size_t>(from.height);
    for (size_t y = 0; y < height; ++y)
      for (size_t x = 0; x < width; ++x) put(y, x, 0, x, y);
    const size_t chroma_rows = is_jpeg() ? info.height / 2 : (height + 1) / 2;
    for (size_t y = 0; y < chroma_rows; ++y)
      for (size_t x = 0; x < (width + 1) / 2; ++x) {
        put(rows() + y, 2 * x, 1, x, y);
        put(rows() + y, 2 * x + 1, 2, x, y);
      }
  }
};

namespace {

// NVDEC stretches a picture of another size than its decoder's.
uint8_t value_of(const Decoder& decoder, const PictureInfo& info) {
  if (decoder.info.codec != kAv1)
    return static_cast<uint8_t>(info.codec.h264.order_count[0] / 2);
  const bool fits = info.codec.av1.width == decoder.info.width &&
                    info.codec.av1.height == decoder.info.height;
  return fits ? 1 : 2;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuvidGetDecoderCaps(dxva::cuda::CuvidDecodeCaps* caps) {
  const bool ten = caps->bit_depth_minus_8 == 2;
  caps->is_supported =
      caps->chroma_format == 1 &&
      (ten ? caps->codec == kVp9 || caps->codec == kHevc
           : caps->bit_depth_minus_8 == 0 &&
                 (caps->codec == kH264 || caps->codec == kHevc || caps->codec == kVp8 ||
                  caps->codec == kVp9 || caps->codec == kJpeg || caps->codec == kAv1));
  caps->output_formats = ten ? 3 : 1;
  caps->min_width = caps->min_height = 32;
  caps->max_width = caps->max_height = 4096;
  caps->max_macroblocks = 65536;
  return 0;
}

int cuvidCreateDecoder(Decoder** out, CreateInfo* info) {
  if (fakecuda::fault("create-fails")) return kInvalidValue;
  auto made = std::make_unique<Decoder>();
  made->info = *info;
  if (info->codec == kVp8) made->inner = std::make_unique<Inner>("vp8");
  if (info->codec == kVp9) made->inner = std::make_unique<Inner>("vp9");
  if (info->codec == kJpeg) made->inner = std::make_unique<Inner>("mjpeg");
  made->pitch = (info->target_width * made->sample() + 511) / 512 * 512;
  made->pictures.resize(info->decode_surfaces);
  *out = made.release();
  return 0;
}

int cuvidDestroyDecoder(Decoder* decoder) {
  delete decoder;
  return 0;
}

int cuvidDecodePicture(Decoder* decoder, PictureInfo* info) {
  if (decodes.fail("decode")) return kUnknown;
  if (info->index < 0 || static_cast<size_t>(info->index) >= decoder->pictures.size())
    return kInvalidValue;
  auto& picture = decoder->pictures[static_cast<size_t>(info->index)];
  if (!decoder->inner) {
    picture.assign(decoder->picture_bytes(), value_of(*decoder, *info));
    return 0;
  }
  if (!decoder->inner->decode(info->data, info->bytes)) return kUnknown;
  picture.assign(decoder->picture_bytes(), 0);
  decoder->store(picture, *decoder->inner->written);
  return 0;
}

int cuvidMapVideoFrame64(Decoder* decoder, int index, uint64_t* address, unsigned* pitch,
                         void*) {
  if (maps.fail("map")) return kUnknown;
  if (index < 0 || static_cast<size_t>(index) >= decoder->pictures.size() ||
      decoder->pictures[static_cast<size_t>(index)].empty() ||
      decoder->mapped.size() >= decoder->info.output_surfaces)
    return kInvalidValue;
  const auto& picture = decoder->pictures[static_cast<size_t>(index)];
  const std::shared_ptr<uint8_t[]> copy(new uint8_t[picture.size()]());
  const auto fill = [picture, copy] { std::ranges::copy(picture, copy.get()); };
  if (decoder->is_jpeg())
    fakecuda::enqueue(nullptr, {.run = fill});
  else
    fill();
  *address = reinterpret_cast<uintptr_t>(copy.get());
  *pitch = static_cast<unsigned>(decoder->pitch);
  decoder->mapped[*address] = copy;
  return 0;
}

int cuvidUnmapVideoFrame64(Decoder* decoder, uint64_t address) {
  const auto found = decoder->mapped.find(address);
  if (found == decoder->mapped.end()) return kInvalidValue;
  std::memset(found->second.get(), 0xee, decoder->picture_bytes());
  decoder->unmapped.push_back(std::move(found->second));
  if (decoder->unmapped.size() > 4) decoder->unmapped.erase(decoder->unmapped.begin());
  decoder->mapped.erase(found);
  return 0;
}

#define NEVER(name)  \
  int name() {       \
    return kUnknown; \
  }
NEVER(cuvidGetDecodeStatus)
NEVER(cuvidReconfigureDecoder)
NEVER(cuvidCtxLockCreate)
NEVER(cuvidCtxLockDestroy)
NEVER(cuvidCtxLock)
NEVER(cuvidCtxUnlock)
NEVER(cuvidCreateVideoSource)
NEVER(cuvidCreateVideoSourceW)
NEVER(cuvidDestroyVideoSource)
NEVER(cuvidSetVideoSourceState)
NEVER(cuvidGetVideoSourceState)
NEVER(cuvidGetSourceVideoFormat)
NEVER(cuvidGetSourceAudioFormat)
NEVER(cuvidCreateVideoParser)
NEVER(cuvidParseVideoData)
NEVER(cuvidDestroyVideoParser)
#undef NEVER

}  // extern "C"
#pragma GCC visibility pop
