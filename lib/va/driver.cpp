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

// `words`: null, or where to put the first of them. What fails first is why the rest does.
void on_error(void* words, const char* text) {
  const int length = length_without_newline(text);
  DXVA_DEBUG(Va, "libva: %.*s", length, text);
  auto* first = static_cast<std::string*>(words);
  if (first && first->empty()) first->assign(text, static_cast<size_t>(length));
}

void on_info(void*, const char* text) {
  DXVA_LOG(Va, "libva: %.*s", length_without_newline(text), text);
}

// Runs `start` without a word on the terminal. vaInitialize itself can only say that it failed;
// why, libva and the driver say on the way.
template <typename Start>
Status start_quietly(VADisplay display, Start start) {
  std::string words;
  vaSetErrorCallback(display, on_error, &words);
  vaSetInfoCallback(display, on_info, nullptr);
  Status started = start();
  vaSetErrorCallback(display, on_error, nullptr);
  if (!started && !words.empty()) started.error().text += ": " + words;
  return started;
}

}  // namespace

Result<Driver> Driver::start_on_node(const std::string& render_node) {
  Driver driver;
  driver.fd_ = UniqueFd{::open(render_node.c_str(), O_RDWR | O_CLOEXEC)};
  if (!driver.fd_.valid()) return errno_error("open");
  driver.display_.reset(vaGetDisplayDRM(driver.fd_.get()));
  if (!driver.display_) return Error{.code = ErrorCode::Unsupported, .call = "vaGetDisplayDRM"};
  int major = 0;
  int minor = 0;
  if (auto started = start_quietly(
          driver.get(),
          [&] { return check(vaInitialize(driver.get(), &major, &minor), "vaInitialize"); });
      !started)
    return started.error();
  return driver;
}

Result<Driver> Driver::start_headless(const char* driver_name) {
  Driver driver;
  auto headless = HeadlessDisplay::create(driver_name);
  if (!headless) return headless.error();
  if (auto started = start_quietly(headless->get(), [&] { return headless->initialize(); });
      !started)
    return started.error();
  driver.headless_ = std::move(*headless);
  return driver;
}

}  // namespace dxva::va
