// SPDX-License-Identifier: LGPL-2.1-or-later
#include <utility>

#include "gst/common/spare_memory.hpp"
#include "gst/dxva/copy_watch.hpp"
#include "gst/dxva/decoder.hpp"
#include "gst/dxva/gstdxvaallocator.hpp"
#include "gst/dxva/mapped_buffer.hpp"
#include "gst/dxva/picture_copy.hpp"
#include "gst/dxva/surface_memory.hpp"
#include "lib/base/translation.hpp"

GST_DEBUG_CATEGORY_EXTERN(dxvadec_debug);
#define GST_CAT_DEFAULT dxvadec_debug

namespace dxva::gst {

namespace {

constexpr size_t kMostLentTiles = 256;

PictureView view_of(const decode::DecodedFrame& picture, GstVideoFormat format) {
  PictureView out{.format = format, .plane_count = picture.software.plane_count};
  for (uint32_t i = 0; i < out.plane_count; ++i)
    out.planes[i] = {.data = picture.software.planes[i].data,
                     .pitch_bytes = picture.software.planes[i].pitch_bytes};
  return out;
}

PictureView view_of(surface::Mapping& mapping, GstVideoFormat format) {
  const video::FrameView& surface = mapping.view();
  PictureView out{.format = format,
                  .plane_count = surface.plane_count,
                  .plane_copy = [&mapping](const video::PlaneView& from, uint8_t* to,
                                           uint32_t to_pitch_bytes) {
                    mapping.copy_plane(from, to, to_pitch_bytes);
                  }};
  for (uint32_t i = 0; i < out.plane_count; ++i)
    out.planes[i] = {.data = surface.planes[i].data,
                     .pitch_bytes = surface.planes[i].pitch_bytes};
  return out;
}

// Where the visible part of a plane starts, from the plane's own start. Moving the offsets in
// GstVideoMeta crops without a copy, and needs no support for GstVideoCropMeta downstream.
gsize crop_offset(const GstVideoFormatInfo* info, uint32_t plane, gint stride,
                  const decode::Rect& visible) {
  // Plane 0 is luma, 1 both chroma components of NV12 and P010.
  const uint32_t x = visible.x >> GST_VIDEO_FORMAT_INFO_W_SUB(info, plane);
  const uint32_t y = visible.y >> GST_VIDEO_FORMAT_INFO_H_SUB(info, plane);
  return gsize{y} * static_cast<gsize>(stride) +
         gsize{x} * static_cast<gsize>(GST_VIDEO_FORMAT_INFO_PSTRIDE(info, plane));
}

void mark(GstBuffer* buffer, const decode::DecodedFrame& picture, const GstVideoInfo& info) {
  if (GST_VIDEO_INFO_INTERLACE_MODE(&info) == GST_VIDEO_INTERLACE_MODE_MIXED) {
    if (picture.interlaced) GST_BUFFER_FLAG_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
    if (picture.top_field_first) GST_BUFFER_FLAG_SET(buffer, GST_VIDEO_BUFFER_FLAG_TFF);
    if (picture.repeat_first_field) GST_BUFFER_FLAG_SET(buffer, GST_VIDEO_BUFFER_FLAG_RFF);
  }
  if (picture.corrupt) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_CORRUPTED);
}

}  // namespace

// --- the stream of pictures

GstFlowReturn Decoder::push_ready() {
  GstFlowReturn flow = GST_FLOW_OK;
  while (flow == GST_FLOW_OK) {
    const auto picture = decoder_->receive();
    if (!picture) break;
    flow = deliver(*picture);
  }
  return flow;
}

// Second fields and hidden frames: dropping them would count as lost pictures.
void Decoder::release_abandoned() {
  for (const uint32_t number : decoder_->take_abandoned())
    if (GstVideoCodecFrame* frame =
            gst_video_decoder_get_frame(&element_, static_cast<int>(number)))
      gst_video_decoder_release_frame(&element_, frame);
}

GstFlowReturn Decoder::deliver(const decode::DecodedFrame& picture) {
  GstVideoCodecFrame* frame =
      gst_video_decoder_get_frame(&element_, static_cast<int>(picture.number));
  if (!frame) {
    GST_LOG_OBJECT(&element_, "picture %u is not awaited any more", picture.number);
    return GST_FLOW_OK;
  }
  std::optional<trace::Recording> recording(trace_.open(picture.number));
  SurfaceLook look;
  const Prepared prepared = prepare(picture, look);
  if (prepared.kind == Prepared::Kind::DecodedAgain) {
    // The frame stays in the base class's list for the second attempt.
    gst_video_codec_frame_unref(frame);
    return prepared.flow;
  }
  if (prepared.kind == Prepared::Kind::Refused) {
    gst_video_decoder_release_frame(&element_, frame);
    return GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(&element_)) ? GST_FLOW_FLUSHING
                                                                     : GST_FLOW_NOT_NEGOTIATED;
  }
  const Outgoing outgoing = leave(picture, look, *frame);
  if (outgoing.unreadable != Reason::None) {
    gst_video_codec_frame_unref(frame);  // stays listed, as above
    const Status again = decoder_->decode_again(picture, outgoing.unreadable);
    return again ? GST_FLOW_OK : answer_error(again.error());
  }
  if (outgoing.flow != GST_FLOW_OK || !frame->output_buffer) {
    gst_video_decoder_release_frame(&element_, frame);
    return outgoing.flow;
  }
  mark(frame->output_buffer, picture, agreement_.info);
  if (outgoing.damaged) GST_BUFFER_FLAG_SET(frame->output_buffer, GST_BUFFER_FLAG_CORRUPTED);
  const auto pools = decoder_->pools();
  stats_.set_pools(pools.surfaces, pools.late_surfaces);
  if (outgoing.measured)
    stats_.count_turn(outgoing.leaving, outgoing.reason);
  else if (auto message =
               stats_.count(GST_ELEMENT(&element_), outgoing.leaving, outgoing.reason))
    gst_element_post_message(GST_ELEMENT(&element_), message.release());
  GST_LOG_OBJECT(&element_, "picture %u: surface 0x%x %s (%s)", picture.number,
                 picture.surface ? picture.surface->id() : 0, leaving_name(outgoing.leaving),
                 reason_name(outgoing.reason));
  recording.reset();
  trace_.left(element_, picture, *frame, outgoing.leaving, outgoing.reason,
              outgoing.damaged || picture.corrupt);
  return gst_video_decoder_finish_frame(&element_, frame);
}

// --- exported

bool Decoder::has_room(surface::Pool& pool) {
  if (active_.zero_copy == ZeroCopy::Require) return true;
  if (pool.has_room(active_.extra_surfaces)) return true;
  // Some may only be on their way back.
  if (active_.extra_surfaces >= kSparesFrom)
    gst_pad_push_event(GST_VIDEO_DECODER_SRC_PAD(&element_), make_spares_wanted_event());
  // What a live source makes while we wait may be lost, so there no wait is a long one. With
  // few surfaces a sink that shows one has most of them, and too little is left behind them.
  const auto copies = active_.extra_surfaces >= kSparesFrom && !source_is_live()
                          ? surface::Pool::WhileCopiesReturn::Waits
                          : surface::Pool::WhileCopiesReturn::Ends;
  if (pool.wait_for_room(active_.extra_surfaces, copies)) return true;
  full_ = pool.weak_from_this();
  return false;
}

bool Decoder::source_is_live() {
  if (!live_) {
    const auto query = GstPtr<GstQuery>::adopt(gst_query_new_latency());
    gboolean live = FALSE;
    if (gst_pad_peer_query(GST_VIDEO_DECODER_SINK_PAD(&element_), query.get()))
      gst_query_parse_latency(query.get(), &live, nullptr, nullptr);
    live_ = live;
  }
  return *live_;
}

// Puts the surface's memory into the frame, or says why not.
Reason Decoder::lend(const decode::DecodedFrame& picture, const SurfaceLook& look,
                     accel::Pixels pixels, GstVideoCodecFrame& frame) {
  const dmabuf::ExternalFrame& external = *look.exported.frame;
  for (uint32_t i = 0; i < external.object_count; ++i) {
    const auto refusal = refused_.ask(external.objects[i].identity);
    // Perhaps because the surface's memory is no longer what was exported.
    if (refusal.news) picture.surface->doubt_export();
    if (refusal.reason != Reason::None) return refusal.reason;
  }
  // The gate. As many surfaces as downstream may have are there: this one stays ours, so that
  // libavcodec always finds a target. Inside get_buffer2 there would be nothing left to copy.
  const bool copy_is_possible = agreement_.takes_system || copies_fit(agreement_);
  if (copy_is_possible && !has_room(picture.surface->pool())) return Reason::SurfacePoolEmpty;

  auto memories = SurfaceMemories::of(*picture.surface, look.exported,
                                      {.dmabuf = allocator_.get(),
                                       .opaque = opaque_allocator_.get(),
                                       .spare = active_.extra_surfaces >= kSparesFrom});
  if (!memories) return Reason::ExportFailed;
  auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
  const auto goes = agreement_.allocation.words.only_consumer
                        ? SurfaceMemories::Goes::ToOurUploader
                        : SurfaceMemories::Goes::Anywhere;
  if (!(*memories)->lend(buffer.get(), *picture.surface, pixels, goes))
    return Reason::SurfaceInUse;
  if (look.layout.layout_class == video::LayoutClass::Tiled) {
    // A driver that moves surfaces must not make this grow.
    if (lent_tiles_.size() >= kMostLentTiles) lent_tiles_.clear();
    for (uint32_t i = 0; i < external.object_count; ++i)
      lent_tiles_.insert(external.objects[i].identity);
  }

  const GstVideoFormatInfo* info = agreement_.info.finfo;
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  const auto& planes = (*memories)->planes();
  for (uint32_t i = 0; i < planes.size(); ++i) {
    stride[i] = planes[i].stride;
    offset[i] = planes[i].offset + crop_offset(info, i, stride[i], picture.visible);
  }
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE,
                                 GST_VIDEO_INFO_FORMAT(&agreement_.info), picture.visible.width,
                                 picture.visible.height, static_cast<guint>(planes.size()),
                                 offset, stride);
  frame.output_buffer = buffer.release();
  return Reason::None;
}

// For an uploader whose one pass over the picture is then the only one. The surface is gated as
// an exported one: there is a copy to fall back on.
bool Decoder::lend_in_place(const decode::DecodedFrame& picture, const SurfaceLook& look,
                            GstVideoCodecFrame& frame) {
  if (active_.zero_copy != ZeroCopy::Auto ||
      GST_VIDEO_INFO_FORMAT(&agreement_.info) != output_.format ||
      !reads_in_place(agreement_.allocation) || !has_room(picture.surface->pool()))
    return false;
  // Whatever is wrong, the copy meets it as well.
  auto mapped = picture.surface->map_in_place(look.exported.frame);
  if (!mapped) return false;
  auto shown = picture.surface->pool().show(*picture.surface);
  if (!shown) return false;
  let_be_next(*picture.surface, look);
  if (stats_.count_read_back(mapped->mapping->way_name()))
    stats_.set_read_back_ways(mapped->mapping->standings());
  stats_.count_in_place();
  const PictureView view = view_of(*mapped->mapping, output_.format);
  frame.output_buffer =
      wrap_mapped(std::move(*mapped), std::move(*shown), view, picture.visible).release();
  return true;
}

// --- the way out

Decoder::Outgoing Decoder::leave(const decode::DecodedFrame& picture, const SurfaceLook& look,
                                 GstVideoCodecFrame& frame) {
  Outgoing out;
  if (!picture.surface) {
    out.reason = decoder_->mode().reason;
    if (active_.zero_copy == ZeroCopy::Require) return {.flow = cannot_export(out.reason)};
    const trace::Timed copying(trace::Stage::Copy);
    out.flow = allocate_copy(frame, out.reason);
    if (out.flow == GST_FLOW_OK)
      out.flow = fill_copy(view_of(picture, output_.format), picture.visible, frame);
    return out;
  }
  // The device's report on pictures that left unfinished: what it says of those is said of it.
  const auto reported = unfinished_.ask();
  if (!reported && reported.error().code == ErrorCode::Busy) return {.flow = GST_FLOW_FLUSHING};
  report_late(reported);
  if (!reported) return {.unreadable = reported.error().reason};

  full_.reset();
  const accel::Pixels pixels =
      may_leave_unfinished(picture, look) ? accel::Pixels::Fenced : accel::Pixels::There;
  // Else before anybody reads it, by whatever way: not every driver puts a fence on the buffer,
  // and the result is the only sign of a device that failed (docs/design/fences.md).
  if (pixels == accel::Pixels::There) {
    const auto synced = picture.surface->sync();
    if (!synced) {
      if (synced.error().code == ErrorCode::Busy) return {.flow = GST_FLOW_FLUSHING};
      GST_INFO_OBJECT(&element_, "%s", synced.error().describe().c_str());
      return {.unreadable = synced.error().reason};
    }
    out.damaged = *synced >= accel::Severity::Significant;
  }
  out.reason = agreement_.reason;
  if (agreement_.lends())
    out.reason =
        look.refused != Reason::None ? look.refused : lend(picture, look, pixels, frame);
  if (frame.output_buffer) {
    out.leaving = Leaving::Exported;
    if (pixels == accel::Pixels::Fenced) stats_.count_unfinished();
    return out;
  }
  const auto detiling = detiling_of(picture, look, out.reason);
  if (detiling && detiling->by_gpu)
    out.reason = lend_gpu_copy(picture, *detiling, out.reason, frame);
  out.measured = detiling && detiling->measured;
  if (frame.output_buffer) {
    out.leaving = Leaving::GpuCopy;
    return out;
  }
  if (active_.zero_copy == ZeroCopy::Require) return {.flow = cannot_export(out.reason)};
  out.leaving = Leaving::CpuCopy;
  // Which of device and CPU copies faster is measured by copies.
  if (!detiling && pixels == accel::Pixels::There && lend_in_place(picture, look, frame))
    return out;
  const trace::Timed copying(trace::Stage::Copy);
  const auto started = std::chrono::steady_clock::now();
  const auto unreadable = [&](const Error& error) -> Outgoing {
    GST_INFO_OBJECT(&element_, "%s", error.describe().c_str());
    gst_buffer_replace(&frame.output_buffer, nullptr);
    if (picture.surface->pool().device_is_lost()) return {.unreadable = Reason::DeviceLost};
    // Drivers may wait for the picture once more when it is mapped.
    return {.unreadable = error.reason == Reason::SyncFailed ? Reason::SyncFailed
                                                             : Reason::ReadBackFailed};
  };
  out.flow = allocate_copy(frame, out.reason);
  if (out.flow != GST_FLOW_OK) return out;
  // Samples that are put into another order are read one by one. Only now the order is known.
  const auto reads = GST_VIDEO_INFO_FORMAT(&agreement_.info) == output_.format
                         ? surface::Reads::ByCopy
                         : surface::Reads::Anywhere;
  auto mapped = picture.surface->map(reads, look.exported.frame);
  if (!mapped) return unreadable(mapped.error());
  out.flow = fill_copy(view_of(**mapped, output_.format), picture.visible, frame);
  if (out.flow == GST_FLOW_OK) {
    const auto news = (*mapped)->whole_picture_copied();
    if (!news) return unreadable(news.error());
    if (stats_.count_read_back((*mapped)->way_name()) || *news)
      stats_.set_read_back_ways((*mapped)->standings());
    let_be_next(*picture.surface, look);
    if (const auto full = full_.lock()) tell_when_back(frame.output_buffer, full);
  }
  if (detiling && !detiling->by_gpu)
    took(*detiling, std::chrono::steady_clock::now() - started);
  return out;
}

// The CPU was, or will be, its only reader. Not so among surfaces that are lent: there one that
// cannot be would be the decoder's favourite, and each of its pictures a copy. And one that was
// just found to be like that makes room for another, which is looked at behind the pause.
void Decoder::let_be_next(surface::Surface& surface, const SurfaceLook& look) const {
  if (!agreement_.lends() && look.refused == Reason::None) surface.pool().read_by_cpu(surface);
}

// Of two fields the first one's fence alone may be there yet.
bool Decoder::may_leave_unfinished(const decode::DecodedFrame& picture,
                                   const SurfaceLook& look) {
  return agreement_.is_dmabuf() && agreement_.allocation.words.waits_for_fences &&
         look.refused == Reason::None && !output_.interlaced && !picture.interlaced &&
         unfinished_.take(picture.surface, *look.exported.frame);
}

// Nobody can call back a picture that downstream has, nor mark it; what can be done is to say
// so.
void Decoder::report_late(const Result<uint32_t>& damaged) {
  if (damaged) {
    for (uint32_t i = 0; i < *damaged; ++i) stats_.count_error();
    return;
  }
  if (damaged.error().code == ErrorCode::Busy) return;
  stats_.count_error();
  GST_ELEMENT_WARNING(&element_, STREAM, DECODE,
                      (_("The device failed on a picture that is shown already (%s)."),
                       reason_name(damaged.error().reason)),
                      ("%s", damaged.error().describe().c_str()));
}

GstFlowReturn Decoder::cannot_export(Reason reason) {
  if (is_first_refusal())
    GST_ELEMENT_ERROR(
        &element_, STREAM, FAILED,
        (_("A picture cannot leave without a copy (%s), and zero-copy is require."),
         reason_name(reason)),
        (nullptr));
  return GST_FLOW_ERROR;
}

// --- copied

GstFlowReturn Decoder::fill_copy(const PictureView& picture, const decode::Rect& visible,
                                 GstVideoCodecFrame& frame) {
  GstVideoFrame to;
  if (!gst_video_frame_map(&to, &agreement_.info, frame.output_buffer, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR(&element_, RESOURCE, WRITE, (nullptr),
                      ("output buffer cannot be mapped"));
    return GST_FLOW_ERROR;
  }
  const bool copied = copy_picture(picture, visible, to);
  gst_video_frame_unmap(&to);
  if (copied) return GST_FLOW_OK;
  GST_ELEMENT_ERROR(&element_, STREAM, FORMAT, (nullptr), ("picture and caps do not match"));
  return GST_FLOW_ERROR;
}

// A buffer for a copy that downstream takes under the caps as they are, or under system caps.
GstFlowReturn Decoder::allocate_copy(GstVideoCodecFrame& frame, Reason reason) {
  if (agreement_.lends()) {
    if (auto buffer = copy_buffers_.acquire(agreement_, active_.extra_surfaces)) {
      frame.output_buffer = buffer.release();
      return GST_FLOW_OK;
    }
    // System memory under DMABuf caps is for our own uploader only. A stranger gets other caps,
    // and keeps them for a while.
    take_a_pause();
    agreement_ = negotiator_.negotiate(output_, input_, std::nullopt, {}, reason);
    if (agreement_.delivery == Delivery::None) return GST_FLOW_NOT_NEGOTIATED;
  }
  // From downstream's pool where it proposed one, so that this copy is the only one.
  return gst_video_decoder_allocate_output_frame(&element_, &frame);
}

}  // namespace dxva::gst
