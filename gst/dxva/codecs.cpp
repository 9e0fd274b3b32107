// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/codecs.hpp"

#include <string>
#include <string_view>

namespace dxva::gst {

namespace {

// VP9 and AV1 come as whole temporal units: every packet then has a picture that is shown.
// libavcodec splits them itself. What names no alignment is asked for `parsed`, or typefind's
// caps would do and a file's blocks of 4096 bytes be taken for pictures. VP8 has neither:
// nothing but a demuxer can give it.
constexpr const char* kSinkCaps =
    "video/x-h264, stream-format=(string){ avc, avc3, byte-stream }, alignment=(string)au; "
    "video/x-h265, stream-format=(string){ hvc1, hev1, byte-stream }, alignment=(string)au; "
    "video/x-vp8; "
    "video/x-vp9, alignment=(string)super-frame; "
    "video/x-av1, stream-format=(string)obu-stream, alignment=(string)tu; "
    "video/mpeg, mpegversion=(int)2, systemstream=(boolean)false, parsed=(boolean)true; "
    "image/jpeg, parsed=(boolean)true";

// The software step gives what the stream is (a list of NV12 and P010 alone would end a 4:2:2
// stream in an error although libavcodec decodes it), and of more than 8 bits also the packed
// formats that OpenGL elements take.
constexpr const char* kRawFormats =
    "{ NV12, P010_10LE, I420, Y42B, Y41B, Y444, I420_10LE, I422_10LE, Y444_10LE, I420_12LE, "
    "I422_12LE, Y444_12LE, GRAY8, GBR, GBR_10LE, GBR_12LE, P012_LE, Y210, Y212_LE, Y410, "
    "Y412_LE }";
constexpr const char* kSize =
    "width=(int)[ 1, 2147483647 ], height=(int)[ 1, 2147483647 ], "
    "framerate=(fraction)[ 0/1, 2147483647/1 ]";

}  // namespace

bool has_dma_drm() {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  return major > 1 || minor >= 24 || (minor == 23 && micro >= 1);
}

GstCaps* sink_template_caps() {
  return gst_caps_from_string(kSinkCaps);
}

namespace {

GstCaps* src_caps(bool with_dma_drm) {
  std::string text;
  if (with_dma_drm)
    text += std::string("video/x-raw(memory:DMABuf), format=(string)DMA_DRM, ") + kSize + "; ";
  text += std::string("video/x-raw(memory:DMABuf), format=(string){ NV12, P010_10LE }, ") +
          kSize + "; ";
  text += std::string("video/x-raw(memory:OpaqueFd), format=(string){ NV12, P010_10LE }, ") +
          kSize + "; ";
  text += std::string("video/x-raw, format=(string)") + kRawFormats + ", " + kSize;
  return gst_caps_from_string(text.c_str());
}

}  // namespace

GstCaps* src_template_caps() {
  return src_caps(has_dma_drm());
}

GstCaps* src_documentation_caps() {
  return src_caps(true);
}

std::optional<decode::Codec> codec_of(const GstStructure* caps) {
  const std::string_view name = gst_structure_get_name(caps);
  using enum decode::Codec;
  if (name == "video/x-h264") return H264;
  if (name == "video/x-h265") return H265;
  if (name == "video/x-vp8") return Vp8;
  if (name == "video/x-vp9") return Vp9;
  if (name == "video/x-av1") return Av1;
  if (name == "video/mpeg") return Mpeg2;
  if (name == "image/jpeg") return Jpeg;
  return std::nullopt;
}

bool has_alpha(const GstStructure* caps) {
  gboolean alpha = FALSE;
  return gst_structure_get_boolean(caps, "codec-alpha", &alpha) && alpha;
}

}  // namespace dxva::gst
