// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "gst/common/gst_ptr.hpp"
#include "lib/base/fastest.hpp"
#include "lib/base/path.hpp"
#include "lib/base/step_watch.hpp"

namespace dxva::gst {

// How a picture left the decoder, best first. The uploader knows which way an exported one went
// on.
enum class Leaving { Exported, GpuCopy, CpuCopy, Software };
[[nodiscard]] const char* leaving_name(Leaving leaving);

// What the `stats` property tells, and the message at each change. Thread-safe.
class DecoderStats {
 public:
  // A picture went downstream. A message when that changed the stream's way.
  [[nodiscard]] GstPtr<GstMessage> count(GstElement* element, Leaving leaving, Reason reason);
  // One that left a way which is being measured: no news of the stream's way.
  void count_turn(Leaving leaving, Reason reason);
  void count_error();
  // A picture left while the device was still writing it.
  void count_unfinished();
  // One of `cpu-copy` left where it was, mapped, for downstream to read.
  void count_in_place();
  // One that the CPU copied, and how it was read (va::SurfaceMapping). True: the last one was
  // read in another way.
  bool count_read_back(const char* way);
  void set_read_back_ways(std::vector<NamedStanding> ways);
  // How the device copies, empty: not; and how it stands against the CPU.
  void set_gpu_copy(const char* way, std::vector<NamedStanding> ways);
  // `error`: why there is none; empty: there is one.
  void set_device(std::string device, std::string error);
  // How the surfaces are laid out, as modifier_text() says it.
  void set_modifier(std::string modifier);
  void set_stream(const char* codec, std::string profile);
  void set_pools(uint64_t surfaces, uint64_t late_surfaces);
  // Zeroes the counters, for a new start.
  void reset();

  // Field for field what docs/plugins/dxvadec.md says.
  [[nodiscard]] StructurePtr structure() const;

 private:
  static constexpr size_t kLeavings = 4;

  mutable std::mutex lock_;
  std::array<uint64_t, kLeavings> left_{};
  std::array<uint64_t, kReasonCount> reasons_{};
  StepWatch<Leaving> watch_;
  uint64_t errors_ = 0;
  uint64_t unfinished_ = 0;
  uint64_t in_place_ = 0;
  uint64_t surfaces_ = 0;
  uint64_t late_surfaces_ = 0;
  // Names live for ever.
  const char* read_back_ = "";
  std::map<const char*, uint64_t> read_backs_;
  std::vector<NamedStanding> read_back_ways_;
  const char* gpu_copy_ = "";
  std::vector<NamedStanding> gpu_copy_ways_;
  std::string device_;
  std::string device_error_;
  std::string modifier_;
  std::string codec_;
  std::string profile_;
};

}  // namespace dxva::gst
