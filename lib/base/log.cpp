// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/log.hpp"

#include <atomic>
#include <cstdio>

namespace dxva::log {
namespace {
std::atomic<const Sink*> current_sink{nullptr};
}  // namespace

const char* area_name(Area area) {
  switch (area) {
    case Area::Base:
      return "dxva-base";
    case Area::Session:
      return "dxva-session";
    case Area::Va:
      return "dxva-va";
    case Area::Cuda:
      return "dxva-cuda";
    case Area::Dmabuf:
      return "dxva-dmabuf";
    case Area::Decode:
      return "dxva-decode";
    case Area::Gl:
      return "dxva-gl";
    case Area::Softva:
      return "dxva-softva";
  }
  return "dxva";
}

void set_sink(const Sink* sink) {
  current_sink.store(sink, std::memory_order_release);
}

bool enabled(Area area, Level level) {
  const Sink* sink = current_sink.load(std::memory_order_acquire);
  return sink && sink->enabled(area, level);
}

void write(Area area, Level level, const char* file, int line, const char* format, ...) {
  const Sink* sink = current_sink.load(std::memory_order_acquire);
  if (!sink) return;
  char text[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  sink->write(area, level, file, line, text);
}

}  // namespace dxva::log
