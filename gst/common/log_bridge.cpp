// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/log_bridge.hpp"

#include <gst/gst.h>

#include <array>

#include "lib/base/log.hpp"

namespace dxva::gst {
namespace {

constexpr size_t kAreas = static_cast<size_t>(log::Area::Softva) + 1;
std::array<GstDebugCategory*, kAreas> categories;

GstDebugCategory* category_of(log::Area area) {
  return categories[static_cast<size_t>(area)];
}

GstDebugLevel level_of(log::Level level) {
  switch (level) {
    using enum log::Level;
    case Error:
      return GST_LEVEL_ERROR;
    case Warning:
      return GST_LEVEL_WARNING;
    case Info:
      return GST_LEVEL_INFO;
    case Debug:
      return GST_LEVEL_DEBUG;
    case Log:
      return GST_LEVEL_LOG;
    case Trace:
      return GST_LEVEL_TRACE;
  }
  return GST_LEVEL_ERROR;
}

bool is_enabled(log::Area area, log::Level level) {
  return level_of(level) <= gst_debug_category_get_threshold(category_of(area));
}

void write(log::Area area, log::Level level, const char* file, int line, const char* text) {
  gst_debug_log(category_of(area), level_of(level), file, "", line, nullptr, "%s", text);
}

}  // namespace

void install_log_bridge() {
  static const log::Sink sink{.enabled = is_enabled, .write = write};
  for (size_t i = 0; i < kAreas; ++i)
    categories[i] = _gst_debug_category_new(log::area_name(static_cast<log::Area>(i)), 0,
                                            "gst-dxva library");
  log::set_sink(&sink);
}

}  // namespace dxva::gst
