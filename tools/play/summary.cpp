// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/play/summary.hpp"

#include <json-glib/json-glib.h>

#include <algorithm>

#include "tools/play/handles.hpp"

namespace dxva::play {
namespace {

const GstStructure* nested(const GstStructure* stats, const char* name) {
  const GValue* value = gst_structure_get_value(stats, name);
  return value && GST_VALUE_HOLDS_STRUCTURE(value) ? gst_value_get_structure(value) : nullptr;
}

uint64_t count_of(const GstStructure* counts, const char* name) {
  guint64 count = 0;
  if (counts) gst_structure_get_uint64(counts, name, &count);
  return count;
}

std::string text_of(const GstStructure* stats, const char* name) {
  const char* text = gst_structure_get_string(stats, name);
  return text ? text : "";
}

std::map<std::string, uint64_t> reasons_of(const GstStructure* stats) {
  std::map<std::string, uint64_t> reasons;
  const GstStructure* counts = nested(stats, "reasons");
  for (gint i = 0; counts && i < gst_structure_n_fields(counts); ++i) {
    const char* name = gst_structure_nth_field_name(counts, i);
    if (const uint64_t count = count_of(counts, name)) reasons[name] = count;
  }
  return reasons;
}

}  // namespace

void Summary::take_stats(const GstStructure* decoder, const GstStructure* uploader) {
  const GstStructure* decoded = nested(decoder, "steps");
  const GstStructure* uploaded = nested(uploader, "steps");
  for (size_t i = 0; i < kStepCount; ++i)
    steps[i] = count_of(uploaded, step_name(static_cast<Step>(i)));

  const auto step = [this](Step s) -> uint64_t& { return steps[static_cast<size_t>(s)]; };
  const uint64_t software = count_of(decoded, step_name(Step::Software));
  const uint64_t up = step(Step::CpuCopy) + step(Step::Software);
  step(Step::Software) = std::min(software, up);
  step(Step::CpuCopy) = up - step(Step::Software);
  // The uploader sees a surface in what the decoder's device has copied.
  uint64_t copied_by_gpu = count_of(decoded, step_name(Step::GpuCopy));
  for (const Step imported : {Step::Egl, Step::MemoryObject}) {
    const uint64_t moved = std::min(copied_by_gpu, step(imported));
    step(imported) -= moved;
    step(Step::GpuCopy) += moved;
    copied_by_gpu -= moved;
  }

  // "The buffer was no surface" says nothing where the decoder has said why it made none.
  reasons = reasons_of(decoder);
  uint64_t explained = 0;
  for (const auto& [name, count] : reasons) explained += count;
  for (const auto& [name, count] : reasons_of(uploader)) {
    const bool follows = name == reason_name(Reason::SystemMemory);
    const uint64_t known = follows ? std::min(explained, count) : 0;
    if (count > known) reasons[name] += count - known;
  }

  device = text_of(decoder, "device");
  device_error = text_of(decoder, "device-error");
  codec = text_of(decoder, "codec");
  profile = text_of(decoder, "profile");
  renderer = text_of(uploader, "renderer");
}

uint64_t Summary::copied() const {
  uint64_t copies = 0;
  for (const Step step : {Step::GpuCopy, Step::CpuCopy, Step::Software})
    copies += steps[static_cast<size_t>(step)];
  return copies;
}

std::string Summary::text() const {
  std::string out =
      media + ": " + std::to_string(frames) + " frames, " + codec + " " + profile + "\n";
  out += "device    " + device + (device_error.empty() ? "" : ": " + device_error) + "\n";
  if (!device_advice.empty()) out += "          " + device_advice + "\n";
  out += "renderer  " + renderer + "\n";
  out += "steps     ";
  for (size_t i = 0; i < kStepCount; ++i)
    if (steps[i])
      out +=
          std::string(step_name(static_cast<Step>(i))) + " " + std::to_string(steps[i]) + ", ";
  out += std::to_string(copied()) + " copied\n";
  out += "reasons   ";
  if (reasons.empty()) out += "none";
  bool first = true;
  for (const auto& [name, count] : reasons) {
    out += (first ? "" : ", ") + name + " " + std::to_string(count);
    first = false;
  }
  out += "\n";
  if (mismatches) {
    out += "check     ";
    if (*mismatches > 0)
      out += std::to_string(*mismatches) + " mismatches: " + first_mismatch + "\n";
    else if (damaged > 0)
      out += std::to_string(frames - damaged) + " frames equal libavcodec's software decode\n";
    else
      out += "every frame equals libavcodec's software decode\n";
    if (damaged > 0)
      out += "damaged   " + std::to_string(damaged) + ", not compared: " + first_damaged + "\n";
  }
  if (!sheet.empty()) out += "sheet     " + sheet + "\n";
  if (!timeline.empty()) out += "timeline  " + timeline + "\n";
  return out;
}

std::string Summary::json() const {
  JsonBuilder* builder = json_builder_new();
  const auto member = [builder](const char* name) {
    json_builder_set_member_name(builder, name);
  };
  const auto number = [&](const char* name, uint64_t value) {
    member(name);
    json_builder_add_int_value(builder, static_cast<gint64>(value));
  };
  const auto text = [&](const char* name, const std::string& value) {
    member(name);
    json_builder_add_string_value(builder, value.c_str());
  };

  json_builder_begin_object(builder);
  text("media", media);
  number("frames", frames);
  member("steps");
  json_builder_begin_object(builder);
  for (size_t i = 0; i < kStepCount; ++i) number(step_name(static_cast<Step>(i)), steps[i]);
  json_builder_end_object(builder);
  member("reasons");
  json_builder_begin_object(builder);
  for (const auto& [name, count] : reasons) number(name.c_str(), count);
  json_builder_end_object(builder);
  member("path-changes");
  json_builder_begin_array(builder);
  for (const std::string& change : path_changes)
    json_builder_add_string_value(builder, change.c_str());
  json_builder_end_array(builder);
  number("descriptors", descriptors);
  text("device", device);
  if (!device_error.empty()) text("device-error", device_error);
  if (!device_advice.empty()) text("device-advice", device_advice);
  text("codec", codec);
  text("profile", profile);
  text("renderer", renderer);
  if (mismatches) {
    number("mismatches", *mismatches);
    if (!first_mismatch.empty()) text("first-mismatch", first_mismatch);
    number("damaged", damaged);
    if (!first_damaged.empty()) text("first-damaged", first_damaged);
  } else {
    member("mismatches");
    json_builder_add_null_value(builder);
  }
  if (!sheet.empty()) text("sheet", sheet);
  if (!timeline.empty()) text("timeline", timeline);
  json_builder_end_object(builder);

  JsonNode* root = json_builder_get_root(builder);
  const Owned<char> printed(json_to_string(root, TRUE));
  json_node_unref(root);
  g_object_unref(builder);
  return std::string(printed.get()) + "\n";
}

}  // namespace dxva::play
