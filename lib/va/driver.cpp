// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/driver.hpp"

#include <fcntl.h>
#include <va/va_drm.h>

#include <cstring>
#include <utility>

#include "lib/base/log.hpp"
#include "lib/va/display.hpp"

namespace dxva::va {
namespace {

int length_without_newline(const char* text) {
  size_t length = std::strlen(text);
  while (length > 0 && text[length - 1] == '\n') --length;
  return static_cast<int>(length);
}

void on_error(void*, const char* text) {
  DXVA_DEBUG(Va, "libva: %.*s", length_without_newline(text), text);
}

void on_info(void*, const char* text) {
  DXVA_LOG(Va, "libva: %.*s", length_without_newline(text), text);
}

void keep_quiet(VADisplay display) {
  vaSetErrorCallback(display, on_error, nullptr);
  vaSetInfoCallback(display, on_info, nullptr);
}

}  // namespace

Result<Driver> Driver::start_on_node(const std::string& render_node) {
  Driver driver;
  driver.fd_ = UniqueFd{::open(render_node.c_str(), O_RDWR | O_CLOEXEC)};
  if (!driver.fd_.valid()) return errno_error("open");
  driver.display_.reset(vaGetDisplayDRM(driver.fd_.get()));
  if (!driver.display_) return Error{.code = ErrorCode::Unsupported, .call = "vaGetDisplayDRM"};
  keep_quiet(driver.get());
  int major = 0;
  int minor = 0;
  if (auto started = check(vaInitialize(driver.get(), &major, &minor), "vaInitialize");
      !started)
    return started.error();
  return driver;
}

Result<Driver> Driver::start_headless(const char* driver_name) {
  Driver driver;
  auto headless = HeadlessDisplay::create(driver_name);
  if (!headless) return headless.error();
  keep_quiet(headless->get());
  if (auto started = headless->initialize(); !started) return started.error();
  driver.headless_ = std::move(*headless);
  return driver;
}

}  // namespace dxva::va
