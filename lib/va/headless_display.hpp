// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A VADisplay without a GPU, an X server or a Wayland compositor, for drivers that need none of
// them (dxvasoft). vaGetDisplayDRM refuses everything but a DRM node, and libva has no other
// window-system-free door; but a VADisplay is a struct of callbacks that va_backend.h declares,
// so this file fills one in. The struct is only half public: nobody else may touch it, and
// tests check it against the libva in use.

#include <va/va.h>

#include <memory>

#include "lib/base/result.hpp"

namespace dxva::va {

// Owns the display; the destructor terminates it, so whatever lives on it must be gone by then.
// libva searches LIBVA_DRIVERS_PATH, or its own folder, for `<driver name>_drv_video.so`; the
// name given here wins over LIBVA_DRIVER_NAME. libva stays silent unless vaSetErrorCallback or
// vaSetInfoCallback is called on get() before initialize().
// Thread rules: reentrant; get() is as thread-safe as the driver once initialize() has
// returned.
class HeadlessDisplay {
 public:
  // Makes the display but loads no driver yet.
  [[nodiscard]] static Result<HeadlessDisplay> create(const char* driver_name);

  HeadlessDisplay(HeadlessDisplay&&) noexcept;
  HeadlessDisplay& operator=(HeadlessDisplay&&) noexcept;
  ~HeadlessDisplay();

  // vaInitialize. After an error the display can only be destroyed.
  [[nodiscard]] Status initialize();
  [[nodiscard]] VADisplay get() const;

 private:
  struct State;
  explicit HeadlessDisplay(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// The usual case in one call: created and initialised.
[[nodiscard]] Result<HeadlessDisplay> make_headless_display(const char* driver_name);

}  // namespace dxva::va
