// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include "lib/base/result.hpp"
#include "lib/dmabuf/external_frame.hpp"
#include "lib/va/display.hpp"

namespace dxva::va {

// The surface's memory as descriptors (DRM PRIME 2, read-only, separate layers; composed layers
// are split), or as opaque descriptors where the driver has memory of that kind and no dma-bufs
// (lib/dmabuf/opaque_surface.hpp). Nothing the driver says is believed that can be measured:
// sizes come from lseek, fds are inspected, numbers are checked by video::classify(Any). No fd
// is left open on failure. The surface must have been decoded into once: some drivers allocate,
// or change the modifier, then. Refusals: ExportUnsupported, ExportFailed, DescriptorInvalid,
// NotADmabuf, and classify()'s.
[[nodiscard]] Result<dmabuf::ExternalFrame> export_surface(const Display& display,
                                                           VASurfaceID surface);

}  // namespace dxva::va
