// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/colour.hpp"

namespace dxva::gst {

video::Colorimetry colorimetry_of(const GstVideoInfo& info) {
  video::Colorimetry out;
  switch (info.colorimetry.matrix) {
    case GST_VIDEO_COLOR_MATRIX_BT709:
      out.matrix = video::Matrix::Bt709;
      break;
    case GST_VIDEO_COLOR_MATRIX_BT2020:
      out.matrix = video::Matrix::Bt2020;
      break;
    case GST_VIDEO_COLOR_MATRIX_FCC:
      out.matrix = video::Matrix::Fcc;
      break;
    case GST_VIDEO_COLOR_MATRIX_SMPTE240M:
      out.matrix = video::Matrix::Smpte240m;
      break;
    case GST_VIDEO_COLOR_MATRIX_BT601:
      out.matrix = video::Matrix::Bt601;
      break;
    default:  // not told: HD is 709, as GStreamer itself guesses
      out.matrix =
          GST_VIDEO_INFO_HEIGHT(&info) > 576 ? video::Matrix::Bt709 : video::Matrix::Bt601;
  }
  out.range = info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255 ? video::Range::Full
                                                                    : video::Range::Limited;
  return out;
}

video::ChromaSiting siting_of(const GstVideoInfo& info) {
  using enum video::ChromaSiting::Place;
  const GstVideoChromaSite site = GST_VIDEO_INFO_CHROMA_SITE(&info);
  if (site == GST_VIDEO_CHROMA_SITE_UNKNOWN) return {};
  return {.horizontal = site & GST_VIDEO_CHROMA_SITE_H_COSITED ? Cosited : Between,
          .vertical = site & GST_VIDEO_CHROMA_SITE_V_COSITED ? Cosited : Between};
}

}  // namespace dxva::gst
