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
// the codec. `spare` are surfaces of a stream before this one: they are used where they fit,
// and dropped at the first header where not.
[[nodiscard]] Result<std::unique_ptr<BitstreamDecoder>> make_avcodec_decoder(
    const StreamParams& params, std::shared_ptr<va::Display> display, SoftwareFallback fallback,
    std::shared_ptr<va::SurfacePool> spare = nullptr);

}  // namespace dxva::decode
