// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/drm/device_advice.hpp"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "lib/base/translation.hpp"

namespace dxva::drm {
namespace {

std::string group_of(const struct stat& node) {
  // Not getgrgid(): other threads may be starting decoders as well.
  std::array<char, 4096> buffer;
  group entry{};
  group* found = nullptr;
  if (::getgrgid_r(node.st_gid, &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
    return std::to_string(node.st_gid);
  return found->gr_name;
}

std::string choice_of(const Roots& roots) {
  std::string nodes;
  for (const std::string& node : render_nodes(roots)) nodes += node + ", ";
  if (nodes.empty())
    return _(
        "This machine has no GPU's node in /dev/dri: name no device, or software, the "
        "bundled driver.");
  nodes.resize(nodes.size() - 2);
  return fill(_("Name one of %s, or no device: dxvadec finds one by itself."), nodes);
}

std::string node_advice(const std::string& path, const Roots& roots) {
  struct stat node {};
  if (::stat(path.c_str(), &node) != 0 || !device_of_path(path, roots)) return choice_of(roots);
  if (::access(path.c_str(), R_OK | W_OK) != 0)
    return fill(
        _("It belongs to the group %s: add yourself to it (usermod -aG %s USER), and log "
          "in again."),
        group_of(node), group_of(node));
  return {};
}

}  // namespace

std::string bundled_driver_setting(const std::string& error) {
  const size_t begin = error.find("DXVASOFT_");
  if (begin == std::string::npos) return {};
  // Mistyped names too.
  constexpr const char* kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  return error.substr(begin, error.find_first_not_of(kLetters, begin) - begin);
}

std::string device_advice(const std::string& device, const std::string& error,
                          const Roots& roots) {
  if (const std::string setting = bundled_driver_setting(error); !setting.empty())
    return fill(_("The bundled driver does not understand %s: correct its name or its value, "
                  "or unset it."),
                setting);
  // Its own words (lib/softva/entry.cpp), so it is there.
  if (error.find("dxvasoft: ") != std::string::npos)
    return _(
        "The bundled driver was found and refuses; the variables DXVASOFT_ that are set are "
        "the "
        "first to look at.");
  if (device == "software")
    return _(
        "Install the package dxva-softva-driver, or name the folder of "
        "dxvasoft_drv_video.so in LIBVA_DRIVERS_PATH.");
  if (device == "cuda" || device.starts_with("cuda:"))
    return _(
        "NVDEC needs NVIDIA's driver with libcuda.so.1 and libnvcuvid.so.1, and cuda:N is "
        "the N-th of its GPUs, from 0; name no device, and dxvadec finds one by itself.");
  if (device.empty() || device == "auto") return {};
  return node_advice(device, roots);
}

}  // namespace dxva::drm
