// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/va/display.hpp"

namespace dxva::va {
namespace {

ErrorCode code_of(VAStatus status) {
  switch (status) {
    case VA_STATUS_ERROR_ALLOCATION_FAILED:
    case VA_STATUS_ERROR_MAX_NUM_EXCEEDED:
    case VA_STATUS_ERROR_NOT_ENOUGH_BUFFER:
      return ErrorCode::NoMemory;
    case VA_STATUS_ERROR_UNSUPPORTED_PROFILE:
    case VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT:
    case VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT:
    case VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE:
    case VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE:
    case VA_STATUS_ERROR_ATTR_NOT_SUPPORTED:
    case VA_STATUS_ERROR_FLAG_NOT_SUPPORTED:
    case VA_STATUS_ERROR_INVALID_IMAGE_FORMAT:
    case VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED:
    case VA_STATUS_ERROR_UNIMPLEMENTED:
      return ErrorCode::Unsupported;
    case VA_STATUS_ERROR_SURFACE_BUSY:
    case VA_STATUS_ERROR_SURFACE_IN_DISPLAYING:
    case VA_STATUS_ERROR_HW_BUSY:
    case VA_STATUS_ERROR_TIMEDOUT:
      return ErrorCode::Busy;
    case VA_STATUS_ERROR_DECODING_ERROR:
      return ErrorCode::BadInput;
    case VA_STATUS_ERROR_INVALID_DISPLAY:
      return ErrorCode::DeviceLost;
    default:
      return ErrorCode::Failed;
  }
}

}  // namespace

Error va_error(VAStatus status, const char* call) {
  return Error{
      .code = code_of(status), .call = call, .native = status, .text = vaErrorStr(status)};
}

Status check(VAStatus status, const char* call) {
  if (status == VA_STATUS_SUCCESS) return Done{};
  return va_error(status, call);
}

}  // namespace dxva::va
