// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/drm/device_id.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace dxva::drm {
namespace {

// N of "renderDN".
std::optional<uint32_t> render_number(std::string_view name) {
  constexpr std::string_view prefix = "renderD";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// Nothing when the folder does not exist; sorted.
std::optional<std::vector<uint32_t>> render_numbers(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  if (!dir) return std::nullopt;
  std::vector<uint32_t> numbers;
  while (const dirent* entry = ::readdir(dir.get()))
    if (const auto number = render_number(entry->d_name)) numbers.push_back(*number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string node_name(uint32_t number) {
  return "renderD" + std::to_string(number);
}

// The "dev" file of a sysfs folder: "226:128\n".
std::optional<DeviceId> read_number(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             std::fclose);
  DeviceId id;
  if (!file || std::fscanf(file.get(), "%u:%u", &id.major, &id.minor) != 2) return std::nullopt;
  return id;
}

// Where the kernel names the driver: a link to its folder.
std::string linked_name(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  if (length <= 0) return {};
  const std::string_view whole(target, static_cast<size_t>(length));
  return std::string(whole.substr(whole.rfind('/') + 1));
}

Error not_drm(const std::string& what) {
  return Error{.code = ErrorCode::Unsupported,
               .text = what + " is no DRM device",
               .reason = Reason::NoDevice};
}

Result<Device> device_of_stat(const struct stat& node, const std::string& name,
                              const Roots& roots) {
  if (!S_ISCHR(node.st_mode)) return not_drm(name);
  return device_of_number(major(node.st_rdev), minor(node.st_rdev), roots);
}

}  // namespace

Result<Device> device_of_number(uint32_t major, uint32_t minor, const Roots& roots) {
  const std::string number = std::to_string(major) + ":" + std::to_string(minor);
  // All nodes of one GPU point to one device here, and only DRM devices have this folder
  // (libdrm's drmNodeIsDRM looks at it too).
  const std::string gpu = roots.sys + "/dev/char/" + number + "/device";
  const std::string nodes = gpu + "/drm";
  const auto renderers = render_numbers(nodes);
  if (!renderers) return not_drm("node " + number);

  Device device{.id = {.major = major, .minor = minor}, .driver = linked_name(gpu + "/driver")};
  if (renderers->empty()) return device;
  const std::string name = node_name(renderers->front());
  if (const auto id = read_number(nodes + "/" + name + "/dev")) device.id = *id;
  // A container may have been given the card and not the renderer.
  const std::string path = roots.dri + "/" + name;
  struct stat node {};
  if (::stat(path.c_str(), &node) == 0) device.render_node = path;
  return device;
}

Result<Device> device_of_fd(int fd, const Roots& roots) {
  struct stat node {};
  if (::fstat(fd, &node) != 0) return errno_error("fstat");
  return device_of_stat(node, "descriptor " + std::to_string(fd), roots);
}

Result<Device> device_of_path(const std::string& path, const Roots& roots) {
  struct stat node {};
  if (::stat(path.c_str(), &node) != 0) {
    Error error = errno_error("stat");
    error.text = path + ": " + error.text;
    error.reason = Reason::NoDevice;
    return error;
  }
  return device_of_stat(node, path, roots);
}

std::vector<std::string> render_nodes(const Roots& roots) {
  std::vector<std::string> paths;
  if (const auto numbers = render_numbers(roots.dri))
    for (uint32_t number : *numbers) paths.push_back(roots.dri + "/" + node_name(number));
  return paths;
}

}  // namespace dxva::drm
