// SPDX-License-Identifier: LGPL-2.1-or-later

// Preloaded, it lets GStreamer's own VA elements (libgstva: vah264dec …) run on dxvasoft where
// the machine has no DRM node. They look for one through GUdev, open it, ask libdrm what it is
// and libva for a display on it; each of these questions has an answer here, and the display is
// lib/va/headless_display's. For tests and benchmarks only: nothing installs or links it.
//
//   LD_PRELOAD=build/tests/check/support/libgstva_shim.so GST_REGISTRY=/tmp/gstva.registry
//       GST_VA_ALL_DRIVERS=1 gst-launch-1.0 … ! h264parse ! vah264dec ! …
//
// GST_REGISTRY must be a file that only runs with this library use: which elements there are is
// kept in it, and GStreamer sees no reason to look again. GST_VA_ALL_DRIVERS: libgstva refuses
// drivers whose names it does not know.

// With it "open" is another name for open64, and this file defines both.
#undef _FILE_OFFSET_BITS

#include <dlfcn.h>
#include <fcntl.h>
#include <glib-object.h>
#include <va/va.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/va/headless_display.hpp"

namespace {

// libgstva takes names that begin with renderD. Nobody has a node of this name, so that a real
// one beside it stays what it is.
constexpr char kName[] = "renderDxvasoft";
constexpr char kNode[] = "/dev/dri/renderDxvasoft";

// Libraries that come along with plugins are not in the scope of RTLD_NEXT.
template <typename Function>
Function in_library(const char* library, const char* name) {
  void* handle = ::dlopen(library, RTLD_LAZY);
  return handle ? reinterpret_cast<Function>(::dlsym(handle, name)) : nullptr;
}

// The one device. Whoever asked for it owns a reference of his; one stays here, so that its
// address is never another object's.
GObject* device() {
  static GObject* const only = G_OBJECT(g_object_new(G_TYPE_OBJECT, nullptr));
  return only;
}

using Open = int (*)(const char*, int, ...);

int open_node_or(const char* name, const char* path, int flags, mode_t mode) {
  static constexpr char kNothing[] = "/dev/null";
  const bool node = path && std::string_view(path) == kNode;
  const auto real = reinterpret_cast<Open>(::dlsym(RTLD_NEXT, name));
  return real(node ? kNothing : path, flags, mode);
}

mode_t mode_of(int flags, va_list arguments) {
  return flags & (O_CREAT | O_TMPFILE) ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

// libdrm's struct, as far as anybody here reads it; drmFreeVersion frees it and its three
// texts.
struct DrmVersion {
  int version_major;
  int version_minor;
  int version_patchlevel;
  int name_len;
  char* name;
  int date_len;
  char* date;
  int desc_len;
  char* desc;
};

}  // namespace

// What the dynamic linker shall find here first.
#pragma GCC visibility push(default)
extern "C" {

GList* g_udev_client_query_by_subsystem(void* client, const char* subsystem) {
  if (subsystem && std::string_view(subsystem) == "drm")
    return g_list_prepend(nullptr, g_object_ref(device()));
  static const auto real = in_library<GList* (*)(void*, const char*)>(
      "libgudev-1.0.so.0", "g_udev_client_query_by_subsystem");
  return real ? real(client, subsystem) : nullptr;
}

const char* g_udev_device_get_name(void* asked) {
  if (asked == device()) return kName;
  static const auto real =
      in_library<const char* (*)(void*)>("libgudev-1.0.so.0", "g_udev_device_get_name");
  return real ? real(asked) : nullptr;
}

const char* g_udev_device_get_device_file(void* asked) {
  if (asked == device()) return kNode;
  static const auto real =
      in_library<const char* (*)(void*)>("libgudev-1.0.so.0", "g_udev_device_get_device_file");
  return real ? real(asked) : nullptr;
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_node_or("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_node_or("open64", path, flags, mode);
}

// Whatever is asked about: programs that talk to another device have no use for this library.
DrmVersion* drmGetVersion(int) {
  auto* version = static_cast<DrmVersion*>(std::calloc(1, sizeof(DrmVersion)));
  const std::string_view name = "dxvasoft";
  version->version_major = 1;
  version->name = ::strdup(name.data());
  version->name_len = static_cast<int>(name.size());
  version->date = ::strdup("");
  version->desc = ::strdup("");
  return version;
}

VADisplay vaGetDisplayDRM(int) {
  auto display = dxva::va::HeadlessDisplay::create("dxvasoft");
  if (!display) return nullptr;
  // libgstva ends it by vaTerminate and knows no owner beside. What is left is one struct for
  // each, to the end of the process and not past it: destructors would terminate a second time.
  static std::mutex mutex;
  static auto& given_away = *new std::vector<dxva::va::HeadlessDisplay>;
  const std::lock_guard lock(mutex);
  return given_away.emplace_back(std::move(*display)).get();
}

}  // extern "C"
#pragma GCC visibility pop
