// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "gst/dxvagl/gl_session.hpp"
#include "lib/gl/upload_choice.hpp"

namespace dxva::gst {

// Where this context's measurements for pictures of this size are. Thread-safe, as all here.
[[nodiscard]] gl::UploadChoice choice_of(const GlSession& session, uint64_t picture_bytes);

// Whether the next picture that could go `way` should. GST_DXVA_TEST=upload-ring says so for
// all that the context can do.
[[nodiscard]] bool takes_upload_way(const GlSession& session, gl::UploadWay way,
                                    uint64_t picture_bytes);

// Whether upstream should be offered slots: they pay, or nobody knows yet.
[[nodiscard]] bool offers_upload_slots(const GlSession& session, uint64_t picture_bytes);

// Whether a picture is uploaded from memory of its producer's, which plain loads read fast, no
// slower than from a slot: then there is no use in copying it into one, or anywhere.
// GST_DXVA_TEST=read-in-place says so, and upload-ring the contrary.
[[nodiscard]] bool reads_in_place(const GlSession& session, uint64_t picture_bytes);

}  // namespace dxva::gst
