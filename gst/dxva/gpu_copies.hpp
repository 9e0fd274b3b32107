// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gst/dxva/modifier_choice.hpp"
#include "gst/dxva/surface_look.hpp"
#include "lib/decode/bitstream_decoder.hpp"
#include "lib/va/vpp.hpp"

namespace dxva::gst {

// Whether a surface is refused for a layout that another surface of the same picture need not
// have: then a copy by the device helps.
[[nodiscard]] bool is_about_layout(Reason reason);

// Pictures copied by the device into surfaces that downstream can read. The surfaces are made
// when the first copy is. Reentrant; interrupt() from any thread.
class GpuCopies {
 public:
  struct Copied {
    decode::DecodedFrame picture;  // as decoded, but on a surface of ours
    SurfaceLook look;              // at it; refuses nothing
  };
  struct Wanted {
    const ModifiersTaken& taken;
    video::LayoutRule rule = video::LayoutRule::Any;
    uint32_t surfaces = 0;  // downstream may have so many
  };
  // Of a picture whose surface is written. Nothing: not this time, or never (is_off()).
  [[nodiscard]] std::optional<Copied> make(const decode::DecodedFrame& picture,
                                           const Wanted& wanted);
  // Of the copies. Null: there is none yet.
  [[nodiscard]] surface::Pool* pool() const { return copier_ ? &copier_->pool() : nullptr; }
  // The device cannot copy, or not into such a layout. Until the pictures are others.
  [[nodiscard]] bool is_off() const { return refused_.has_value(); }
  // How the device copies: SurfaceCopier::way_name(). Empty: not, or not yet.
  [[nodiscard]] const char* way_name() const { return copier_ ? copier_->way_name() : ""; }
  // What was given up: ways of copying, "surfaces" (none for copies could be made), "layout"
  // (they are not as downstream wants them).
  [[nodiscard]] const std::vector<va::DroppedWay>& dropped() const {
    return copier_ ? copier_->dropped() : dropped_;
  }
  void interrupt(bool on);
  void reset();

 private:
  [[nodiscard]] bool open(const decode::DecodedFrame& picture, const Wanted& wanted);
  void turn_off(std::optional<va::DroppedWay> why = std::nullopt);

  std::vector<va::DroppedWay> dropped_;             // when it was turned off
  std::optional<va::SurfaceCopier::Config> asked_;  // what copier_ was made for
  std::optional<va::SurfaceCopier::Config> refused_;

  std::mutex lock_;  // of the pointer: only the streaming thread writes it
  std::unique_ptr<va::SurfaceCopier> copier_;
  bool interrupted_ = false;
};

}  // namespace dxva::gst
