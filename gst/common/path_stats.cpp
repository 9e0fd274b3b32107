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

void add_ways(GstStructure* stats, const std::string& name,
              std::span<const NamedStanding> ways) {
  StructurePtr times(gst_structure_new_empty("times"));
  StructurePtr refused(gst_structure_new_empty("refused"));
  for (const auto& [way, standing] : ways) {
    if (standing.turns > 0 && standing.shortest != Fastest::kNever)
      gst_structure_set(times.get(), way, G_TYPE_UINT64,
                        static_cast<guint64>(standing.shortest.count()), nullptr);
    if (standing.out)
      gst_structure_set(refused.get(), way, G_TYPE_STRING, standing.out->c_str(), nullptr);
  }
  add_nested(stats, (name + "-times").c_str(), std::move(times));
  add_nested(stats, (name + "-refused").c_str(), std::move(refused));
}

GstMessage* path_changed_message(GstElement* element, Step from, Step to, Reason reason) {
  return gst_message_new_element(
      GST_OBJECT(element),
      gst_structure_new("dxva-path-changed", "from", G_TYPE_STRING, step_name(from), "to",
                        G_TYPE_STRING, step_name(to), "reason", G_TYPE_STRING,
                        reason_name(reason), nullptr));
}

}  // namespace dxva::gst
