// SPDX-License-Identifier: LGPL-2.1-or-later
//
// NVDEC's pictures by another client: libavcodec's decoders named *_cuvid, which have NVIDIA's
// own parser, and share neither a line with our elements nor a CUDA stream with them. For
// codecs that leave their rounding open, so that only the same decoder gives the same bytes.
//
//   gpu_reference CLIP FILE
//
// FILE gets every picture's visible rows as NV12, as gpu_decode --raw writes them.

#include <gst/app/gstappsink.h>
#include <gst/gst.h>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/hwcontext.h>
}

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "gst/common/gst_ptr.hpp"
#include "tests/gpu/parsers.hpp"

namespace dxva::gpu {
namespace {

using gst::GstPtr;

struct FreeContext {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
};
struct FreeFrame {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};
struct FreePacket {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};
struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

const char* decoder_for(const GstCaps* caps) {
  const auto* structure = gst_caps_get_structure(caps, 0);
  if (gst_structure_has_name(structure, "image/jpeg")) return "mjpeg_cuvid";
  if (gst_structure_has_name(structure, "video/mpeg")) return "mpeg2_cuvid";
  return nullptr;
}

class Client {
 public:
  Client(const char* name, File out) : out_(std::move(out)) {
    AVBufferRef* device = nullptr;
    const AVCodec* codec = avcodec_find_decoder_by_name(name);
    if (!codec ||
        av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_CUDA, nullptr, nullptr, 0) < 0)
      return;
    context_.reset(avcodec_alloc_context3(codec));
    context_->hw_device_ctx = device;
    context_->pkt_timebase = {1, static_cast<int>(GST_SECOND)};
    context_->get_format = [](AVCodecContext*, const AVPixelFormat* formats) {
      while (*formats != AV_PIX_FMT_NONE && *formats != AV_PIX_FMT_CUDA) ++formats;
      return *formats;
    };
    good_ = avcodec_open2(context_.get(), codec, nullptr) == 0;
  }

  // Null: the end.
  void decode(GstSample* sample) {
    const std::unique_ptr<AVPacket, FreePacket> packet(av_packet_alloc());
    GstMapInfo map;
    GstBuffer* buffer = sample ? gst_sample_get_buffer(sample) : nullptr;
    if (buffer && gst_buffer_map(buffer, &map, GST_MAP_READ)) {
      good_ &= av_new_packet(packet.get(), static_cast<int>(map.size)) == 0;
      if (good_) std::copy_n(map.data, map.size, packet->data);
      packet->pts = static_cast<int64_t>(GST_BUFFER_PTS(buffer));
      gst_buffer_unmap(buffer, &map);
    }
    int sent = AVERROR(EAGAIN);
    while (good_ && sent == AVERROR(EAGAIN)) {
      sent = avcodec_send_packet(context_.get(), sample ? packet.get() : nullptr);
      take();
    }
    good_ &= sent == 0;
  }
  [[nodiscard]] bool good() const { return good_ && pictures_ > 0; }

 private:
  void take() {
    const std::unique_ptr<AVFrame, FreeFrame> frame(av_frame_alloc()), read(av_frame_alloc());
    while (avcodec_receive_frame(context_.get(), frame.get()) == 0) {
      good_ &= av_hwframe_transfer_data(read.get(), frame.get(), 0) == 0 &&
               read->format == AV_PIX_FMT_NV12;
      if (!good_) return;
      const auto rows = [this, &read](int plane, int count, int bytes) {
        for (int y = 0; y < count; ++y)
          good_ &=
              std::fwrite(read->data[plane] + ptrdiff_t{y} * read->linesize[plane], 1,
                          static_cast<size_t>(bytes), out_.get()) == static_cast<size_t>(bytes);
      };
      rows(0, frame->height, frame->width);
      rows(1, (frame->height + 1) / 2, (frame->width + 1) / 2 * 2);
      ++pictures_;
      av_frame_unref(read.get());
    }
  }

  File out_;
  std::unique_ptr<AVCodecContext, FreeContext> context_;
  bool good_ = false;
  unsigned pictures_ = 0;
};

int run(const std::string& clip, const char* path) {
  File out(std::fopen(path, "wb"));
  use_all_parsers();
  const std::string line =
      "filesrc location=\"" + clip + "\" ! parsebin ! appsink name=s sync=false";
  const auto pipeline = GstPtr<GstElement>::adopt(gst_parse_launch(line.c_str(), nullptr));
  if (!out || !pipeline) return 1;
  const auto sink =
      GstPtr<GstElement>::adopt(gst_bin_get_by_name(GST_BIN(pipeline.get()), "s"));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  std::unique_ptr<Client> client;
  while (auto sample =
             GstPtr<GstSample>::adopt(gst_app_sink_pull_sample(GST_APP_SINK(sink.get())))) {
    if (!client) {
      const char* name = decoder_for(gst_sample_get_caps(sample.get()));
      if (!name) break;
      client = std::make_unique<Client>(name, std::move(out));
    }
    client->decode(sample.get());
  }
  if (client) client->decode(nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  if (client && client->good()) return 0;
  std::fprintf(stderr, "gpu_reference: NVDEC gives nothing of %s\n", clip.c_str());
  return 1;
}

}  // namespace
}  // namespace dxva::gpu

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "gpu_reference CLIP FILE\n");
    return 2;
  }
  gst_init(nullptr, nullptr);
  return dxva::gpu::run(argv[1], argv[2]);
}
