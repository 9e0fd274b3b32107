// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/dxvagl/gl_session.hpp"
#include "gst/dxvagl/input_picture.hpp"
#include "lib/gl/imported.hpp"
#include "lib/gl/self_tests.hpp"

namespace dxva::gst {

enum class ImportCheck {
  Same,
  Differs,
  Impossible,  // the buffer cannot be mapped, or GL cannot compare
};
// Compares every texel of an import with what a map of the same buffer shows: the producer's
// map, which for a decoder's tiled memory is a read-back in rows. What differs, and why nothing
// could be compared, is logged. Streaming thread only.
[[nodiscard]] ImportCheck check_import(GlSession& session, GstBuffer* input,
                                       const InputPicture& picture,
                                       const gl::Imported& imported);

enum class Uncompared { Trust, Refuse };
// Whether `layout` may be believed: its first import was compared, now or before. The answer is
// whether that was now. Refusals: SelfTestMismatch; with Refuse also MemoryObjectUnsupported,
// when nothing could be compared. Streaming thread only.
[[nodiscard]] Result<bool> prove_layout(GlSession& session, GstBuffer* input,
                                        const InputPicture& picture,
                                        const gl::LayoutKey& layout,
                                        const gl::Imported& imported, Uncompared uncompared);

}  // namespace dxva::gst
