// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "lib/decode/avcodec_handles.hpp"
#include "lib/decode/avcodec_hwaccel.hpp"
#include "lib/decode/bitstream_decoder.hpp"

namespace dxva::decode {

// What libavcodec says of a picture that came out, in our words; the number and the marks are
// the caller's. Takes the pixels out of `frame` where they are in system memory; `device`, null
// in software, has the surfaces of the others. Nothing for a picture that cannot be shown; the
// log says why.
[[nodiscard]] std::optional<DecodedFrame> describe(AVFrame& frame, Hwaccel* device);

}  // namespace dxva::decode
