// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/surface_look.hpp"

#include "lib/base/fourcc.hpp"
#include "lib/base/trace.hpp"

namespace dxva::gst {

SurfaceLook look_at(const decode::DecodedFrame& picture, video::LayoutRule rule) {
  const trace::Timed exporting(trace::Stage::Export);
  SurfaceLook out;
  auto exported = picture.surface->exported();
  if (!exported) {
    out.refused = exported.error().reason;
    if (out.refused == Reason::None) out.refused = Reason::ExportFailed;
    return out;
  }
  const dmabuf::ExternalFrame& frame = *exported->frame;
  out.opaque = frame.opaque;
  if (frame.plane_count > 0) out.modifier = frame.objects[frame.planes[0].object].modifier;
  auto layout = video::classify(frame.describe(), rule);
  if (!layout) {
    out.refused = layout.error().reason;
    return out;
  }
  out.exported = *exported;
  out.layout = *layout;
  const decode::Rect& visible = picture.visible;
  // The rows were proved for the exported size; ours must lie inside it.
  if (visible.x + visible.width > frame.width || visible.y + visible.height > frame.height)
    out.refused = Reason::DescriptorInvalid;
  else if ((visible.x > 0 || visible.y > 0) &&
           layout->layout_class == video::LayoutClass::Tiled)
    out.refused = Reason::TiledPlaneOffset;
  else if (visible.x % 2 != 0 || visible.y % 2 != 0)
    out.refused = Reason::OffsetOutOfRange;  // chroma would be off by half a sample
  return out;
}

SurfaceOffer offer_of(const SurfaceLook& look, const decode::DecodedFrame& picture) {
  const dmabuf::ExternalFrame& frame = *look.exported.frame;
  SurfaceOffer out{.modifier = look.layout.modifier, .opaque = frame.opaque};
  GstVideoInfo info;
  gst_video_info_init(&info);
  const GstVideoFormat format = picture.surface->fourcc() == format::kNV12
                                    ? GST_VIDEO_FORMAT_NV12
                                    : GST_VIDEO_FORMAT_P010_10LE;
  gst_video_info_set_format(&info, format, picture.visible.width, picture.visible.height);
  out.default_layout = look.layout.layout_class != video::LayoutClass::Tiled &&
                       picture.visible.x == 0 && picture.visible.y == 0;
  for (uint32_t i = 0; i < frame.plane_count; ++i)
    if (frame.planes[i].offset != GST_VIDEO_INFO_PLANE_OFFSET(&info, i) ||
        frame.planes[i].pitch_bytes != static_cast<uint64_t>(info.stride[i]) ||
        frame.objects[frame.planes[i].object].identity != frame.objects[0].identity)
      out.default_layout = false;
  return out;
}

}  // namespace dxva::gst
