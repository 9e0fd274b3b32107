// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/drm/gpu_match.hpp"

#include <algorithm>
#include <array>

#include "lib/base/translation.hpp"

namespace dxva::drm {
namespace {

// What libva itself would load for a kernel driver, and what people load instead.
struct Drivers {
  std::string_view kernel;
  std::array<std::string_view, 2> va;
};
constexpr std::array kDrivers = {
    Drivers{"i915", {"iHD", "i965"}},          Drivers{"xe", {"iHD", ""}},
    Drivers{"amdgpu", {"radeonsi", ""}},       Drivers{"radeon", {"r600", "radeonsi"}},
    Drivers{"nouveau", {"nouveau", ""}},       Drivers{"nvidia", {"nvidia", ""}},
    Drivers{"virtio_gpu", {"virtio_gpu", ""}},
};
// Needs no GPU, so it runs on the node of any.
constexpr std::string_view kSoftware = "dxvasoft";

std::string name_of(const Device& device) {
  std::string out = device.render_node.empty()
                        ? "DRM device " + std::to_string(device.id.major) + ":" +
                              std::to_string(device.id.minor)
                        : device.render_node;
  if (!device.driver.empty()) out += " (" + device.driver + ")";
  return out;
}

}  // namespace

std::vector<std::string> order_of_trial(std::vector<std::string> render_nodes,
                                        const std::string& preferred) {
  if (preferred.empty()) return render_nodes;
  std::erase(render_nodes, preferred);
  render_nodes.insert(render_nodes.begin(), preferred);
  return render_nodes;
}

bool crosses_gpus(const Placement& placement) {
  return placement.renderer && placement.renderer->id != placement.decoder.id;
}

std::string driver_contradiction(const Device& device, std::string_view va_driver) {
  if (va_driver.empty() || va_driver == kSoftware) return {};
  const auto* known = std::find_if(kDrivers.begin(), kDrivers.end(), [&](const Drivers& entry) {
    return entry.kernel == device.driver;
  });
  if (known == kDrivers.end() || va_driver == known->va[0] || va_driver == known->va[1])
    return {};
  return fill(_("LIBVA_DRIVER_NAME=%s is not the driver of %s, which is %s: unset it."),
              std::string(va_driver), name_of(device), std::string(known->va[0]));
}

std::string describe_mismatch(const Placement& placement) {
  if (!crosses_gpus(placement)) return {};
  std::string out = fill(_("Pictures are decoded on %s and drawn on %s: they cross as linear "
                           "memory, or as copies."),
                         name_of(placement.decoder), name_of(*placement.renderer)) +
                    " ";
  switch (placement.cause) {
    case Cause::Asked:
      out += fill(_("%s says so; device=auto takes OpenGL's GPU."),
                  std::string(placement.asked_by));
      break;
    case Cause::NoDriver:
      out += _("No VA-API driver decodes on OpenGL's GPU.");
      break;
    case Cause::Late:
      out += fill(_("OpenGL's GPU was not known when decoding began; device=%s takes it."),
                  placement.renderer->render_node);
      break;
  }
  if (const std::string more = driver_contradiction(*placement.renderer, placement.va_driver);
      !more.empty())
    out += " " + more;
  return out;
}

}  // namespace dxva::drm
