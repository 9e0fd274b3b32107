// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdarg>

namespace dxva::log {

// Same meaning as GStreamer's levels: ERROR this stream ends, WARNING worse than asked for,
// INFO a choice made once with its reason, DEBUG state changes, LOG per frame, TRACE per call.
enum class Level { Error, Warning, Info, Debug, Log, Trace };

enum class Area { Base, Session, Va, Cuda, Dmabuf, Decode, Gl, Softva };
[[nodiscard]] const char* area_name(Area area);  // "dxva-va", …

// Receives every message whose level `enabled` accepts. Both are called from any thread and
// must not throw.
struct Sink {
  bool (*enabled)(Area area, Level level);
  void (*write)(Area area, Level level, const char* file, int line, const char* text);
};

// lib/ knows no logging library: the plugin plugs GStreamer's in. Without a sink nothing is
// written. `sink` must outlive every call; set it before any thread logs.
void set_sink(const Sink* sink);
[[nodiscard]] bool enabled(Area area, Level level);
[[gnu::format(printf, 5, 6)]] void write(Area area, Level level, const char* file, int line,
                                         const char* format, ...);

}  // namespace dxva::log

#define DXVA_LOG_AT(area, level, ...)                                       \
  do {                                                                      \
    if (::dxva::log::enabled((area), (level)))                              \
      ::dxva::log::write((area), (level), __FILE__, __LINE__, __VA_ARGS__); \
  } while (0)
#define DXVA_ERROR(area, ...) \
  DXVA_LOG_AT(::dxva::log::Area::area, ::dxva::log::Level::Error, __VA_ARGS__)
#define DXVA_WARNING(area, ...) \
  DXVA_LOG_AT(::dxva::log::Area::area, ::dxva::log::Level::Warning, __VA_ARGS__)
#define DXVA_INFO(area, ...) \
  DXVA_LOG_AT(::dxva::log::Area::area, ::dxva::log::Level::Info, __VA_ARGS__)
#define DXVA_DEBUG(area, ...) \
  DXVA_LOG_AT(::dxva::log::Area::area, ::dxva::log::Level::Debug, __VA_ARGS__)
#define DXVA_LOG(area, ...) \
  DXVA_LOG_AT(::dxva::log::Area::area, ::dxva::log::Level::Log, __VA_ARGS__)
#define DXVA_TRACE(area, ...) \
  DXVA_LOG_AT(::dxva::log::Area::area, ::dxva::log::Level::Trace, __VA_ARGS__)
