// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/field_doubler.hpp"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace dxva::softva {

std::shared_ptr<AVFrame> FieldDoubler::show(const AVFrame& frame, bool bottom) {
  if (!shown_ || shown_.use_count() > 1 || shown_->format != frame.format ||
      shown_->width != frame.width || shown_->height != frame.height) {
    shown_.reset(av_frame_alloc(), [](AVFrame* f) { av_frame_free(&f); });
    if (!shown_) return nullptr;
    shown_->format = frame.format;
    shown_->width = frame.width;
    shown_->height = frame.height;
    if (av_frame_get_buffer(shown_.get(), 0) < 0) {
      shown_ = nullptr;
      return nullptr;
    }
  }
  const auto format = static_cast<AVPixelFormat>(frame.format);
  const int chroma_shift = av_pix_fmt_desc_get(format)->log2_chroma_h;
  for (int plane = 0; plane < av_pix_fmt_count_planes(format); ++plane) {
    const int height = plane == 0 ? frame.height : AV_CEIL_RSHIFT(frame.height, chroma_shift);
    const int bytes = av_image_get_linesize(format, frame.width, plane);
    const int pitch = frame.linesize[plane];
    const uint8_t* field = frame.data[plane] + (bottom ? pitch : 0);
    const int out_pitch = shown_->linesize[plane];
    for (const int line : {0, 1})
      av_image_copy_plane(shown_->data[plane] + line * out_pitch, 2 * out_pitch, field,
                          2 * pitch, bytes, height / 2);
  }
  return shown_;
}

}  // namespace dxva::softva
