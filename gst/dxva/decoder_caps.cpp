// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/allocators/allocators.h>

#include <algorithm>
#include <utility>

#include "gst/common/opaque_memory.hpp"
#include "gst/dxva/decoder.hpp"
#include "gst/dxva/refused_caps.hpp"
#include "lib/base/translation.hpp"

GST_DEBUG_CATEGORY_EXTERN(dxvadec_debug);
#define GST_CAT_DEFAULT dxvadec_debug

namespace dxva::gst {

namespace {

// Pictures. Each change of caps costs downstream a new set-up, so a cause that comes and goes
// must not switch them to and fro.
constexpr uint32_t kFirstPause = 32;
constexpr uint32_t kLongestPause = 2048;

}  // namespace

// --- caps for each picture

// Some facts come and go from picture to picture; the caps keep them for the whole stretch.
OutputFormat Decoder::steady_format(const decode::DecodedFrame& picture) const {
  OutputFormat out = OutputFormat::of(picture);
  const char* mode = input_ ? gst_structure_get_string(gst_caps_get_structure(input_->caps, 0),
                                                       "interlace-mode")
                            : nullptr;
  if (mode && g_strcmp0(mode, "progressive") != 0 && !out.lone_field) out.interlaced = true;
  const bool same_stretch = !negotiate_again_ && out.hardware == output_.hardware &&
                            out.format == output_.format && out.width == output_.width &&
                            out.height == output_.height;
  if (!same_stretch) return out;
  out.interlaced |= output_.interlaced && !out.lone_field;
  if (!out.mastering) out.mastering = output_.mastering;
  if (!out.light) out.light = output_.light;
  return out;
}

// Sees to it that caps are agreed for this picture.
Decoder::Prepared Decoder::prepare(const decode::DecodedFrame& picture, SurfaceLook& look) {
  const OutputFormat output = steady_format(picture);
  const bool flagged = gst_pad_check_reconfigure(GST_VIDEO_DECODER_SRC_PAD(&element_));
  const bool asked = asked_to_negotiate_.exchange(false) || flagged;
  bool again =
      asked || negotiate_again_ || output != output_ || agreement_.delivery == Delivery::None;
  if (!again && picture.surface) {
    if (agreement_.lends()) {
      look = look_at(picture, active_.layout);
      // A driver may lay out one surface otherwise than the next. DMA_DRM caps can follow it;
      // with the older ones this surface is copied, and no other.
      const bool other_memory = look.opaque.has_value() != agreement_.opaque.has_value() ||
                                (look.opaque && !agreement_.opaque->read(*look.opaque));
      if (look.refused == Reason::None && other_memory) {
        again = true;
      } else if (look.refused == Reason::None && look.modifier != agreement_.modifier) {
        again = agreement_.delivery == Delivery::DmaDrm && agreement_.taken.take(look.modifier);
        if (!again) look.refused = reason_not_taken(agreement_.taken);
      } else if (is_layout_refused(look)) {
        // All surfaces of that layout would be. Another layout may be imported yet: caps of
        // that are agreed, before the CPU copies under the old ones.
        GST_INFO_OBJECT(&element_, "downstream lists %s and cannot import it",
                        modifier_text(look.modifier).c_str());
        refused_modifiers_.push_back(look.modifier);
        again = true;
      }
    } else if (pause_ > 0 && --pause_ == 0) {
      again = has_room(picture.surface->pool());
      // It would be copied again, and the caps go to and fro for it.
      if (!again) pause_ = 1;
    }
  }
  return again ? negotiate(picture, output, look) : Prepared{};
}

// One refusal is enough, of whichever surface.
bool Decoder::is_layout_refused(const SurfaceLook& look) const {
  return look.refused == Reason::None &&
         look.layout.layout_class == video::LayoutClass::Tiled &&
         refused_.any_of(lent_tiles_, is_about_layout);
}

// True when the driver is asked anew: the picture comes again, on a surface that may be what
// downstream takes.
Result<bool> Decoder::remake_surfaces(const decode::DecodedFrame& picture,
                                      const SurfaceLook& look, const ModifiersTaken& taken) {
  const bool driver_takes_list = !taken.take(look.modifier) && decoder_->takes_modifiers();
  auto choice = choose_modifiers(look.modifier, taken, driver_takes_list, tried_modifiers_);
  if (choice.way != SurfaceWay::Remake) return false;
  GST_INFO_OBJECT(&element_,
                  "surfaces are %s, which downstream does not take: asking for others",
                  modifier_text(look.modifier).c_str());
  tried_modifiers_ = std::move(choice.ask);
  return decoder_->remake_surfaces(picture, tried_modifiers_);
}

Decoder::Prepared Decoder::negotiate(const decode::DecodedFrame& picture,
                                     const OutputFormat& output, SurfaceLook& look) {
  if (output.format == GST_VIDEO_FORMAT_UNKNOWN) {
    if (is_first_refusal())
      GST_ELEMENT_ERROR(&element_, STREAM, FORMAT,
                        (_("Pictures with this chroma format and %u bits are not supported."),
                         picture.bit_depth),
                        (nullptr));
    return {.kind = Prepared::Kind::Refused};
  }
  if (!(output == output_)) {
    refused_.clear();
    refused_modifiers_.clear();
    next_pause_ = 0;
  }
  if (picture.surface) device_.look_for_renderer();
  ModifiersTaken taken;
  std::optional<SurfaceOffer> described;
  Reason reason = Reason::None;
  if (!picture.surface) {
    reason = decoder_->mode().reason;
  } else if (active_.zero_copy == ZeroCopy::Off) {
    reason = Reason::ZeroCopyOff;
  } else if (!negotiator_.downstream_names_surfaces()) {
    reason = Reason::DownstreamNoDmabuf;
  } else {
    look = look_at(picture, active_.layout);
    stats_.set_modifier(look.opaque ? "" : modifier_text(look.modifier));
    taken = negotiator_.modifiers_taken(picture.surface->fourcc());
    for (const uint64_t modifier : refused_modifiers_) taken.refuse(modifier);
    // Another GPU reads no tiling, even where its driver lists the modifier for its own.
    if (active_.layout == video::LayoutRule::TightLinear || device_.crosses_gpus())
      taken = taken.only_linear();
    // Opaque memory has one layout, and no list of modifiers is about it.
    if (!look.opaque &&
        (look.refused == Reason::None || look.refused == Reason::ModifierNotLinear)) {
      const auto remade = remake_surfaces(picture, look, taken);
      if (!remade || *remade) {
        negotiate_again_ = true;
        return {.kind = Prepared::Kind::DecodedAgain,
                .flow = remade ? GST_FLOW_OK : answer_error(remade.error())};
      }
    }
    reason = look.refused;
    gpu_copied_ = offer_gpu_copy(picture, look, taken, EvenIfSlower::No);
    if (gpu_copied_) {
      described = offer_of(gpu_copied_->look, gpu_copied_->picture);
      reason = Reason::None;
      if (look.refused == Reason::None) look.refused = reason_not_taken(taken);
    } else if (reason == Reason::None) {
      described = offer_of(look, picture);
    } else {
      take_a_pause();  // this surface's fault; another one may do better later
    }
  }
  lent_tiles_.clear();
  agreement_ = negotiator_.negotiate(output, input_, described, taken, reason);
  // Downstream that takes dma-bufs only gets the CPU's copies in some, if those are faster.
  if (agreement_.delivery == Delivery::None && picture.surface && !gpu_copied_ &&
      (gpu_copied_ = offer_gpu_copy(picture, look, taken, EvenIfSlower::Yes))) {
    described = offer_of(gpu_copied_->look, gpu_copied_->picture);
    if (look.refused == Reason::None) look.refused = reason_not_taken(taken);
    agreement_ = negotiator_.negotiate(output, input_, described, taken, Reason::None);
  }
  // A driver that lays out each surface as it likes may do better with a later one.
  if (described && !described->opaque && !agreement_.is_dmabuf() &&
      !taken.take(described->modifier))
    take_a_pause();
  if (!agreement_.is_dmabuf()) gpu_copied_.reset();
  copy_buffers_.prepare(agreement_);
  output_ = output;
  negotiate_again_ = false;
  stats_.set_stream(decode::codec_name(params_.codec), decoder_->profile());
  report_latency();
  if (agreement_.delivery != Delivery::None)
    refusal_told_ = false;
  else if (agreement_.taken_instead &&
           !GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(&element_)) && is_first_refusal())
    report_refused_format(output);
  return {.kind = agreement_.delivery != Delivery::None ? Prepared::Kind::Ready
                                                        : Prepared::Kind::Refused};
}

// Upstream answers a refused picture with the end of the stream, which brings those that are
// still inside: they have the same trouble, and it has been told.
bool Decoder::is_first_refusal() {
  return !std::exchange(refusal_told_, true);
}

// The "not-negotiated" of whoever pushed the packet would be all that is known of it.
void Decoder::report_refused_format(const OutputFormat& output) {
  const GstCaps* downstream = agreement_.taken_instead.get();
  const std::string taken = taken_instead(downstream, agreement_.not_taken.get());
  gchar* all = gst_caps_to_string(downstream);
  GST_ELEMENT_ERROR(
      &element_, STREAM, FORMAT,
      (_("Downstream does not take the pictures of this stream: they are %s, %ux%u, "
         "and it takes %s."),
       gst_video_format_to_string(output.format), output.width, output.height,
       taken.empty() ? _("no such memory") : taken.c_str()),
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

// --- allocation

void Decoder::before_decide_allocation(GstQuery* query) {
  last_answer_ = AllocationAnswer::of(query);
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstCapsFeatures* features = caps ? gst_caps_get_features(caps, 0) : nullptr;
  if (!features || (!gst_caps_features_contains(features, GST_CAPS_FEATURE_MEMORY_DMABUF) &&
                    !gst_caps_features_contains(features, kOpaqueFdFeature)))
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
