// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "lib/base/path.hpp"

namespace dxva {

// What a caller can act on. Everything else about a failure is text for people.
enum class ErrorCode {
  Unsupported,  // this machine or driver cannot; take the next step down, do not retry soon
  DeviceLost,   // the device is gone; nothing on it will work again
  BadInput,     // the stream or descriptor is wrong; the next one may be fine
  NoMemory,     // out of surfaces, descriptors or memory; may work later
  Busy,         // not now: still in use, or the wait was interrupted by a flush
  Failed,       // the call failed and none of the above is known
};

// An error is logged once, where it is handled. `call` names the function that failed and
// lives for ever (a string literal); `native` is its own number (errno, VAStatus, EGL code).
struct Error {
  ErrorCode code = ErrorCode::Failed;
  const char* call = "";
  long native = 0;
  std::string text;
  Reason reason = Reason::None;  // set where a refusal sends one frame a step down

  // "vaExportSurfaceHandle: no such function (20)"
  [[nodiscard]] std::string describe() const;
};

// strerror() of `errno_value` for `call`, with the code that fits the number.
[[nodiscard]] Error errno_error(const char* call, int errno_value);
// The same for the current errno.
[[nodiscard]] Error errno_error(const char* call);

// A T, or the Error that says why there is none. Compilers of 2022 have no std::expected.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  [[nodiscard]] T& value() {
    assert(*this);
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const {
    assert(*this);
    return *std::get_if<0>(&state_);
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  [[nodiscard]] Error& error() {
    assert(!*this);
    return *std::get_if<1>(&state_);
  }
  [[nodiscard]] const Error& error() const {
    assert(!*this);
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

// "This surface cannot go this way": a refusal is no failure of the stream.
[[nodiscard]] Error refusal(Reason reason, std::string text);

struct Done {};
using Status = Result<Done>;

}  // namespace dxva
