// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <optional>
#include <string>

#include "gst/common/gst_ptr.hpp"
#include "gst/dxvagl/dmabuf_offer.hpp"
#include "lib/base/device_uuids.hpp"

namespace dxva::gst {

// Whether this GStreamer speaks DMA_DRM caps (1.24). Asked at run time, so that one build
// serves both.
[[nodiscard]] bool has_drm_caps();

// The pads' templates, with caps for documentation that are the same whatever GStreamer this
// one is: each version has more formats that OpenGL can hold, so these name none.
[[nodiscard]] GstPadTemplate* sink_template();
[[nodiscard]] GstPadTemplate* src_template();

// "NV12" (linear) or "NV12:0x0100000000000002".
struct DrmFormat {
  uint32_t fourcc = 0;
  uint64_t modifier = 0;
};
[[nodiscard]] std::optional<DrmFormat> parse_drm_format(const char* text);
[[nodiscard]] std::string drm_format_text(const DrmFormat& format);

// What one pad can have when the other has `caps`. Own format first: it needs no shader pass.
struct TransformCaps {
  DmabufOffers offers;
  bool drm_caps = false;              // list DMA_DRM forms
  bool draws = true;                  // there are shaders to make RGB with
  std::optional<DeviceUuids> opaque;  // whose opaque memory is taken
};
[[nodiscard]] GstPtr<GstCaps> transform_caps(GstPadDirection direction, GstCaps* caps,
                                             const TransformCaps& with);

// Whether the answer to transform_caps() of a caps query is the same in any context, so that
// none need be made for it: a question of sizes and rates, as decoders pass it on before they
// know their pictures, about system memory and nothing else. (Not quite any: without shaders
// there is no RGB. Fixed caps, which are a stream's, are answered exactly.) `filter` may be
// null.
[[nodiscard]] bool is_any_context(GstPadDirection direction, const GstCaps* caps,
                                  const GstCaps* filter);

// One output for `in` out of `candidates`: the input's own format where that is possible, RGB
// for a tiled picture that GL samples as a whole or where somebody prefers it, and for RGB the
// colorimetry that the conversion gives.
enum class PreferRgb { No, Yes };
[[nodiscard]] GstPtr<GstCaps> fixate_output(GstCaps* in, GstPtr<GstCaps> candidates,
                                            const DmabufOffers& offers,
                                            PreferRgb prefer = PreferRgb::No);

enum class MemoryKind { System, Dmabuf, Opaque, Gl };
struct InputFormat {
  GstVideoInfo info;  // of the pixels, whatever the caps wrap them in
  MemoryKind memory = MemoryKind::System;
  uint64_t modifier = 0;
  std::optional<DeviceUuids> opaque_uuids;  // of MemoryKind::Opaque
};
[[nodiscard]] std::optional<InputFormat> parse_input(GstCaps* caps);

}  // namespace dxva::gst
