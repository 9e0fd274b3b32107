// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/downstream_limits.hpp"

#include <array>

namespace dxva::gst {
namespace {

// What a picture has before it is decoded and after, the same as in GstVideoDecoder.
constexpr std::array kShared = {"width",       "height",     "framerate", "pixel-aspect-ratio",
                                "colorimetry", "chroma-site"};

// A structure of this name for each of `limits`, with what those say of the shared fields.
void append_limited(GstCaps* out, const char* name, const GstCaps* limits) {
  for (guint i = 0; i < gst_caps_get_size(limits); ++i) {
    const GstStructure* limit = gst_caps_get_structure(limits, i);
    GstStructure* structure = gst_structure_new_empty(name);
    for (const char* field : kShared)
      if (const GValue* value = gst_structure_get_value(limit, field))
        gst_structure_set_value(structure, field, value);
    // Formats and memories differ, their limits seldom do.
    const auto one = GstPtr<GstCaps>::adopt(gst_caps_new_full(structure, nullptr));
    if (!gst_caps_is_subset(one.get(), out)) gst_caps_append(out, gst_caps_copy(one.get()));
  }
}

// About system memory.
GstPtr<GstCaps> question_of(const GstCaps* filter) {
  auto out = GstPtr<GstCaps>::adopt(gst_caps_new_empty());
  if (filter && !gst_caps_is_any(filter))
    append_limited(out.get(), "video/x-raw", filter);
  else
    gst_caps_append_structure(out.get(), gst_structure_new_empty("video/x-raw"));
  return out;
}

}  // namespace

GstPtr<GstCaps> within_downstream_limits(GstPad* src, const GstCaps* caps,
                                         const GstCaps* filter) {
  const auto answer =
      GstPtr<GstCaps>::adopt(gst_pad_peer_query_caps(src, question_of(filter).get()));
  const auto ours = GstPtr<GstCaps>::adopt(gst_pad_get_pad_template_caps(src));
  const auto taken = GstPtr<GstCaps>::adopt(
      gst_caps_intersect_full(answer.get(), ours.get(), GST_CAPS_INTERSECT_FIRST));
  if (gst_caps_is_empty(taken.get())) return nullptr;
  auto limited = GstPtr<GstCaps>::adopt(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    append_limited(limited.get(), gst_structure_get_name(gst_caps_get_structure(caps, i)),
                   taken.get());
  limited =
      GstPtr<GstCaps>::adopt(gst_caps_intersect(limited.get(), const_cast<GstCaps*>(caps)));
  if (filter)
    limited =
        GstPtr<GstCaps>::adopt(gst_caps_intersect(limited.get(), const_cast<GstCaps*>(filter)));
  return limited;
}

}  // namespace dxva::gst
