// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/result.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace dxva {

std::string Error::describe() const {
  std::string out = call;
  if (!text.empty()) out += (out.empty() ? "" : ": ") + text;
  if (reason != Reason::None)
    out += std::string(out.empty() ? "" : " ") + "[" + reason_name(reason) + "]";
  if (native != 0) out += " (" + std::to_string(native) + ")";
  return out;
}

Error errno_error(const char* call, int errno_value) {
  ErrorCode code = ErrorCode::Failed;
  switch (errno_value) {
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ENOSPC:
      code = ErrorCode::NoMemory;
      break;
    case EINTR:
    case EAGAIN:
    case EBUSY:
      code = ErrorCode::Busy;
      break;
    case ENODEV:
    case EIO:
      code = ErrorCode::DeviceLost;
      break;
    case EINVAL:
    case EBADF:
      code = ErrorCode::BadInput;
      break;
    case ENOSYS:
    case ENOTTY:
    case ENOENT:
    case EOPNOTSUPP:
      code = ErrorCode::Unsupported;
      break;
    default:
      break;
  }
  return Error{
      .code = code, .call = call, .native = errno_value, .text = std::strerror(errno_value)};
}

Error refusal(Reason reason, std::string text) {
  return Error{.code = ErrorCode::Unsupported, .text = std::move(text), .reason = reason};
}

Error errno_error(const char* call) {
  return errno_error(call, errno);
}

}  // namespace dxva
