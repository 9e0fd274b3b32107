// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <utility>

#include "gst/dxva/decoder.hpp"
#include "gst/dxva/gstdxvaallocator.hpp"
#include "gst/dxva/linear_dmabuf.hpp"
#include "gst/dxva/picture_copy.hpp"
#include "gst/dxva/surface_memory.hpp"
#include "lib/base/fourcc.hpp"
#include "lib/va/cpu_mapper.hpp"

GST_DEBUG_CATEGORY_EXTERN(dxvadec_debug);
#define GST_CAT_DEFAULT dxvadec_debug

namespace dxva::gst {

namespace {

// Pictures. Each change of caps costs downstream a new set-up, so a cause that comes and goes
// must not switch them to and fro.
constexpr uint32_t kFirstPause = 32;
constexpr uint32_t kLongestPause = 2048;

PictureView view_of(const decode::DecodedFrame& picture, GstVideoFormat format) {
  PictureView out{.format = format, .plane_count = picture.software.plane_count};
  for (uint32_t i = 0; i < out.plane_count; ++i)
    out.planes[i] = {.data = picture.software.planes[i].data,
                     .pitch_bytes = picture.software.planes[i].pitch_bytes};
  return out;
}

PictureView view_of(const video::FrameView& surface, GstVideoFormat format) {
  PictureView out{.format = format, .plane_count = surface.plane_count};
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
  Offer offer;
  if (!prepare(picture, offer)) {
    gst_video_decoder_release_frame(&element_, frame);
    return GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(&element_)) ? GST_FLOW_FLUSHING
                                                                     : GST_FLOW_NOT_NEGOTIATED;
  }
  const Outgoing outgoing = leave(picture, offer, *frame);
  if (outgoing.unreadable != Reason::None) {
    // The frame stays in the base class's list for the second attempt.
    gst_video_codec_frame_unref(frame);
    const Status again = decoder_->decode_again(picture, outgoing.unreadable);
    return again ? GST_FLOW_OK : answer_error(again.error());
  }
  if (outgoing.flow != GST_FLOW_OK || !frame->output_buffer) {
    gst_video_decoder_release_frame(&element_, frame);
    return outgoing.flow;
  }
  mark(frame->output_buffer, picture, agreement_.info);
  const auto pools = decoder_->pools();
  stats_.set_pools(pools.surfaces, pools.late_surfaces);
  if (auto message = stats_.count(GST_ELEMENT(&element_), outgoing.leaving, outgoing.reason))
    gst_element_post_message(GST_ELEMENT(&element_), message.release());
  GST_LOG_OBJECT(&element_, "picture %u: surface 0x%x %s (%s)", picture.number,
                 picture.surface ? picture.surface->id() : 0, leaving_name(outgoing.leaving),
                 reason_name(outgoing.reason));
  return gst_video_decoder_finish_frame(&element_, frame);
}

// --- what downstream gets

// Some facts come and go from picture to picture; the caps keep them for the whole stretch.
OutputFormat Decoder::steady_format(const decode::DecodedFrame& picture) const {
  OutputFormat out = OutputFormat::of(picture);
  const char* mode = input_ ? gst_structure_get_string(gst_caps_get_structure(input_->caps, 0),
                                                       "interlace-mode")
                            : nullptr;
  if (mode && g_strcmp0(mode, "progressive") != 0) out.interlaced = true;
  const bool same_stretch = !negotiate_again_ && out.hardware == output_.hardware &&
                            out.format == output_.format && out.width == output_.width &&
                            out.height == output_.height;
  if (!same_stretch) return out;
  out.interlaced |= output_.interlaced;
  if (!out.mastering) out.mastering = output_.mastering;
  if (!out.light) out.light = output_.light;
  return out;
}

// Sees to it that caps are agreed for this picture.
bool Decoder::prepare(const decode::DecodedFrame& picture, Offer& offer) {
  const OutputFormat output = steady_format(picture);
  const bool asked = gst_pad_check_reconfigure(GST_VIDEO_DECODER_SRC_PAD(&element_));
  bool again =
      asked || negotiate_again_ || output != output_ || agreement_.delivery == Delivery::None;
  if (!again && picture.surface) {
    if (agreement_.is_dmabuf()) {
      offer = look_at(picture);
      // A driver may lay out one surface otherwise than the next. DMA_DRM caps can follow it;
      // with the older ones this surface is copied, and no other.
      if (offer.refused == Reason::None && offer.layout.modifier != agreement_.modifier) {
        again = agreement_.delivery == Delivery::DmaDrm;
        if (!again) offer.refused = Reason::ModifierNotLinear;
      }
    } else if (pause_ > 0 && --pause_ == 0) {
      again = true;
    }
  }
  return !again || negotiate(picture, output, offer);
}

bool Decoder::negotiate(const decode::DecodedFrame& picture, const OutputFormat& output,
                        Offer& offer) {
  if (output.format == GST_VIDEO_FORMAT_UNKNOWN) {
    GST_ELEMENT_ERROR(
        &element_, STREAM, FORMAT,
        ("Pictures with this chroma format and %u bits are not supported.", picture.bit_depth),
        (nullptr));
    return false;
  }
  std::optional<SurfaceOffer> described;
  Reason reason = Reason::None;
  if (!picture.surface) {
    reason = decoder_->mode().reason;
  } else if (active_.zero_copy == ZeroCopy::Off) {
    reason = Reason::ZeroCopyOff;
  } else if (!negotiator_.downstream_names_dmabuf()) {
    reason = Reason::DownstreamNoDmabuf;
  } else {
    offer = look_at(picture);
    reason = offer.refused;
    if (reason == Reason::None) described = describe(offer, picture);
    // This surface's fault; another one may do better later.
    else
      take_a_pause();
  }
  if (!(output == output_)) {
    refused_.clear();
    next_pause_ = 0;
  }
  drop_mixed_pool();
  agreement_ = negotiator_.negotiate(output, input_, described, reason);
  make_mixed_pool();
  output_ = output;
  negotiate_again_ = false;
  stats_.set_stream(decode::codec_name(params_.codec), decoder_->profile());
  report_latency();
  if (agreement_.taken_instead && !GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(&element_)))
    report_refused_format(output);
  return agreement_.delivery != Delivery::None;
}

// The "not-negotiated" of whoever pushed the packet would be all that is known of it.
void Decoder::report_refused_format(const OutputFormat& output) {
  const GstCaps* taken = agreement_.taken_instead.get();
  const std::string formats = formats_named(taken);
  gchar* all = gst_caps_to_string(taken);
  GST_ELEMENT_ERROR(
      &element_, STREAM, FORMAT,
      ("Downstream does not take the pictures of this stream: they are %s, %ux%u, "
       "and it takes %s.",
       gst_video_format_to_string(output.format), output.width, output.height,
       formats.empty() ? "no such memory" : formats.c_str()),
      ("downstream: %s", all));
  g_free(all);
}

void Decoder::take_a_pause() {
  next_pause_ = next_pause_ == 0 ? kFirstPause : std::min(next_pause_ * 2, kLongestPause);
  pause_ = next_pause_;
}

void Decoder::report_latency() {
  const uint32_t pictures = decoder_->delay();
  if (!input_ || input_->info.fps_n <= 0 || pictures == latency_pictures_) return;
  latency_pictures_ = pictures;
  const GstClockTime latency = gst_util_uint64_scale_ceil(
      GST_SECOND, guint64{pictures} * guint64(input_->info.fps_d), guint64(input_->info.fps_n));
  gst_video_decoder_set_latency(&element_, latency, latency);
}

// --- exported

Decoder::Offer Decoder::look_at(const decode::DecodedFrame& picture) {
  Offer out;
  auto exported = picture.surface->exported();
  if (!exported) {
    out.refused = exported.error().reason;
    if (out.refused == Reason::None) out.refused = Reason::ExportFailed;
    return out;
  }
  const dmabuf::ExternalFrame& frame = *exported->frame;
  auto layout = video::classify(frame.describe(), active_.layout);
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

SurfaceOffer Decoder::describe(const Offer& offer, const decode::DecodedFrame& picture) const {
  SurfaceOffer out{.modifier = offer.layout.modifier};
  const dmabuf::ExternalFrame& frame = *offer.exported.frame;
  GstVideoInfo info;
  gst_video_info_init(&info);
  const GstVideoFormat format = picture.surface->fourcc() == format::kNV12
                                    ? GST_VIDEO_FORMAT_NV12
                                    : GST_VIDEO_FORMAT_P010_10LE;
  gst_video_info_set_format(&info, format, picture.visible.width, picture.visible.height);
  out.default_layout = offer.layout.layout_class != video::LayoutClass::Tiled &&
                       picture.visible.x == 0 && picture.visible.y == 0;
  for (uint32_t i = 0; i < frame.plane_count; ++i)
    if (frame.planes[i].offset != GST_VIDEO_INFO_PLANE_OFFSET(&info, i) ||
        frame.planes[i].pitch_bytes != static_cast<uint64_t>(info.stride[i]) ||
        frame.objects[frame.planes[i].object].identity != frame.objects[0].identity)
      out.default_layout = false;
  return out;
}

// Puts the surface's memory into the frame, or says why not.
Reason Decoder::lend(const decode::DecodedFrame& picture, const Offer& offer,
                     GstVideoCodecFrame& frame) {
  const dmabuf::ExternalFrame& external = *offer.exported.frame;
  for (uint32_t i = 0; i < external.object_count; ++i) {
    const auto refusal = refused_.ask(external.objects[i].identity);
    // Perhaps because the surface's memory is no longer what was exported.
    if (refusal.news) picture.surface->doubt_export();
    if (refusal.reason != Reason::None) return refusal.reason;
  }
  // The gate. As many surfaces as downstream may have are there: this one stays ours, so that
  // libavcodec always finds a target. Inside get_buffer2 there would be nothing left to copy.
  const bool copy_is_possible =
      agreement_.takes_system || agreement_.allocation.mixed_memory ||
      (agreement_.modifier == kModifierLinear && have_linear_dmabufs());
  if (active_.zero_copy != ZeroCopy::Require && copy_is_possible &&
      !picture.surface->pool().wait_for_room(active_.extra_surfaces))
    return Reason::SurfacePoolEmpty;

  auto memories = SurfaceMemories::of(*picture.surface, offer.exported, allocator_.get());
  if (!memories) return Reason::ExportFailed;
  auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
  if (!(*memories)->lend(buffer.get(), picture.surface)) return Reason::SurfaceInUse;

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

// --- the way out

Decoder::Outgoing Decoder::leave(const decode::DecodedFrame& picture, const Offer& offer,
                                 GstVideoCodecFrame& frame) {
  Outgoing out;
  if (!picture.surface) {
    out.reason = decoder_->mode().reason;
    if (active_.zero_copy == ZeroCopy::Require) return {.flow = cannot_export(out.reason)};
    out.flow = copy(view_of(picture, output_.format), picture.visible, frame, out.reason);
    return out;
  }
  // Before anybody reads it, by whatever way: not every driver puts a fence on the buffer, and
  // the result is the only sign of a device that failed (docs/design/fences.md).
  if (auto synced = picture.surface->sync(); !synced) {
    GST_INFO_OBJECT(&element_, "%s", synced.error().describe().c_str());
    return {.unreadable = Reason::SyncFailed};
  }
  out.reason = agreement_.reason;
  if (agreement_.is_dmabuf())
    out.reason = offer.refused != Reason::None ? offer.refused : lend(picture, offer, frame);
  if (frame.output_buffer) {
    out.leaving = Leaving::Exported;
    return out;
  }
  if (active_.zero_copy == ZeroCopy::Require) return {.flow = cannot_export(out.reason)};
  out.leaving = Leaving::CpuCopy;
  const va::Surface& surface = *picture.surface;
  auto pixels = va::map_for_read(surface.display(), surface.id(), surface.fourcc(),
                                 surface.width(), surface.height());
  if (!pixels) {
    GST_INFO_OBJECT(&element_, "%s", pixels.error().describe().c_str());
    return {.unreadable = Reason::SyncFailed};
  }
  out.flow = copy(view_of(pixels->view(), output_.format), picture.visible, frame, out.reason);
  return out;
}

GstFlowReturn Decoder::cannot_export(Reason reason) {
  GST_ELEMENT_ERROR(&element_, STREAM, FAILED,
                    ("A picture cannot leave without a copy (%s), and zero-copy is require.",
                     reason_name(reason)),
                    (nullptr));
  return GST_FLOW_ERROR;
}

// --- copied

GstFlowReturn Decoder::copy(const PictureView& picture, const decode::Rect& visible,
                            GstVideoCodecFrame& frame, Reason reason) {
  if (const GstFlowReturn flow = allocate_copy(frame, reason); flow != GST_FLOW_OK) return flow;
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
  if (agreement_.is_dmabuf()) {
    GstPtr<GstBuffer> buffer;
    if (agreement_.allocation.mixed_memory)
      buffer = mixed_buffer();
    else if (agreement_.modifier == kModifierLinear)
      buffer = linear_dmabuf_buffer();
    if (buffer) {
      frame.output_buffer = buffer.release();
      return GST_FLOW_OK;
    }
    // System memory under DMABuf caps is for our own uploader only. A stranger gets other caps,
    // and keeps them for a while.
    take_a_pause();
    agreement_ = negotiator_.negotiate(output_, input_, std::nullopt, reason);
    if (agreement_.delivery == Delivery::None) return GST_FLOW_NOT_NEGOTIATED;
  }
  // From downstream's pool where it proposed one, so that this copy is the only one.
  return gst_video_decoder_allocate_output_frame(&element_, &frame);
}

// With the caps and not with the first copy: a pool needs a descriptor, and there may be none
// left just when surfaces can no longer be exported.
void Decoder::make_mixed_pool() {
  if (!agreement_.is_dmabuf() || !agreement_.allocation.mixed_memory) return;
  GstVideoInfo info = agreement_.info;
  auto caps = GstPtr<GstCaps>::adopt(gst_video_info_to_caps(&info));
  mixed_pool_ = gst_video_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(mixed_pool_);
  gst_buffer_pool_config_set_params(config, caps.get(), static_cast<guint>(info.size), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(mixed_pool_, config) ||
      !gst_buffer_pool_set_active(mixed_pool_, TRUE))
    drop_mixed_pool();
}

GstPtr<GstBuffer> Decoder::mixed_buffer() {
  if (!mixed_pool_) return nullptr;
  GstBuffer* buffer = nullptr;
  if (gst_buffer_pool_acquire_buffer(mixed_pool_, &buffer, nullptr) != GST_FLOW_OK)
    return nullptr;
  return GstPtr<GstBuffer>::adopt(buffer);
}

void Decoder::drop_mixed_pool() {
  if (!mixed_pool_) return;
  gst_buffer_pool_set_active(mixed_pool_, FALSE);
  gst_object_unref(std::exchange(mixed_pool_, nullptr));
}

GstPtr<GstBuffer> Decoder::linear_dmabuf_buffer() {
  GstVideoInfo info = agreement_.info;  // the meta's arrays are not const in C
  auto fd = make_linear_dmabuf(info.size);
  if (!fd) return nullptr;
  auto memory = wrap_dmabuf(allocator_.get(), std::move(*fd), info.size,
                            {.linear = true, .writable = true});
  if (!memory) return nullptr;
  auto buffer = GstPtr<GstBuffer>::adopt(gst_buffer_new());
  gst_buffer_append_memory(buffer.get(), memory.release());
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE,
                                 GST_VIDEO_INFO_FORMAT(&info), info.width, info.height,
                                 GST_VIDEO_INFO_N_PLANES(&info), info.offset, info.stride);
  return buffer;
}

// --- allocation

void Decoder::before_decide_allocation(GstQuery* query) {
  last_answer_ = AllocationAnswer::of(query);
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstCapsFeatures* features = caps ? gst_caps_get_features(caps, 0) : nullptr;
  if (!features || !gst_caps_features_contains(features, GST_CAPS_FEATURE_MEMORY_DMABUF))
    return;
  // The buffers are our surfaces. The base class must have some pool or it is not negotiated;
  // its own is never used and allocates nothing, downstream's may hold real memory.
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
}

void Decoder::after_decide_allocation(GstQuery* query) {
  if (!last_answer_.video_meta || gst_query_get_n_allocation_pools(query) == 0) return;
  GstBufferPool* raw = nullptr;
  gst_query_parse_nth_allocation_pool(query, 0, &raw, nullptr, nullptr, nullptr);
  if (!raw) return;
  const auto pool = GstPtr<GstBufferPool>::adopt(raw);
  if (!gst_buffer_pool_has_option(raw, GST_BUFFER_POOL_OPTION_VIDEO_META)) return;
  GstStructure* config = gst_buffer_pool_get_config(raw);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_set_config(raw, config);
}

}  // namespace dxva::gst
