// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/path_stats.hpp"

namespace dxva::gst {
namespace {

void add_nested(GstStructure* stats, const char* name, StructurePtr nested) {
  gst_structure_set(stats, name, GST_TYPE_STRUCTURE, nested.get(), nullptr);
}

}  // namespace

void add_path_counts(GstStructure* stats, const PathCounts& counts,
                     std::span<const Step> steps) {
  StructurePtr taken(gst_structure_new_empty("steps"));
  for (const Step step : steps)
    gst_structure_set(taken.get(), step_name(step), G_TYPE_UINT64,
                      counts.steps[static_cast<size_t>(step)], nullptr);
  StructurePtr refused(gst_structure_new_empty("reasons"));
  for (size_t i = 1; i < kReasonCount; ++i)
    if (counts.reasons[i] != 0)
      gst_structure_set(refused.get(), reason_name(static_cast<Reason>(i)), G_TYPE_UINT64,
                        counts.reasons[i], nullptr);
  add_nested(stats, "steps", std::move(taken));
  add_nested(stats, "reasons", std::move(refused));
}

GstMessage* path_changed_message(GstElement* element, Step from, Step to, Reason reason) {
  return gst_message_new_element(
      GST_OBJECT(element),
      gst_structure_new("dxva-path-changed", "from", G_TYPE_STRING, step_name(from), "to",
                        G_TYPE_STRING, step_name(to), "reason", G_TYPE_STRING,
                        reason_name(reason), nullptr));
}

}  // namespace dxva::gst
