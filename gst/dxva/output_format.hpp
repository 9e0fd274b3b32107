// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <optional>

#include "lib/decode/bitstream_decoder.hpp"

namespace dxva::gst {

// What of a picture reaches the caps: another value means another negotiation.
struct OutputFormat {
  bool hardware = false;
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;  // of the picture as it was decoded
  uint32_t width = 0;                                // visible, pixels
  uint32_t height = 0;
  bool interlaced = false;
  bool lone_field = false;
  uint32_t aspect_num = 0;
  uint32_t aspect_den = 0;
  decode::Colour colour;
  std::optional<decode::MasteringDisplay> mastering;
  std::optional<decode::ContentLight> light;

  friend bool operator==(const OutputFormat&, const OutputFormat&) = default;

  // UNKNOWN format: GStreamer has none for this picture.
  [[nodiscard]] static OutputFormat of(const decode::DecodedFrame& frame);
};

// The other format into which a copy can put pictures of `format` and this width (pixels), with
// the same samples: 4:2:0 with chroma in one plane for two and the reverse, NV12 for gray, and
// for planes of more than 8 bits what OpenGL elements have instead of them. UNKNOWN: none. So a
// consumer that was meant for surfaces takes software pictures, and one that was meant for
// libavcodec's takes surfaces.
[[nodiscard]] GstVideoFormat rearranged(GstVideoFormat format, uint32_t width);

// Completes `info` (made for the size and format) with what the stream says and the container,
// whose caps are `input`, does not: the container wins, as in gst-libav.
void add_stream_facts(GstVideoInfo& info, const OutputFormat& output, const GstCaps* input);
// The same for HDR metadata, which only caps carry.
void add_hdr_facts(GstCaps* caps, const OutputFormat& output);

}  // namespace dxva::gst
