// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Which GPU a DRM node belongs to. One GPU has several nodes (card0, renderD128), one node
// several paths (links under by-path), one path many descriptors: all of them lead to one
// DeviceId, the key under which a process keeps one VADisplay per GPU. Asks sysfs only; opens
// no node, so no driver is woken up.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/result.hpp"

namespace dxva::drm {

// Device number of the GPU's render node, or of the node asked for where it has none (a display
// controller without rendering).
struct DeviceId {
  uint32_t major = 0;
  uint32_t minor = 0;

  friend bool operator==(const DeviceId&, const DeviceId&) = default;
  friend auto operator<=>(const DeviceId&, const DeviceId&) = default;
};

struct Device {
  DeviceId id;
  std::string render_node;  // "/dev/dri/renderD128"; empty when there is none
  std::string driver;       // the kernel's, "amdgpu"; empty when it does not tell (vgem)
};

// Where to look; tests have a tree of their own.
struct Roots {
  std::string sys = "/sys";
  std::string dri = "/dev/dri";
};

// Unsupported: no DRM device. `path` may be a link.
[[nodiscard]] Result<Device> device_of_fd(int fd, const Roots& roots = {});
[[nodiscard]] Result<Device> device_of_path(const std::string& path, const Roots& roots = {});
[[nodiscard]] Result<Device> device_of_number(uint32_t major, uint32_t minor,
                                              const Roots& roots = {});

// Paths of all render nodes, lowest number first.
[[nodiscard]] std::vector<std::string> render_nodes(const Roots& roots = {});

}  // namespace dxva::drm
