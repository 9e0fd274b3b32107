// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lib/decode/bitstream_decoder.hpp"
#include "lib/decode/device.hpp"

namespace dxva::decode {

enum class SoftwareFallback { Allowed, Forbidden };

// libavcodec behind BitstreamDecoder: its parsers and its reference handling, our surfaces. No
// `device` means software from the start. Unsupported: this libavcodec has no decoder for
// the codec. `spare` are surfaces of a stream before this one: they are used where they fit,
// and dropped at the first header where not.
[[nodiscard]] Result<std::unique_ptr<BitstreamDecoder>> make_avcodec_decoder(
    const StreamParams& params, Device device, SoftwareFallback fallback,
    std::shared_ptr<surface::Pool> spare = nullptr);

// "59.37.100": of the libavcodec that is loaded, not of the one that this was built with.
[[nodiscard]] std::string avcodec_version_text();

}  // namespace dxva::decode
