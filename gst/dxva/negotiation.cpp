// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/negotiation.hpp"

#include <gst/allocators/allocators.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "gst/common/gst_ptr.hpp"
#include "gst/common/opaque_memory.hpp"
#include "gst/dxva/codecs.hpp"
#include "lib/base/fourcc.hpp"

GST_DEBUG_CATEGORY_EXTERN(dxvadec_debug);
#define GST_CAT_DEFAULT dxvadec_debug

namespace dxva::gst {

namespace {

// "NV12", or "NV12:0x0100000000000002" where it is not linear.
std::string drm_format(GstVideoFormat format, uint64_t modifier) {
  std::string out =
      fourcc_text(format == GST_VIDEO_FORMAT_NV12 ? format::kNV12 : format::kP010);
  if (modifier == kModifierLinear) return out;
  char text[24];
  std::snprintf(text, sizeof text, ":0x%016" PRIx64, modifier);
  return out + text;
}

const char* feature_of(Delivery delivery) {
  return delivery == Delivery::Opaque ? kOpaqueFdFeature : GST_CAPS_FEATURE_MEMORY_DMABUF;
}

GstPtr<GstCaps> caps_for(const GstVideoInfo& info, const OutputFormat& output,
                         Delivery delivery, const SurfaceOffer& offer) {
  GstVideoInfo copy = info;
  GstCaps* caps = gst_video_info_to_caps(&copy);
  add_hdr_facts(caps, output);
  if (delivery != Delivery::System)
    gst_caps_set_features_simple(caps, gst_caps_features_new(feature_of(delivery), nullptr));
  if (delivery == Delivery::Opaque && offer.opaque)
    set_uuids(gst_caps_get_structure(caps, 0), *offer.opaque);
  if (delivery == Delivery::DmaDrm)
    gst_caps_set_simple(caps, "format", G_TYPE_STRING, "DMA_DRM", "drm-format", G_TYPE_STRING,
                        drm_format(GST_VIDEO_INFO_FORMAT(&info), offer.modifier).c_str(),
                        nullptr);
  return GstPtr<GstCaps>::adopt(caps);
}

// A second one, in place of the only one.
void add_format(GstCaps* caps, GstVideoFormat format) {
  GstStructure* structure = gst_caps_get_structure(caps, 0);
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  gst_value_list_append_value(&list, gst_structure_get_value(structure, "format"));
  GValue other = G_VALUE_INIT;
  g_value_init(&other, G_TYPE_STRING);
  g_value_set_static_string(&other, gst_video_format_to_string(format));
  gst_value_list_append_and_take_value(&list, &other);
  gst_structure_take_value(structure, "format", &list);
}

GstPtr<GstCaps> downstream_caps(GstVideoDecoder& decoder) {
  return GstPtr<GstCaps>::adopt(
      gst_pad_peer_query_caps(GST_VIDEO_DECODER_SRC_PAD(&decoder), nullptr));
}

bool names(const GstCaps* caps, guint index, const char* feature) {
  GstCapsFeatures* features = gst_caps_get_features(caps, index);
  return features && !gst_caps_features_is_any(features) &&
         gst_caps_features_contains(features, feature);
}

bool names_dmabuf(const GstCaps* caps, guint index) {
  return names(caps, index, GST_CAPS_FEATURE_MEMORY_DMABUF);
}

bool names_opaque(const GstCaps* caps) {
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    if (names(caps, i, kOpaqueFdFeature)) return true;
  return false;
}

// A field of one string or of a list of them.
template <typename Function>
void for_each_string(const GValue* value, Function function) {
  if (!value) return;
  if (G_VALUE_HOLDS_STRING(value)) return function(g_value_get_string(value));
  if (!GST_VALUE_HOLDS_LIST(value)) return;
  for (guint i = 0; i < gst_value_list_get_size(value); ++i)
    for_each_string(gst_value_list_get_value(value, i), function);
}

void add_modifiers(const GstStructure* caps, uint32_t fourcc, bool dma_drm,
                   ModifiersTaken& out) {
  const GValue* formats = gst_structure_get_value(caps, "format");
  const GValue* drm_formats = gst_structure_get_value(caps, "drm-format");
  bool drm = !formats;
  bool linear = !formats;
  for_each_string(formats, [&](const char* name) {
    drm |= std::strcmp(name, "DMA_DRM") == 0;
    linear |= std::strcmp(name, fourcc == format::kNV12 ? "NV12" : "P010_10LE") == 0;
  });
  if (drm && dma_drm) {
    out.any |= !drm_formats;
    for_each_string(drm_formats, [&](const char* text) {
      const auto parsed = parse_drm_format(text);
      if (parsed && parsed->fourcc == fourcc) out.add(parsed->modifier);
    });
  }
  if (linear) out.add(kModifierLinear);
}

// The UUIDs under which downstream reads memory of `maker`; else the maker's own.
DeviceUuids uuids_read(const GstCaps* downstream, const DeviceUuids& maker) {
  for (guint i = 0; i < gst_caps_get_size(downstream); ++i) {
    if (!names(downstream, i, kOpaqueFdFeature)) continue;
    const auto reader = uuids_of(gst_caps_get_structure(downstream, i));
    if (reader && reader->read(maker)) return *reader;
  }
  return maker;
}

bool takes_surfaces(const GstCaps* downstream, const GstCaps* wanted, Delivery delivery) {
  if (gst_caps_is_any(downstream)) return false;
  const GstStructure* structure = gst_caps_get_structure(wanted, 0);
  for (guint i = 0; i < gst_caps_get_size(downstream); ++i)
    if (names(downstream, i, feature_of(delivery)) &&
        gst_structure_can_intersect(gst_caps_get_structure(downstream, i), structure))
      return true;
  return false;
}

// What the surface can be at all, best first.
std::vector<Delivery> deliveries_of(const SurfaceOffer& offer) {
  if (offer.opaque) return {Delivery::Opaque};
  return {Delivery::DmaDrm, Delivery::Dmabuf};
}

GstVideoInterlaceMode interlace_mode(const OutputFormat& output) {
  // Flags on each buffer say which pictures are; a stream may change its mind at any time.
  return output.interlaced ? GST_VIDEO_INTERLACE_MODE_MIXED
                           : GST_VIDEO_INTERLACE_MODE_PROGRESSIVE;
}

// GstBaseTransform says "answered" before it has caps and leaves the query as it was: its real
// answer comes with the caps. Every uploader and converter is one.
bool says_something(GstQuery* query) {
  return gst_query_get_n_allocation_metas(query) > 0 ||
         gst_query_get_n_allocation_pools(query) > 0 ||
         gst_query_get_n_allocation_params(query) > 0;
}

}  // namespace

AllocationAnswer AllocationAnswer::of(GstQuery* query) {
  return {.answered = true,
          .video_meta =
              gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) != FALSE,
          .words = AllocationWords::in(query)};
}

bool Negotiator::downstream_names_surfaces() const {
  const auto downstream = downstream_caps(decoder_);
  if (!downstream || gst_caps_is_any(downstream.get())) return false;
  for (guint i = 0; i < gst_caps_get_size(downstream.get()); ++i)
    if (names_dmabuf(downstream.get(), i)) return true;
  return names_opaque(downstream.get());
}

ModifiersTaken modifiers_in(const GstCaps* caps, uint32_t fourcc, bool dma_drm) {
  ModifiersTaken out;
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    if (names_dmabuf(caps, i))
      add_modifiers(gst_caps_get_structure(caps, i), fourcc, dma_drm, out);
  return out;
}

ModifiersTaken Negotiator::modifiers_taken(uint32_t fourcc) const {
  const auto downstream = downstream_caps(decoder_);
  if (!downstream || gst_caps_is_any(downstream.get())) return {};
  return modifiers_in(downstream.get(), fourcc, has_dma_drm());
}

// Sends the caps and asks for allocation; the base class keeps the state.
bool Negotiator::try_caps(const OutputFormat& output, GstVideoFormat format,
                          GstVideoCodecState* input, Delivery delivery,
                          const SurfaceOffer& offer, Agreement& out) {
  GstVideoCodecState* state = gst_video_decoder_set_interlaced_output_state(
      &decoder_, format, interlace_mode(output), output.width, output.height, input);
  if (!state) return false;
  add_stream_facts(state->info, output, input ? input->caps : nullptr);
  // The state keeps the plain format, which is what the pixels have; only the caps speak of
  // dma-bufs. The base class takes caps that are set already (1.22 and 1.26).
  gst_caps_replace(&state->caps, caps_for(state->info, output, delivery, offer).get());
  out.info = state->info;
  out.delivery = delivery;
  out.modifier = offer.modifier;
  out.opaque = delivery == Delivery::Opaque ? offer.opaque : std::nullopt;
  gst_video_codec_state_unref(state);
  const bool done = gst_video_decoder_negotiate(&decoder_);
  out.allocation = last_answer_;
  return done;
}

Agreement Negotiator::negotiate(const OutputFormat& output, GstVideoCodecState* input,
                                std::optional<SurfaceOffer> offer, const ModifiersTaken& taken,
                                Reason reason) {
  Agreement out;
  out.taken = taken;
  out.reason = reason;
  const auto downstream = downstream_caps(decoder_);
  if (!downstream) return out;

  // The caps of a first look, with everything that try_caps() will put in.
  GstVideoInfo info;
  gst_video_info_init(&info);
  gst_video_info_set_interlaced_format(&info, output.format, interlace_mode(output),
                                       output.width, output.height);
  if (input) {
    info.fps_n = input->info.fps_n;
    info.fps_d = input->info.fps_d;
    info.par_n = input->info.par_n;
    info.par_d = input->info.par_d;
  }
  add_stream_facts(info, output, input ? input->caps : nullptr);
  const auto system = caps_for(info, output, Delivery::System, {});
  const bool takes_system = gst_caps_can_intersect(downstream.get(), system.get());
  const GstVideoFormat other = rearranged(output.format, output.width);
  bool takes_other = false;
  if (!takes_system && other != GST_VIDEO_FORMAT_UNKNOWN) {
    GstVideoInfo converted = info;
    gst_video_info_set_interlaced_format(&converted, other, interlace_mode(output),
                                         output.width, output.height);
    takes_other = gst_caps_can_intersect(
        downstream.get(), caps_for(converted, output, Delivery::System, {}).get());
  }
  out.takes_system = takes_system || takes_other;

  if (offer) {
    if (offer->opaque) offer->opaque = uuids_read(downstream.get(), *offer->opaque);
    // Downstream that knows such memory, of another device.
    out.reason = offer->opaque && names_opaque(downstream.get()) ? Reason::UuidMismatch
                                                                 : Reason::DownstreamNoDmabuf;
    // Downstream that takes dma-bufs of this format, in other layouts. Its caps may list this
    // one all the same: another GPU reads no tiling, and an import may have failed.
    const bool other_layout = !offer->opaque && !taken.take(offer->modifier);
    if (other_layout && (offer->modifier != kModifierLinear || !taken.list.empty()))
      out.reason = reason_not_taken(taken);
    for (const Delivery delivery : deliveries_of(*offer)) {
      if (other_layout || (delivery == Delivery::DmaDrm && !has_dma_drm())) continue;
      if (delivery == Delivery::Dmabuf && offer->modifier != kModifierLinear) {
        out.reason = reason_not_taken(taken);  // tiled, and no caps that could say so
        continue;
      }
      const auto caps = caps_for(info, output, delivery, *offer);
      if (!takes_surfaces(downstream.get(), caps.get(), delivery)) continue;

      // Without GstVideoMeta nobody sees pitches and offsets. Asked before the caps go out, or
      // a stranger gets DMABuf caps and system ones right behind them. Where nothing but
      // dma-bufs is taken, the question is moot: who asks for those must read the meta.
      const bool needs_meta = !offer->default_layout && out.takes_system;
      if (needs_meta) {
        auto query = GstPtr<GstQuery>::adopt(gst_query_new_allocation(caps.get(), FALSE));
        const bool answered =
            gst_pad_peer_query(GST_VIDEO_DECODER_SRC_PAD(&decoder_), query.get()) &&
            says_something(query.get());
        if (answered && !AllocationAnswer::of(query.get()).video_meta) {
          GST_INFO_OBJECT(&decoder_, "no GstVideoMeta downstream: not %" GST_PTR_FORMAT,
                          caps.get());
          continue;
        }
      }
      if (!try_caps(output, output.format, input, delivery, *offer, out)) continue;
      // A transform answers no such query before it has caps; now it had them.
      if (needs_meta && !out.allocation.video_meta) continue;
      out.reason = Reason::None;
      GST_INFO_OBJECT(&decoder_, "pictures leave as surfaces: %" GST_PTR_FORMAT, caps.get());
      return out;
    }
  }

  const GstVideoFormat format = takes_other ? other : output.format;
  // Sending the caps tells nothing: a sticky event is stored, and its refusal comes back with
  // the first buffer, as somebody else's "not negotiated".
  GstPad* src = GST_VIDEO_DECODER_SRC_PAD(&decoder_);
  if (!out.takes_system && !gst_pad_peer_query_accept_caps(src, system.get())) {
    out.delivery = Delivery::None;
    out.taken_instead = downstream;
    out.not_taken = GstPtr<GstCaps>::adopt(gst_caps_copy(system.get()));
    if (other != GST_VIDEO_FORMAT_UNKNOWN) add_format(out.not_taken.get(), other);
    return out;
  }
  if (!try_caps(output, format, input, Delivery::System, {}, out)) {
    out.delivery = Delivery::None;
    return out;
  }
  GST_INFO_OBJECT(&decoder_, "pictures leave in system memory as %s (%s)",
                  gst_video_format_to_string(format), reason_name(out.reason));
  return out;
}

}  // namespace dxva::gst
