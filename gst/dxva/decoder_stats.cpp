// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxva/decoder_stats.hpp"

#include <utility>

#include "gst/common/path_stats.hpp"

namespace dxva::gst {

const char* leaving_name(Leaving leaving) {
  switch (leaving) {
    case Leaving::Exported:
      return "exported";
    case Leaving::GpuCopy:
      return "gpu-copy";
    case Leaving::CpuCopy:
      return "cpu-copy";
    case Leaving::Software:
      return "software";
  }
  return "unknown";
}

GstPtr<GstMessage> DecoderStats::count(GstElement* element, Leaving leaving, Reason reason) {
  const std::lock_guard guard(lock_);
  ++left_[static_cast<size_t>(leaving)];
  if (reason != Reason::None) ++reasons_[static_cast<size_t>(reason)];
  const auto change = watch_.next(leaving);
  if (!change) return nullptr;
  return GstPtr<GstMessage>::adopt(gst_message_new_element(
      GST_OBJECT(element),
      gst_structure_new("dxva-path-changed", "from", G_TYPE_STRING, leaving_name(change->from),
                        "to", G_TYPE_STRING, leaving_name(change->to), "reason", G_TYPE_STRING,
                        reason_name(reason), nullptr)));
}

void DecoderStats::count_turn(Leaving leaving, Reason reason) {
  const std::lock_guard guard(lock_);
  ++left_[static_cast<size_t>(leaving)];
  if (reason != Reason::None) ++reasons_[static_cast<size_t>(reason)];
}

void DecoderStats::count_error() {
  const std::lock_guard guard(lock_);
  ++errors_;
}

void DecoderStats::count_unfinished() {
  const std::lock_guard guard(lock_);
  ++unfinished_;
}

void DecoderStats::count_in_place() {
  const std::lock_guard guard(lock_);
  ++in_place_;
}

bool DecoderStats::count_read_back(const char* way) {
  const std::lock_guard guard(lock_);
  ++read_backs_[way];
  return std::exchange(read_back_, way) != way;
}

void DecoderStats::set_read_back_ways(std::vector<NamedStanding> ways) {
  const std::lock_guard guard(lock_);
  read_back_ways_ = std::move(ways);
}

void DecoderStats::set_gpu_copy(const char* way, std::vector<NamedStanding> ways) {
  const std::lock_guard guard(lock_);
  gpu_copy_ = way;
  gpu_copy_ways_ = std::move(ways);
}

void DecoderStats::set_device(std::string device, std::string error) {
  const std::lock_guard guard(lock_);
  device_ = std::move(device);
  device_error_ = std::move(error);
}

void DecoderStats::set_modifier(std::string modifier) {
  const std::lock_guard guard(lock_);
  modifier_ = std::move(modifier);
}

void DecoderStats::set_stream(const char* codec, std::string profile) {
  const std::lock_guard guard(lock_);
  codec_ = codec;
  profile_ = std::move(profile);
}

void DecoderStats::set_pools(uint64_t surfaces, uint64_t late_surfaces) {
  const std::lock_guard guard(lock_);
  surfaces_ = surfaces;
  late_surfaces_ = late_surfaces;
}

void DecoderStats::reset() {
  const std::lock_guard guard(lock_);
  left_ = {};
  reasons_ = {};
  watch_ = {};
  errors_ = 0;
  unfinished_ = 0;
  in_place_ = 0;
  surfaces_ = 0;
  late_surfaces_ = 0;
  read_back_ = "";
  read_backs_.clear();
  read_back_ways_.clear();
  gpu_copy_ = "";
  gpu_copy_ways_.clear();
  modifier_.clear();
  codec_.clear();
  profile_.clear();
}

StructurePtr DecoderStats::structure() const {
  const std::lock_guard guard(lock_);
  uint64_t frames = 0;
  StructurePtr steps(gst_structure_new_empty("steps"));
  for (size_t i = 0; i < kLeavings; ++i) {
    frames += left_[i];
    gst_structure_set(steps.get(), leaving_name(static_cast<Leaving>(i)), G_TYPE_UINT64,
                      left_[i], nullptr);
  }
  StructurePtr reasons(gst_structure_new_empty("reasons"));
  for (size_t i = 0; i < kReasonCount; ++i)
    if (reasons_[i] > 0)
      gst_structure_set(reasons.get(), reason_name(static_cast<Reason>(i)), G_TYPE_UINT64,
                        reasons_[i], nullptr);
  StructurePtr out(gst_structure_new(
      "dxvadec-stats", "frames", G_TYPE_UINT64, frames, "steps", GST_TYPE_STRUCTURE,
      steps.get(), "reasons", GST_TYPE_STRUCTURE, reasons.get(), "errors", G_TYPE_UINT64,
      errors_, "unfinished", G_TYPE_UINT64, unfinished_, "read-in-place", G_TYPE_UINT64,
      in_place_, "surfaces", G_TYPE_UINT64, surfaces_, "late-surfaces", G_TYPE_UINT64,
      late_surfaces_, "device", G_TYPE_STRING, device_.c_str(), "device-error", G_TYPE_STRING,
      device_error_.c_str(), "modifier", G_TYPE_STRING, modifier_.c_str(), "codec",
      G_TYPE_STRING, codec_.c_str(), "profile", G_TYPE_STRING, profile_.c_str(), nullptr));
  StructurePtr read_backs(gst_structure_new_empty("read-backs"));
  for (const auto& [way, pictures] : read_backs_)
    gst_structure_set(read_backs.get(), way, G_TYPE_UINT64, pictures, nullptr);
  gst_structure_set(out.get(), "read-back", G_TYPE_STRING, read_back_, "read-backs",
                    GST_TYPE_STRUCTURE, read_backs.get(), "gpu-copy", G_TYPE_STRING, gpu_copy_,
                    nullptr);
  add_ways(out.get(), "read-back", read_back_ways_);
  add_ways(out.get(), "gpu-copy", gpu_copy_ways_);
  return out;
}

}  // namespace dxva::gst
