// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "gst/common/gst_ptr.hpp"
#include "gst/dxva/negotiation.hpp"
#include "gst/dxva/picture_copy.hpp"
#include "lib/decode/bitstream_decoder.hpp"
#include "lib/surface/surface.hpp"

namespace dxva::gst {

// Whether downstream uploads a picture faster from where it lies than from a copy of it in its
// own pool's buffers. It changes its mind with what it measures, so this is asked for each
// picture. Thread-safe.
[[nodiscard]] bool reads_in_place(const AllocationAnswer& downstream);

// The rectangle `visible` of a mapped picture as read-only system memory, for one reader who
// goes over it once. The memory keeps the mapping, and the surface shown, until its last
// reference goes, on whatever thread. `view` is of that mapping.
[[nodiscard]] GstPtr<GstBuffer> wrap_mapped(surface::Surface::InPlace mapped,
                                            surface::Lease shown, const PictureView& view,
                                            const decode::Rect& visible);

}  // namespace dxva::gst
