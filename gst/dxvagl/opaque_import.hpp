// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/dxvagl/gl_session.hpp"
#include "gst/dxvagl/import_chain.hpp"
#include "gst/dxvagl/input_picture.hpp"

namespace dxva::gst {

// import_frame() for a buffer of opaque memory, which only memory objects can take. Streaming
// thread only.
[[nodiscard]] ImportAnswer import_opaque(GlSession& session, GstBuffer* input,
                                         const InputPicture& picture, const ImportWish& wish);

}  // namespace dxva::gst
