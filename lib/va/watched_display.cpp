// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/watched_display.hpp"

#include <va/va_backend.h>

#include <atomic>

namespace dxva::va {

// libva finds a driver's functions by display, driver context and table, and hands them the
// driver context. Drivers find themselves by its pDriverData, so that a copy is as good
// (va_backend.h; the three structs have kept their size since libva 2.0, new members take
// reserved ones).
struct WatchedDisplay::State {
  // First: the function below gets a pointer to it and finds the rest from there.
  VADriverContext driver;
  VADisplayContext display;
  VADriverVTable table;
  VADriverContextP real = nullptr;
  std::atomic<uint32_t> refused_buffers = 0;
  std::atomic<uint32_t> unstarted_pictures = 0;
  std::atomic<bool> has_parameters = false;  // for the next picture
  std::atomic<bool> unstarted = false;       // the picture at hand

  static VAStatus create_buffer(VADriverContextP driver, VAContextID context, VABufferType type,
                                unsigned size, unsigned count, void* data, VABufferID* id) {
    auto* self = reinterpret_cast<State*>(driver);
    const VAStatus status =
        self->real->vtable->vaCreateBuffer(self->real, context, type, size, count, data, id);
    if (status != VA_STATUS_SUCCESS) ++self->refused_buffers;
    if (type == VAPictureParameterBufferType) self->has_parameters = true;
    return status;
  }

  static VAStatus begin_picture(VADriverContextP driver, VAContextID context,
                                VASurfaceID target) {
    auto* self = reinterpret_cast<State*>(driver);
    self->unstarted = !self->has_parameters.exchange(false);
    if (!self->unstarted)
      return self->real->vtable->vaBeginPicture(self->real, context, target);
    ++self->unstarted_pictures;
    return VA_STATUS_SUCCESS;
  }

  static VAStatus render_picture(VADriverContextP driver, VAContextID context,
                                 VABufferID* buffers, int count) {
    auto* self = reinterpret_cast<State*>(driver);
    if (self->unstarted) return VA_STATUS_SUCCESS;
    return self->real->vtable->vaRenderPicture(self->real, context, buffers, count);
  }

  static VAStatus end_picture(VADriverContextP driver, VAContextID context) {
    auto* self = reinterpret_cast<State*>(driver);
    if (self->unstarted.exchange(false)) return VA_STATUS_SUCCESS;
    return self->real->vtable->vaEndPicture(self->real, context);
  }
};

WatchedDisplay::WatchedDisplay(VADisplay of) : state_(std::make_unique<State>()) {
  const auto* display = static_cast<const VADisplayContext*>(of);
  state_->real = display->pDriverContext;
  state_->display = *display;
  state_->driver = *state_->real;
  state_->table = *state_->real->vtable;
  state_->display.pDriverContext = &state_->driver;
  state_->driver.vtable = &state_->table;
  state_->table.vaCreateBuffer = State::create_buffer;
  state_->table.vaBeginPicture = State::begin_picture;
  state_->table.vaRenderPicture = State::render_picture;
  state_->table.vaEndPicture = State::end_picture;
}

WatchedDisplay::~WatchedDisplay() = default;

VADisplay WatchedDisplay::get() const {
  return &state_->display;
}

uint32_t WatchedDisplay::take_refused_buffers() {
  return state_->refused_buffers.exchange(0);
}

uint32_t WatchedDisplay::take_unstarted_pictures() {
  return state_->unstarted_pictures.exchange(0);
}

}  // namespace dxva::va
