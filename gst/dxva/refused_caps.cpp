// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/refused_caps.hpp"

#include <gst/allocators/allocators.h>

#include <vector>

#include "gst/common/gst_ptr.hpp"
#include "lib/base/translation.hpp"

namespace dxva::gst {

namespace {

bool is_system(const GstCaps* caps, guint index) {
  return gst_caps_features_is_equal(gst_caps_get_features(caps, index),
                                    GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
}

bool is_dmabuf(const GstCaps* caps, guint index) {
  const GstCapsFeatures* features = gst_caps_get_features(caps, index);
  return !gst_caps_features_is_any(features) &&
         gst_caps_features_contains(features, GST_CAPS_FEATURE_MEMORY_DMABUF);
}

// Of system memory and of dma-bufs.
std::string formats_named(const GstCaps* caps) {
  std::string out;
  const auto add = [&out](const GValue* value) {
    const char* name = G_VALUE_HOLDS_STRING(value) ? g_value_get_string(value) : nullptr;
    // Whole names: "I420" is also in "I420_10LE".
    if (!name || (", " + out + ",").find(std::string(", ") + name + ",") != std::string::npos)
      return;
    if (!out.empty()) out += ", ";
    out += name;
  };
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GValue* formats = gst_structure_get_value(gst_caps_get_structure(caps, i), "format");
    if (!formats || (!is_system(caps, i) && !is_dmabuf(caps, i))) continue;
    if (!GST_VALUE_HOLDS_LIST(formats))
      add(formats);
    else
      for (guint k = 0; k < gst_value_list_get_size(formats); ++k)
        add(gst_value_list_get_value(formats, k));
  }
  return out;
}

// Of an entry of downstream's caps to what was refused.
struct Difference {
  const GstStructure* refused = nullptr;
  std::string format;               // that both have; empty: none
  std::vector<std::string> fields;  // that have another value: "width=64"
};

std::string first_string(const GValue* value) {
  if (GST_VALUE_HOLDS_LIST(value)) return first_string(gst_value_list_get_value(value, 0));
  return G_VALUE_HOLDS_STRING(value) ? g_value_get_string(value) : "";
}

gboolean add_difference(GQuark field, const GValue* value, gpointer user) {
  auto& out = *static_cast<Difference*>(user);
  const GValue* ours = gst_structure_id_get_value(out.refused, field);
  GValue common = G_VALUE_INIT;
  if (!ours) return TRUE;
  const bool is_format = field == g_quark_from_static_string("format");
  if (gst_value_intersect(&common, ours, value)) {
    if (is_format) out.format = first_string(&common);
    g_value_unset(&common);
    return TRUE;
  }
  if (is_format) return FALSE;
  const GlibString text(gst_value_serialize(value));
  out.fields.push_back(std::string(g_quark_to_string(field)) + "=" + (text ? text.get() : "?"));
  return TRUE;
}

// The least that stands between the pictures and a consumer of their format in this kind of
// memory; without a format: there is none.
Difference least_difference(const GstCaps* downstream, const GstStructure* refused,
                            bool (*is_of_kind)(const GstCaps*, guint)) {
  Difference out;
  for (guint i = 0; i < gst_caps_get_size(downstream); ++i) {
    if (!is_of_kind(downstream, i)) continue;
    Difference difference{.refused = refused, .format = {}, .fields = {}};
    gst_structure_foreach(gst_caps_get_structure(downstream, i), add_difference, &difference);
    const bool better = out.format.empty() || difference.fields.size() < out.fields.size();
    if (!difference.format.empty() && better) out = std::move(difference);
  }
  return out;
}

}  // namespace

std::string taken_instead(const GstCaps* downstream, const GstCaps* refused) {
  const GstStructure* ours = gst_caps_get_structure(refused, 0);
  Difference least = least_difference(downstream, ours, is_system);
  std::string out = least.format;
  if (out.empty()) {
    least = least_difference(downstream, ours, is_dmabuf);
    if (least.format.empty()) return formats_named(downstream);
    out = fill(_("%s in dma-bufs"), least.format);
  }
  if (least.fields.empty()) return out;
  std::string fields;
  for (const std::string& field : least.fields) fields += (fields.empty() ? "" : ", ") + field;
  return fill(_("%s with %s"), out, fields);
}

}  // namespace dxva::gst
