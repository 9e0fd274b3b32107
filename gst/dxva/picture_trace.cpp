// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/picture_trace.hpp"

#include <algorithm>

#include "gst/common/trace_board.hpp"

namespace dxva::gst {

trace::Spans* PictureTrace::open(uint32_t number) {
  if (!trace::listener()) return nullptr;
  const auto known = std::find_if(open_.begin(), open_.end(),
                                  [number](const Open& one) { return one.number == number; });
  if (known != open_.end()) return &known->spans;
  if (open_.size() == kMostOpen) open_.pop_front();
  open_.push_back({.number = number});
  return &open_.back().spans;
}

void PictureTrace::left(GstVideoDecoder& element, const decode::DecodedFrame& picture,
                        const GstVideoCodecFrame& frame, Leaving leaving, Reason reason,
                        bool damaged) {
  const trace::Listener* listener = trace::listener();
  if (!listener) return;
  const trace::Spans* spans = open(picture.number);
  if (!spans) return;  // it stopped listening just now
  listener->part({
      .role = trace::Part::Role::Decoder,
      .element = &element,
      .element_name = GST_OBJECT_NAME(&element),
      .memory = trace_memory(frame.output_buffer),
      .surface = picture.surface ? int64_t{picture.surface->id()} : -1,
      .pts_ns = GST_CLOCK_TIME_IS_VALID(frame.pts) ? static_cast<int64_t>(frame.pts) : -1,
      .step = leaving_name(leaving),
      .reason = reason_name(reason),
      .damaged = damaged,
      .spans = spans->list(),
  });
  std::erase_if(open_, [&](const Open& one) { return one.number == picture.number; });
}

}  // namespace dxva::gst
