// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "lib/decode/bitstream_decoder.hpp"
#include "lib/decode/device.hpp"

namespace dxva::decode {

// Whether the device decodes some profile of the codec. A stream may still have another one.
[[nodiscard]] bool device_decodes(const va::Display& display, Codec codec);
// Whether the driver says that it decodes pictures of this size of the codec, in any profile.
[[nodiscard]] bool device_takes_size(const va::Display& display, Codec codec, uint32_t width,
                                     uint32_t height);
[[nodiscard]] bool device_decodes(const cuda::Device& device, Codec codec);
[[nodiscard]] bool device_decodes(const Device& device, Codec codec);
// Whether the driver says that it reads a list of modifiers when it makes surfaces for `codec`.
[[nodiscard]] bool device_takes_modifiers(const va::Display& display, Codec codec);

// NVDEC's name for the codec.
[[nodiscard]] cuda::VideoCodec cuda_codec(Codec codec);

}  // namespace dxva::decode
