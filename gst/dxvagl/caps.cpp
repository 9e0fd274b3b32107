// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/caps.hpp"

#include <gst/allocators/gstdmabuf.h>
#include <gst/gl/gl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "gst/common/known_colorimetry.hpp"
#include "gst/common/opaque_memory.hpp"

namespace dxva::gst {
namespace {

constexpr const char* kDmabuf = GST_CAPS_FEATURE_MEMORY_DMABUF;
constexpr const char* kGl = GST_CAPS_FEATURE_MEMORY_GL_MEMORY;
constexpr const char* kSystem = GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY;
constexpr const char* kDrm = "DMA_DRM";
constexpr const char* kMultiviewMode = "multiview-mode";
constexpr const char* kSeparated = "separated";

using Formats = std::vector<std::string>;

// The two that the shader pass reads, and what it draws: 10-bit video needs more than 8 bits a
// channel to stay without banding, so that comes first for it. A consumer that takes nothing
// but 10-bit RGB gets it of 8-bit video as well: a stream may change its depth.
struct PassInput {
  const char* format;
  uint32_t fourcc;
  std::vector<const char*> outputs;
};
const std::vector<PassInput>& pass_inputs() {
  static const std::vector<PassInput> all = {
      {"NV12", format::kNV12, {"RGBA", "RGB10A2_LE"}},
      {"P010_10LE", format::kP010, {"RGB10A2_LE", "RGBA"}},
  };
  return all;
}

bool contains(const Formats& formats, std::string_view name) {
  return std::find(formats.begin(), formats.end(), name) != formats.end();
}
void add_once(Formats& formats, const std::string& name) {
  if (!contains(formats, name)) formats.push_back(name);
}

Formats strings_of(const GValue* value) {
  Formats out;
  if (!value) return out;
  if (G_VALUE_HOLDS_STRING(value)) {
    out.emplace_back(g_value_get_string(value));
  } else if (GST_VALUE_HOLDS_LIST(value)) {
    for (guint i = 0; i < gst_value_list_get_size(value); ++i) {
      const GValue* item = gst_value_list_get_value(value, i);
      if (G_VALUE_HOLDS_STRING(item)) out.emplace_back(g_value_get_string(item));
    }
  }
  return out;
}

// Every format that GstGL's memory holds.
const Formats& gl_formats() {
  static const Formats all = [] {
    const auto caps = GstPtr<GstCaps>::adopt(
        gst_caps_from_string("video/x-raw, format=" GST_GL_MEMORY_VIDEO_FORMATS_STR));
    return strings_of(gst_structure_get_value(gst_caps_get_structure(caps.get(), 0), "format"));
  }();
  return all;
}

void set_strings(GstStructure* structure, const char* field, const Formats& values) {
  if (values.size() == 1) {
    gst_structure_set(structure, field, G_TYPE_STRING, values[0].c_str(), nullptr);
    return;
  }
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (const std::string& text : values) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_STRING);
    g_value_set_string(&item, text.c_str());
    gst_value_list_append_and_take_value(&list, &item);
  }
  gst_structure_take_value(structure, field, &list);
}

MemoryKind memory_of(const GstCapsFeatures* features) {
  if (features && gst_caps_features_contains(features, kGl)) return MemoryKind::Gl;
  if (features && gst_caps_features_contains(features, kDmabuf)) return MemoryKind::Dmabuf;
  if (features && gst_caps_features_contains(features, kOpaqueFdFeature))
    return MemoryKind::Opaque;
  return MemoryKind::System;
}

// The same features with another kind of memory: overlays and other metas stay.
GstCapsFeatures* features_with(const GstCapsFeatures* features, const char* memory) {
  GstCapsFeatures* out = gst_caps_features_new(memory, nullptr);
  const guint count = features && !gst_caps_features_is_any(features)
                          ? gst_caps_features_get_size(features)
                          : 0;
  for (guint i = 0; i < count; ++i) {
    const char* name = gst_caps_features_get_nth(features, i);
    if (std::strncmp(name, "memory:", 7) != 0) gst_caps_features_add(out, name);
  }
  return out;
}

void append(GstCaps* caps, GstStructure* structure, GstCapsFeatures* features) {
  // Merging drops what an earlier entry already says; order is kept.
  GstCaps* one = gst_caps_new_empty();
  gst_caps_append_structure_full(one, structure, features);
  if (gst_caps_is_subset(one, caps))
    gst_caps_unref(one);
  else
    gst_caps_append(caps, one);
}

bool is_pass_output(const std::string& name) {
  for (const PassInput& input : pass_inputs())
    for (const char* output : input.outputs)
      if (name == output) return true;
  return false;
}

bool is_pass_input(const std::string& name) {
  return std::any_of(pass_inputs().begin(), pass_inputs().end(),
                     [&](const PassInput& input) { return name == input.format; });
}

// RGB has no Y'CbCr matrix and no chroma samples: the fields of one side say nothing about the
// other's.
void forget_matrix(GstStructure* structure) {
  gst_structure_remove_fields(structure, "colorimetry", "chroma-site", nullptr);
}

// The same without views in memories of their own, for memory that is not GL's: those are not
// uploaded. Nobody but OpenGL's elements makes any, glviewconvert makes them behind us as well,
// and glupload, which offers them, fills the first view alone (1.22; with glcolorconvert behind
// it the process ends). Of several modes the others stay, so that negotiation takes one of
// them. A structure without a mode stays: most streams have none, and are no subset of one that
// has. Null: nothing is left.
StructurePtr without_separated(const GstStructure* structure) {
  StructurePtr out(gst_structure_copy(structure));
  Formats modes = strings_of(gst_structure_get_value(structure, kMultiviewMode));
  if (std::erase(modes, kSeparated) == 0) return out;
  if (gint views = 0; gst_structure_get_int(structure, "views", &views) && views == 1)
    return out;
  if (modes.empty()) return nullptr;
  set_strings(out.get(), kMultiviewMode, modes);
  return out;
}

// --- downstream: what comes out for this input

// `own`: those that may also leave as they are.
void append_outputs(GstCaps* out, const GstStructure* structure,
                    const GstCapsFeatures* features, const Formats& inputs, const Formats& own,
                    const TransformCaps& with) {
  const auto base = [&] {
    GstStructure* copy = gst_structure_copy(structure);
    gst_structure_remove_field(copy, "drm-format");
    remove_uuids(copy);
    gst_structure_set(copy, "texture-target", G_TYPE_STRING, GST_GL_TEXTURE_TARGET_2D_STR,
                      nullptr);
    return copy;
  };
  if (!own.empty()) {
    GstStructure* unchanged = base();
    set_strings(unchanged, "format", own);
    append(out, unchanged, features_with(features, kGl));
  }

  Formats drawn;
  for (const PassInput& input : pass_inputs())
    if (with.draws && contains(inputs, input.format))
      for (const char* name : input.outputs) add_once(drawn, name);
  if (drawn.empty()) return;
  GstStructure* rgb = base();
  forget_matrix(rgb);
  set_strings(rgb, "format", drawn);
  append(out, rgb, features_with(features, kGl));
}

const DmabufOffer* offer_of(const DmabufOffers& offers, uint32_t fourcc) {
  for (const DmabufOffer& offer : offers)
    if (offer.fourcc == fourcc) return &offer;
  return nullptr;
}

// A tiling that EGL knows for the whole picture and not for its planes.
bool only_drawn(const DmabufOffers& offers, const DrmFormat& drm) {
  const DmabufOffer* offer = offer_of(offers, drm.fourcc);
  return offer && offer->is_drawn(drm.modifier) && !offer->has_planes(drm.modifier);
}

struct DrmInputs {
  Formats all;
  Formats own;  // those whose planes become textures, or whose pixels can be copied
};
DrmInputs formats_of_drm(const GstStructure* structure, const DmabufOffers& offers) {
  const GValue* field = gst_structure_get_value(structure, "drm-format");
  DrmInputs out;
  for (const PassInput& input : pass_inputs()) {
    if (!field) {
      out.all.emplace_back(input.format);
      out.own.emplace_back(input.format);
      continue;
    }
    for (const std::string& text : strings_of(field)) {
      const auto drm = parse_drm_format(text.c_str());
      if (!drm || drm->fourcc != input.fourcc) continue;
      add_once(out.all, input.format);
      if (!only_drawn(offers, *drm)) add_once(out.own, input.format);
    }
  }
  return out;
}

void add_downstream(GstCaps* out, const GstStructure* whole, const GstCapsFeatures* features,
                    const TransformCaps& with) {
  const MemoryKind memory = memory_of(features);
  if (memory == MemoryKind::Gl) {  // goes through as it is
    append(out, gst_structure_copy(whole), gst_caps_features_copy(features));
    return;
  }
  const auto taken = without_separated(whole);
  if (!taken) return;
  const GstStructure* structure = taken.get();
  const GValue* field = gst_structure_get_value(structure, "format");
  Formats inputs = field ? strings_of(field) : gl_formats();
  if (memory == MemoryKind::Dmabuf && (!field || contains(inputs, kDrm))) {
    const DrmInputs inside = formats_of_drm(structure, with.offers);
    if (!inside.all.empty())
      append_outputs(out, structure, features, inside.all, inside.own, with);
  }
  std::erase_if(inputs, [&](const std::string& name) {
    return memory == MemoryKind::System ? !contains(gl_formats(), name) : !is_pass_input(name);
  });
  if (!inputs.empty()) append_outputs(out, structure, features, inputs, inputs, with);
}

// --- upstream: what may come in when this shall come out

enum class Becomes { Own, Rgb };

Formats drm_formats(const DmabufOffers& offers, const Formats& inputs, Becomes becomes) {
  Formats out;
  for (const DmabufOffer& offer : offers)
    for (const PassInput& input : pass_inputs())
      if (input.fourcc == offer.fourcc && contains(inputs, input.format))
        for (const uint64_t modifier :
             becomes == Becomes::Own ? offer.modifiers : offer.for_rgb())
          add_once(out, drm_format_text({offer.fourcc, modifier}));
  return out;
}

GstStructure* as_input(const GstStructure* structure) {
  GstStructure* copy = gst_structure_copy(structure);
  gst_structure_remove_field(copy, "texture-target");
  return copy;
}

// Those that may come as a dma-buf.
Formats shared_of(const Formats& inputs) {
  Formats shared;
  for (const PassInput& input : pass_inputs())
    if (contains(inputs, input.format)) shared.emplace_back(input.format);
  return shared;
}

void append_drm_inputs(GstCaps* out, const GstStructure* structure,
                       const GstCapsFeatures* features, const Formats& inputs, Becomes becomes,
                       const TransformCaps& with) {
  if (!with.drm_caps) return;
  const Formats drm = drm_formats(with.offers, shared_of(inputs), becomes);
  if (drm.empty()) return;
  GstStructure* entry = as_input(structure);
  gst_structure_set(entry, "format", G_TYPE_STRING, kDrm, nullptr);
  set_strings(entry, "drm-format", drm);
  append(out, entry, features_with(features, kDmabuf));
}

void append_plain_inputs(GstCaps* out, const GstStructure* structure,
                         const GstCapsFeatures* features, const Formats& inputs,
                         const TransformCaps& with) {
  if (inputs.empty()) return;
  const Formats shared = shared_of(inputs);
  if (!shared.empty() && with.opaque) {
    GstStructure* entry = as_input(structure);
    set_strings(entry, "format", shared);
    set_uuids(entry, *with.opaque);
    append(out, entry, features_with(features, kOpaqueFdFeature));
  }
  if (!shared.empty()) {
    GstStructure* entry = as_input(structure);
    set_strings(entry, "format", shared);
    append(out, entry, features_with(features, kDmabuf));
  }
  GstStructure* entry = as_input(structure);
  set_strings(entry, "format", inputs);
  append(out, entry, features_with(features, kSystem));
}

// Most tiled surfaces have their chroma behind the luma, and such a plane is no image by
// itself: where the whole picture can be drawn, that is the output that always works.
template <typename Choose>
bool choose_rgb(const std::optional<InputFormat>& input, const DmabufOffers& offers,
                PreferRgb prefer, Choose choose) {
  if (!input || input->memory == MemoryKind::Gl) return false;
  const bool tiled = input->memory == MemoryKind::Dmabuf && input->modifier != kModifierLinear;
  for (const PassInput& from : pass_inputs()) {
    if (std::strcmp(GST_VIDEO_INFO_NAME(&input->info), from.format) != 0) continue;
    const DmabufOffer* offer = tiled ? offer_of(offers, from.fourcc) : nullptr;
    return (prefer == PreferRgb::Yes || (offer && offer->is_drawn(input->modifier))) &&
           std::any_of(from.outputs.begin(), from.outputs.end(), choose);
  }
  return false;
}

bool is_2d(const GstStructure* structure) {
  const GValue* target = gst_structure_get_value(structure, "texture-target");
  if (!target) return true;
  const Formats targets = strings_of(target);
  return contains(targets, GST_GL_TEXTURE_TARGET_2D_STR);
}

void add_upstream(GstCaps* out, const GstStructure* whole, const GstCapsFeatures* features,
                  const TransformCaps& with) {
  const bool any = features && gst_caps_features_is_any(features);
  if (memory_of(features) != MemoryKind::Gl && !any) return;
  if (any) {
    append(out, gst_structure_copy(whole), gst_caps_features_new(kGl, nullptr));
  } else {
    append(out, gst_structure_copy(whole), gst_caps_features_copy(features));
  }
  const auto taken = without_separated(whole);
  if (!taken || !is_2d(whole)) return;
  const GstStructure* structure = taken.get();

  const GValue* field = gst_structure_get_value(structure, "format");
  const Formats outputs = field ? strings_of(field) : gl_formats();
  Formats own;
  for (const std::string& name : outputs)
    if (contains(gl_formats(), name)) add_once(own, name);
  Formats drawn_from;
  for (const PassInput& input : pass_inputs())
    for (const char* output : input.outputs)
      if (with.draws && contains(outputs, output)) add_once(drawn_from, input.format);
  GstStructure* without_matrix = gst_structure_copy(structure);
  forget_matrix(without_matrix);

  append_drm_inputs(out, structure, features, own, Becomes::Own, with);
  append_drm_inputs(out, without_matrix, features, drawn_from, Becomes::Rgb, with);
  append_plain_inputs(out, structure, features, own, with);
  std::erase_if(drawn_from, [&](const std::string& name) { return contains(own, name); });
  append_plain_inputs(out, without_matrix, features, drawn_from, with);
  gst_structure_free(without_matrix);
}

GstPtr<GstCaps> with_overlay(const char* text, const char* memory) {
  // Sub-pictures travel as metas beside the pixels; whoever composes them comes after us.
  GstCaps* caps = gst_caps_from_string(text);
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    gst_caps_set_features(
        caps, i,
        gst_caps_features_new(memory, GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION,
                              nullptr));
  return GstPtr<GstCaps>::adopt(caps);
}

}  // namespace

bool has_drm_caps() {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  return major > 1 || (major == 1 && minor >= 24);
}

namespace {

constexpr const char* kGlFormats = GST_VIDEO_CAPS_MAKE(GST_GL_MEMORY_VIDEO_FORMATS_STR);
constexpr const char* kUnnamedFormats =
    "video/x-raw, width=" GST_VIDEO_SIZE_RANGE ", height=" GST_VIDEO_SIZE_RANGE
    ", framerate=" GST_VIDEO_FPS_RANGE;

GstPtr<GstCaps> sink_caps(const char* gl_formats, bool with_drm) {
  constexpr const char* kLinear = GST_VIDEO_CAPS_MAKE("{ NV12, P010_10LE }");
  GstCaps* caps = gst_caps_new_empty();
  const auto add = [&](const char* text, const char* memory) {
    GstCaps* plain = gst_caps_from_string(text);
    gst_caps_set_features_simple(plain, gst_caps_features_new(memory, nullptr));
    gst_caps_append(caps, plain);
    gst_caps_append(caps, with_overlay(text, memory).release());
  };
  if (with_drm)
    add("video/x-raw, format=DMA_DRM, width=" GST_VIDEO_SIZE_RANGE
        ", height=" GST_VIDEO_SIZE_RANGE ", framerate=" GST_VIDEO_FPS_RANGE,
        kDmabuf);
  add(kLinear, kDmabuf);
  add(kLinear, kOpaqueFdFeature);
  add(gl_formats, kGl);
  add(gl_formats, kSystem);
  return GstPtr<GstCaps>::adopt(caps);
}

GstPtr<GstCaps> src_caps(const char* gl_formats) {
  GstCaps* caps = gst_caps_from_string(gl_formats);
  gst_caps_set_features_simple(caps, gst_caps_features_new(kGl, nullptr));
  gst_caps_append(caps, with_overlay(gl_formats, kGl).release());
  return GstPtr<GstCaps>::adopt(caps);
}

GstPadTemplate* make_template(const char* name, GstPadDirection direction,
                              const GstPtr<GstCaps>& caps, GstPtr<GstCaps> documented) {
  GstPadTemplate* out = gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps.get());
  gst_pad_template_set_documentation_caps(out, documented.release());
  return out;
}

}  // namespace

GstPadTemplate* sink_template() {
  return make_template("sink", GST_PAD_SINK, sink_caps(kGlFormats, has_drm_caps()),
                       sink_caps(kUnnamedFormats, true));
}

GstPadTemplate* src_template() {
  return make_template("src", GST_PAD_SRC, src_caps(kGlFormats), src_caps(kUnnamedFormats));
}

std::optional<DrmFormat> parse_drm_format(const char* text) {
  if (!text || std::strlen(text) < 4) return std::nullopt;
  DrmFormat out{.fourcc = fourcc(text[0], text[1], text[2], text[3])};
  if (text[4] == '\0') return out;
  if (text[4] != ':' || std::strncmp(text + 5, "0x", 2) != 0 || text[7] == '\0')
    return std::nullopt;
  char* end = nullptr;
  out.modifier = std::strtoull(text + 5, &end, 16);
  return *end == '\0' ? std::optional(out) : std::nullopt;
}

std::string drm_format_text(const DrmFormat& drm) {
  std::string out = fourcc_text(drm.fourcc);
  if (drm.modifier == kModifierLinear) return out;
  char suffix[24];
  std::snprintf(suffix, sizeof suffix, ":0x%016llx",
                static_cast<unsigned long long>(drm.modifier));
  return out + suffix;
}

GstPtr<GstCaps> transform_caps(GstPadDirection direction, GstCaps* caps,
                               const TransformCaps& with) {
  GstCaps* out = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure* structure = gst_caps_get_structure(caps, i);
    const GstCapsFeatures* features = gst_caps_get_features(caps, i);
    if (direction == GST_PAD_SINK)
      add_downstream(out, structure, features, with);
    else
      add_upstream(out, structure, features, with);
  }
  return GstPtr<GstCaps>::adopt(out);
}

bool is_any_context(GstPadDirection direction, const GstCaps* caps, const GstCaps* filter) {
  // Of the sink pad.
  const GstCaps* inputs = direction == GST_PAD_SINK ? caps : filter;
  if (!inputs || gst_caps_is_any(inputs)) return false;
  for (guint i = 0; i < gst_caps_get_size(inputs); ++i) {
    const GstCapsFeatures* features = gst_caps_get_features(inputs, i);
    if (gst_caps_features_is_any(features) || memory_of(features) != MemoryKind::System)
      return false;
  }
  return direction == GST_PAD_SRC || !gst_caps_is_fixed(inputs);
}

GstPtr<GstCaps> fixate_output(GstCaps* in, GstPtr<GstCaps> candidates,
                              const DmabufOffers& offers, PreferRgb prefer) {
  const auto input = parse_input(in);
  const char* own = input ? GST_VIDEO_INFO_NAME(&input->info) : nullptr;
  const char* wanted = own;
  guint chosen = 0;
  const auto choose = [&](const char* format) {
    for (guint i = 0; format && i < gst_caps_get_size(candidates.get()); ++i) {
      const GstStructure* entry = gst_caps_get_structure(candidates.get(), i);
      if (!contains(strings_of(gst_structure_get_value(entry, "format")), format)) continue;
      chosen = i;
      wanted = format;
      return true;
    }
    return false;
  };
  if (!choose_rgb(input, offers, prefer, choose)) choose(own);
  auto out = GstPtr<GstCaps>::adopt(gst_caps_copy_nth(candidates.get(), chosen));
  GstStructure* entry = gst_caps_get_structure(out.get(), 0);
  if (wanted && gst_structure_has_field(entry, "format"))
    gst_structure_fixate_field_string(entry, "format", wanted);
  if (!input || input->memory != MemoryKind::Gl)  // textures that pass through keep theirs
    gst_structure_set(entry, "texture-target", G_TYPE_STRING, GST_GL_TEXTURE_TARGET_2D_STR,
                      nullptr);
  out = GstPtr<GstCaps>::adopt(gst_caps_fixate(out.release()));

  entry = gst_caps_get_structure(out.get(), 0);
  const char* format = gst_structure_get_string(entry, "format");
  if (input && format && std::strcmp(format, own) != 0 && is_pass_output(format)) {
    // The pass changes the matrix and the range and leaves transfer and primaries alone.
    GstVideoColorimetry rgb = input->info.colorimetry;
    rgb.matrix = GST_VIDEO_COLOR_MATRIX_RGB;
    rgb.range = GST_VIDEO_COLOR_RANGE_0_255;
    const GlibString text(gst_video_colorimetry_to_string(&rgb));
    if (text) gst_structure_set(entry, "colorimetry", G_TYPE_STRING, text.get(), nullptr);
  }
  return out;
}

std::optional<InputFormat> parse_input(GstCaps* caps) {
  if (!caps || gst_caps_get_size(caps) != 1) return std::nullopt;
  InputFormat out{.info = {}, .memory = memory_of(gst_caps_get_features(caps, 0))};
  auto plain = GstPtr<GstCaps>::adopt(gst_caps_copy(caps));
  GstStructure* structure = gst_caps_get_structure(plain.get(), 0);
  // GstVideoInfo of 1.22 does not know DMA_DRM, and that of 1.24 wants another type for it: the
  // pixels inside are an ordinary format.
  const char* format = gst_structure_get_string(structure, "format");
  if (format && std::strcmp(format, kDrm) == 0) {
    const auto drm = parse_drm_format(gst_structure_get_string(structure, "drm-format"));
    const char* inside = nullptr;
    for (const PassInput& input : pass_inputs())
      if (drm && drm->fourcc == input.fourcc) inside = input.format;
    if (!inside) return std::nullopt;
    out.modifier = drm->modifier;
    gst_structure_remove_field(structure, "drm-format");
    gst_structure_set(structure, "format", G_TYPE_STRING, inside, nullptr);
  }
  if (out.memory == MemoryKind::Opaque) out.opaque_uuids = uuids_of(structure);
  gst_caps_set_features_simple(plain.get(), nullptr);
  if (!gst_video_info_from_caps(&out.info, plain.get())) return std::nullopt;
  forget_unknown_parts(out.info.colorimetry);
  return out;
}

}  // namespace dxva::gst
