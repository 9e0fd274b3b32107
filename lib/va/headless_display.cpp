// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/headless_display.hpp"

#include <va/va_backend.h>
#include <va/va_drmcommon.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace dxva::va {

struct HeadlessDisplay::State {
  // First: callbacks get a pointer to it and find the rest from there.
  VADisplayContext display{};
  VADriverContext driver{};
  struct drm_state drm {};
};

namespace {

// libva 2.20 asks with this instead of vaGetNumCandidates and vaGetDriverNameByIndex. It took
// the first reserved word of the struct, so an older header has the place but not the name.
using GetDriverNames = VAStatus (*)(VADisplayContextP display, char** names, unsigned* count);
constexpr size_t kDriverNamesOffset =
    offsetof(VADisplayContext, vaGetDriverNameByIndex) + sizeof(void*);
static_assert(kDriverNamesOffset + sizeof(GetDriverNames) <= sizeof(VADisplayContext));

// libva frees the names it gets.
VAStatus copy_name(VADisplayContextP display, char** name) {
  const char* wanted = display->pDriverContext->override_driver_name;
  *name = ::strdup(wanted ? wanted : "");
  return *name ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_ALLOCATION_FAILED;
}

int is_valid(VADisplayContextP display) {
  return display && display->pDriverContext ? 1 : 0;
}

// vaTerminate ends with this; the memory goes with its owner, which may look at it once more.
void destroy(VADisplayContextP) {}

VAStatus driver_name(VADisplayContextP display, char** name) {
  return copy_name(display, name);
}

VAStatus candidate_count(VADisplayContextP, int* count) {
  *count = 1;
  return VA_STATUS_SUCCESS;
}

VAStatus name_by_index(VADisplayContextP display, char** name, int index) {
  if (index != 0) return VA_STATUS_ERROR_INVALID_PARAMETER;
  return copy_name(display, name);
}

VAStatus driver_names(VADisplayContextP display, char** names, unsigned* count) {
  if (*count == 0) return VA_STATUS_ERROR_INVALID_PARAMETER;
  const VAStatus status = copy_name(display, &names[0]);
  *count = status == VA_STATUS_SUCCESS ? 1 : 0;
  return status;
}

// What libva does in displays of its own making: a driver's words go where the display's go.
void tell_error(VADriverContextP driver, const char* text) {
  auto* display = static_cast<VADisplayContextP>(driver->pDisplayContext);
  if (display->error_callback)
    display->error_callback(display->error_callback_user_context, text);
}

void tell_info(VADriverContextP driver, const char* text) {
  auto* display = static_cast<VADisplayContextP>(driver->pDisplayContext);
  if (display->info_callback) display->info_callback(display->info_callback_user_context, text);
}

Error va_error(const char* call, VAStatus status) {
  return Error{.code = ErrorCode::Unsupported,
               .call = call,
               .native = status,
               .text = vaErrorStr(status)};
}

}  // namespace

HeadlessDisplay::HeadlessDisplay(std::unique_ptr<State> state) : state_(std::move(state)) {}
HeadlessDisplay::HeadlessDisplay(HeadlessDisplay&&) noexcept = default;

HeadlessDisplay& HeadlessDisplay::operator=(HeadlessDisplay&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

HeadlessDisplay::~HeadlessDisplay() {
  // Also right when no driver was loaded: libva then only frees what it had begun.
  if (state_) vaTerminate(get());
}

Result<HeadlessDisplay> HeadlessDisplay::create(const char* name) {
  auto state = std::make_unique<State>();

  state->drm.fd = -1;
  state->driver.display_type = VA_DISPLAY_DRM_RENDERNODES;
  state->driver.drm_state = &state->drm;
  state->driver.pDisplayContext = &state->display;
  state->driver.error_callback = tell_error;
  state->driver.info_callback = tell_info;

  state->display.vadpy_magic = VA_DISPLAY_MAGIC;
  state->display.pDriverContext = &state->driver;
  state->display.vaIsValid = is_valid;
  state->display.vaDestroy = destroy;
  state->display.vaGetDriverName = driver_name;
  state->display.vaGetNumCandidates = candidate_count;
  state->display.vaGetDriverNameByIndex = name_by_index;
  const GetDriverNames names = driver_names;
  std::memcpy(reinterpret_cast<char*>(&state->display) + kDriverNamesOffset, &names,
              sizeof names);

  HeadlessDisplay display(std::move(state));
  if (!vaDisplayIsValid(display.get()))
    return va_error("vaDisplayIsValid", VA_STATUS_ERROR_INVALID_DISPLAY);
  // libva keeps a copy and looks at it before the environment and before our callbacks.
  std::string copy = name ? name : "";
  if (copy.empty()) return Error{.code = ErrorCode::BadInput, .call = "vaSetDriverName"};
  if (const VAStatus status = vaSetDriverName(display.get(), copy.data());
      status != VA_STATUS_SUCCESS)
    return va_error("vaSetDriverName", status);
  return display;
}

Status HeadlessDisplay::initialize() {
  int major = 0;
  int minor = 0;
  if (const VAStatus status = vaInitialize(get(), &major, &minor); status != VA_STATUS_SUCCESS)
    return va_error("vaInitialize", status);
  return Done{};
}

VADisplay HeadlessDisplay::get() const {
  return &state_->display;
}

Result<HeadlessDisplay> make_headless_display(const char* driver_name) {
  auto display = HeadlessDisplay::create(driver_name);
  if (!display) return display.error();
  if (auto status = display->initialize(); !status) return status.error();
  return display;
}

}  // namespace dxva::va
