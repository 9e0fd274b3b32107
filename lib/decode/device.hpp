// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <string>

#include "lib/cuda/device.hpp"
#include "lib/va/display.hpp"

namespace dxva::decode {

// What decodes in hardware: one of the two, or neither. Shared by everybody who holds pictures
// of it.
struct Device {
  std::shared_ptr<va::Display> va;
  std::shared_ptr<cuda::Device> cuda;

  explicit operator bool() const { return va || cuda; }
  friend bool operator==(const Device&, const Device&) = default;

  // "vendor (node)"; "none".
  [[nodiscard]] std::string name() const {
    if (va) return va->vendor() + " (" + va->node() + ")";
    if (cuda) return cuda->name() + " (" + cuda->id() + ")";
    return "none";
  }
  // It answers nothing any more.
  [[nodiscard]] bool is_lost() const { return va ? va->is_lost() : cuda && cuda->is_lost(); }
};

}  // namespace dxva::decode
