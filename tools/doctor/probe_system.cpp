// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dlfcn.h>
#include <glib.h>
#include <gst/gst.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "lib/decode/avcodec_decoder.hpp"
#include "lib/drm/device_id.hpp"
#include "tools/doctor/probes.hpp"

namespace dxva::doctor {
namespace {

std::string first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string link_name(const std::filesystem::path& link) {
  std::error_code failed;
  const auto target = std::filesystem::read_symlink(link, failed);
  return failed ? std::string() : target.filename().string();
}

// "libva.so.2.1700.0". libva tells its version to those only who start a driver.
std::string libva_file() {
  Dl_info about{};
  if (::dladdr(::dlsym(RTLD_DEFAULT, "vaInitialize"), &about) == 0 || !about.dli_fname)
    return {};
  std::error_code failed;
  const auto file = std::filesystem::canonical(about.dli_fname, failed);
  return failed ? std::string() : file.filename().string();
}

// The same GPU's node for screens.
std::string primary_of(const std::filesystem::path& device) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(device / "drm", failed))
    if (entry.path().filename().string().starts_with("card"))
      return "/dev/dri/" + entry.path().filename().string();
  return {};
}

// Whether a node may be opened, without opening it: some drivers wake the GPU up.
std::string access_of(const std::string& node) {
  return ::access(node.c_str(), R_OK | W_OK) == 0 ? "" : std::strerror(errno);
}

}  // namespace

Json probe_versions() {
  Json out = Json::object();
  char* gstreamer = gst_version_string();
  out.set("gstreamer", gstreamer);
  g_free(gstreamer);
  out.set("libva", libva_file());
  out.set("libavcodec", decode::avcodec_version_text());
  return out;
}

Json probe_system() {
  Json out = Json::object();
  char* os = g_get_os_info(G_OS_INFO_KEY_PRETTY_NAME);
  out.set("os", os ? os : "");
  g_free(os);
  utsname kernel{};
  if (::uname(&kernel) == 0) {
    out.set("kernel", kernel.release);
    out.set("machine", kernel.machine);
  }
  const Json versions = probe_versions();
  for (const std::string& name : versions.names()) out.set(name.c_str(), versions.at(name));
  out.set("gst-dxva", VERSION);
  return out;
}

Json probe_environment() {
  Json out = Json::object();
  // By prefix: whoever helps over a bug report wants to see the unexpected ones.
  constexpr std::array prefixes = {
      "GST_",    "LIBVA_",          "DXVASOFT_", "MESA_",           "LIBGL_",
      "EGL_",    "__EGL",           "__GLX",     "GALLIUM_",        "DRI_",
      "DISPLAY", "WAYLAND_DISPLAY", "VDPAU_",    "XDG_SESSION_TYPE"};
  char** names = g_listenv();
  for (char** name = names; *name; ++name)
    for (const char* prefix : prefixes)
      if (std::strncmp(*name, prefix, std::strlen(prefix)) == 0) {
        out.set(*name, g_getenv(*name));
        break;
      }
  g_strfreev(names);
  return out;
}

Json probe_drm() {
  Json out = Json::array();
  for (const std::string& node : drm::render_nodes()) {
    const std::string name = std::filesystem::path(node).filename();
    const std::filesystem::path device =
        std::filesystem::path("/sys/class/drm") / name / "device";
    Json one = Json::object();
    one.set("node", node);
    one.set("primary", primary_of(device));
    one.set("driver", link_name(device / "driver"));
    one.set("bus", link_name(device / "subsystem"));
    one.set("address", link_name(device));
    one.set("vendor", first_line(device / "vendor"));
    one.set("device", first_line(device / "device"));
    if (const std::string refused = access_of(node); !refused.empty())
      one.set("error", refused);
    out.add(one);
  }
  return out;
}

}  // namespace dxva::doctor
