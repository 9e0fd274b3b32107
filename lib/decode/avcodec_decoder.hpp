// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <string_view>

#include "lib/decode/bitstream_decoder.hpp"
#include "lib/va/display.hpp"

namespace dxva::decode {

enum class SoftwareFallback { Allowed, Forbidden };

// libavcodec behind BitstreamDecoder: its parsers and its reference handling, our surfaces. A
// null `display` means software from the start. Unsupported: this libavcodec has no decoder for
// the codec.
[[nodiscard]] Result<std::unique_ptr<BitstreamDecoder>> make_avcodec_decoder(
    const StreamParams& params, std::shared_ptr<va::Display> display,
    SoftwareFallback fallback);

}  // namespace dxva::decode
