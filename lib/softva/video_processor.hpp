// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Copies between surfaces: the video processor (VAProfileNone, VAEntrypointVideoProc) and
// vaCopy. Neither scales nor filters; what they are good for is a copy in another layout, which
// is what real ones are used for between a decoder's tiles and a consumer's rows.

#include <va/va.h>
#include <va/va_vpp.h>

#include <memory>

#include "lib/softva/frame_decoder.hpp"

namespace dxva::softva {

struct Driver;
class Surface;

// What vaEndPicture of a video processor's context does: each VAProcPipelineParameterBuffer of
// `picture` copied into `target`, in their order, before it returns.
VAStatus process_picture(Driver& driver, const Picture& picture,
                         const std::shared_ptr<Surface>& target);

VAStatus query_filters(Driver& driver, VAContextID context, VAProcFilterType* filters,
                       unsigned* count);
VAStatus query_filter_caps(Driver& driver, VAContextID context, VAProcFilterType type,
                           void* caps, unsigned* count);
VAStatus query_pipeline_caps(Driver& driver, VAContextID context, VABufferID* filters,
                             unsigned count, VAProcPipelineCaps* caps);

// Surfaces of one size and format only.
VAStatus copy_object(Driver& driver, VACopyObject* target, VACopyObject* source,
                     VACopyOption option);

}  // namespace dxva::softva
