// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "lib/base/result.hpp"
#include "lib/dmabuf/external_frame.hpp"
#include "lib/dmabuf/opaque_surface.hpp"

namespace dxva::va {

// The same as adopt_descriptor() for opaque memory: takes the descriptors, believes no number
// that can be checked, closes all of them when it refuses. Their sizes cannot be measured;
// inspect_opaque() says whether they can be what they are said to be.
[[nodiscard]] Result<dmabuf::ExternalFrame> adopt_opaque_descriptor(
    const dmabuf::OpaqueSurfaceDescriptor& descriptor);

}  // namespace dxva::va
