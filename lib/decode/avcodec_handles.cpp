// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/decode/avcodec_handles.hpp"

namespace dxva::decode {

Error av_error(ErrorCode code, const char* call, int native, Reason reason) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(native, text, sizeof text);
  return Error{.code = code, .call = call, .native = native, .text = text, .reason = reason};
}

}  // namespace dxva::decode
