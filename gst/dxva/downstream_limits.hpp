// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/common/gst_ptr.hpp"

namespace dxva::gst {

// Sizes, rates and colours that downstream takes, for whoever upstream can choose them (a
// camera), as GstVideoDecoder finds them, but asked of system memory alone. An uploader that is
// asked about dma-bufs must look into its OpenGL context, and make it first: a parser, which
// can choose nothing and asks all the same, would wait for that with every packet behind it.
// (Nobody is known whose sizes depend on the memory; such limits would be those of system
// memory.)
//
// `src` is the decoder's pad, `caps` what it decodes, `filter` (or null) what it was asked
// about. Null: downstream takes no system memory, and must be asked about the rest as well.
[[nodiscard]] GstPtr<GstCaps> within_downstream_limits(GstPad* src, const GstCaps* caps,
                                                       const GstCaps* filter);

}  // namespace dxva::gst
