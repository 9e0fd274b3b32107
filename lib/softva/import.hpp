// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>
#include <va/va_drmcommon.h>

#include <memory>

#include "lib/base/result.hpp"
#include "lib/softva/surface.hpp"

namespace dxva::softva {

// A surface on a client's own buffers (DRM PRIME 2); its descriptors stay the client's. Every
// number is checked against the real buffers, whose size the kernel tells. BadInput: it does
// not describe linear memory that holds the picture.
[[nodiscard]] Result<std::shared_ptr<Surface>> import_surface(
    const VADRMPRIMESurfaceDescriptor& descriptor, const Format& format, uint32_t width,
    uint32_t height, uint64_t number);

}  // namespace dxva::softva
