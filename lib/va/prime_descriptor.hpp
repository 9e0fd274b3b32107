// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>
#include <va/va_drmcommon.h>

#include "lib/base/result.hpp"
#include "lib/dmabuf/external_frame.hpp"

namespace dxva::va {

// Takes the descriptors that a driver exported and what it said about them. Believes nothing
// that can be measured or checked (see exporter.hpp); closes all of them when it refuses. Pure
// apart from looking at the descriptors: tests hand in what drivers should never say.
[[nodiscard]] Result<dmabuf::ExternalFrame> adopt_descriptor(
    const VADRMPRIMESurfaceDescriptor& descriptor);

}  // namespace dxva::va
