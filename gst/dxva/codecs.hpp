// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <optional>

#include "lib/decode/bitstream_decoder.hpp"

namespace dxva::gst {

// What dxvadec takes, as parsers give it. Static: nothing looks at a driver while the registry
// is scanned.
[[nodiscard]] GstCaps* sink_template_caps();
// What it gives, in the order of our liking. DMA_DRM is named only where GStreamer knows it.
[[nodiscard]] GstCaps* src_template_caps();
// The same whatever GStreamer this one is, for documentation.
[[nodiscard]] GstCaps* src_documentation_caps();

[[nodiscard]] std::optional<decode::Codec> codec_of(const GstStructure* caps);
// VP8 and VP9 of WebM whose alpha channel comes as a second stream in the buffers' metas.
[[nodiscard]] bool has_alpha(const GstStructure* caps);

// GStreamer 1.24 and later: `format=DMA_DRM, drm-format=…`.
[[nodiscard]] bool has_dma_drm();

}  // namespace dxva::gst
