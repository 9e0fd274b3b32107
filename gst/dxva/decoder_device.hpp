// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "gst/common/gst_ptr.hpp"
#include "gst/dxva/settings.hpp"
#include "lib/decode/device.hpp"
#include "lib/drm/gpu_match.hpp"

namespace dxva::gst {

// Which device a decoder decodes on, and whose it is: one that a neighbour or the application
// gave, OpenGL's, or the first. docs/design/devices.md says in which order and why.
//
// NULL→READY comes before there is a GL context as a rule, and before a decoder that playbin
// plugs in is linked to anything. So where the machine has several GPUs and it is not known yet
// which one draws, the choice waits for the first caps: two devices are never opened for one.
//
// Thread rules: open(), settle() and close() come while no data flows, or from the streaming
// thread, like look_for_renderer(); answer() from any thread.
class DecoderDevice {
 public:
  explicit DecoderDevice(GstElement& element) : element_(element) {}

  // The device, or why there is none. Done without a device(): it waits for settle().
  [[nodiscard]] Status open(const Settings& settings);
  // Before a decoder is made, the last moment to choose. The same answer; Done without a
  // device only when open() had none either. A device that was lost is replaced by a new start
  // of the driver.
  [[nodiscard]] Status settle();
  void close();

  // Nothing: none, or none yet.
  [[nodiscard]] decode::Device device() const;
  [[nodiscard]] bool is_postponed() const { return postponed_; }

  // Asks downstream which GPU draws, where that can matter, and says once on the bus when it is
  // another one.
  void look_for_renderer();
  // Pictures go from one GPU to another: only linear memory can.
  [[nodiscard]] bool crosses_gpus() const;

  // A neighbour that asks for our VADisplay. False: not ours to answer.
  [[nodiscard]] bool answer(GstQuery* query) const;

 private:
  [[nodiscard]] Status start();
  [[nodiscard]] Status start_anew();
  [[nodiscard]] Result<decode::Device> choose();
  [[nodiscard]] Result<decode::Device> choose_cuda();
  [[nodiscard]] bool may_choose() const;
  [[nodiscard]] bool may_be_several() const;
  [[nodiscard]] bool is_elsewhere(const va::Display& display) const;
  [[nodiscard]] std::shared_ptr<va::Display> given_display() const;
  [[nodiscard]] bool fits(const va::Display& display) const;
  void use(decode::Device device);
  void find_renderer();
  void ask_for_renderer();
  void report();

  GstElement& element_;
  std::string wish_;  // the property
  va::DeviceChoice choice_;
  std::optional<cuda::DeviceChoice> cuda_choice_;  // NVDEC was asked for, and nothing else
  bool several_gpus_ = false;
  bool postponed_ = false;
  // GL's, and whether that is known: it may have none.
  bool renderer_known_ = false;
  std::optional<DeviceUuids::Uuid> renderer_uuid_;
  drm::Placement placement_;
  std::string asked_by_, va_driver_;
  bool has_device_ = false;  // placement_.decoder is one
  bool reported_ = false;

  mutable std::mutex lock_;
  decode::Device device_;
  GstPtr<GstContext> shared_;  // what neighbours get
};

}  // namespace dxva::gst
